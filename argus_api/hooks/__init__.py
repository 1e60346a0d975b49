"""The two hooks: capture_hook.py and recall_hook.py, each one standard-library file for Python 3.8 and later.

Both are written by `python -m argus_api.hooks.build` from parts/ and the transcript parsers, so that a hook reads
a transcript exactly as the importer does. Edit the parts, then run `make hooks`; a test holds the files current.
"""
