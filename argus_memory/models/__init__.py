"""The only doors to models.

    llm.py         chat models through LiteLLM, imported when the first call is made
    embedders.py   vectors, embedded or through LiteLLM
    extractive.py  the distiller that needs no model
"""
