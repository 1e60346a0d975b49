"""The hooks' source. Rules of this folder, for the start-up time of a process that runs at every event:

- standard library only, Python 3.8; at module top only what `import json, socket` brings anyway, or a C module;
- one flat namespace once assembled: no two parts define the same name (the build refuses it);
- nothing is printed but a recall's one JSON object, every path ends with exit code 0.
"""
