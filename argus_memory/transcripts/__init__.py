"""Transcripts of Claude Code and Codex, lines to visible turns, with a counted reason for each line skipped.

common, claude_code, codex, repo and exclude are standard library only and run on Python 3.8: the capture hook
carries their text. files says which files are transcripts.
"""

from argus_memory.transcripts.claude_code import ClaudeCodeParser
from argus_memory.transcripts.codex import CodexParser
from argus_memory.transcripts.common import LineReader, Turn, to_item
from argus_memory.transcripts.files import detect, session_of, skip_file

__all__ = ["ClaudeCodeParser", "CodexParser", "LineReader", "Turn", "detect", "session_of", "skip_file", "to_item"]
