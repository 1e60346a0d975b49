"""Face 3: the `argus` command, the supervisor behind `argus up`, and the embedded Postgres.

`main.py` holds the table of commands; each command is one small module, imported only when it is called.
"""
