"""Transcripts of Claude Code and Codex: lines to visible turns, with a counted reason for each line skipped.

    common        the turn, the line reader, the reasons, which files are transcripts
    claude_text   what a person typed, in a user record's texts        claude_code   the parser
    codex_text    the same for Codex                                   codex         the parser
    repo          the repository a folder belongs to                   exclude       folders kept out

All of it is standard library only and runs on Python 3.8: the capture hook carries the text of these modules.
"""

from argus_memory.transcripts.claude_code import ClaudeCodeParser
from argus_memory.transcripts.codex import CodexParser
from argus_memory.transcripts.common import LineReader, Turn, detect, skip_file, to_item

# The modules a reader of transcripts needs, in the order in which their text can follow one another in one
# file.
EMBEDDED = ("common", "claude_text", "claude_code", "codex_text", "codex", "repo", "exclude")

__all__ = [
    "EMBEDDED",
    "ClaudeCodeParser",
    "CodexParser",
    "LineReader",
    "Turn",
    "detect",
    "skip_file",
    "to_item",
]
