"""Memory and tasks for agents over MCP, at /mcp.

    request → door.py (Host, Origin, token) → the SDK's session manager → a tool → argus_memory → JSON within limits

server.py puts it together; *_tools.py hold the verbs; answers.py keeps answers small; caller.py says who asks.
Nothing here decides anything: the tools call the functions that the HTTP routes call.
"""
