"""The recorded and staged transcripts: one expectation for each trap they hold, and all of them by both decoders."""

from __future__ import annotations

import json
from pathlib import Path

import orjson
import pytest

from argus_memory.transcripts import ClaudeCodeParser, CodexParser, LineReader, Turn, detect, skip_file
from tests.unit.transcripts.lines import words

CLAUDE = "claude-code"
HAPPY = f"{CLAUDE}/happy/packages/happy-cli/src/claude"
FIXTURES = f"{HAPPY}/utils/__fixtures__"
LOG = f"{CLAUDE}/claude-code-log"
CODEMIE = f"{CLAUDE}/codemie-code/claude"
CODEX_TURNS = "codex/codemie-code/tests/integration/session/fixtures/codex"
SPOTTER = f"{CLAUDE}/spotter"


def read(path: Path, source: str | None = None) -> tuple[list[Turn], LineReader]:
    data = path.read_bytes()
    codex = (source or detect(data, str(path))) == "codex"
    parser: LineReader = CodexParser(orjson.loads) if codex else ClaudeCodeParser(orjson.loads)
    return parser.feed(data) + parser.finish(), parser


def typed(turns: list[Turn]) -> list[str]:
    return [turn.text for turn in turns if turn.role == "user"]


def test_every_file_reads_the_same_with_both_decoders(shared_data: Path) -> None:
    """The hook's decoder and the importer's give the same turns and counts, and every line is kept or counted."""
    files = [path for folder in ("claude-code", "codex") for path in (shared_data / folder).rglob("*.jsonl")]
    assert len(files) > 200
    for path in files:
        data = path.read_bytes()
        for kind in (ClaudeCodeParser, CodexParser):
            fast, plain = kind(orjson.loads), kind(json.loads)
            turns = fast.feed(data) + fast.finish()
            assert turns == plain.feed(data) + plain.finish(), path
            assert fast.skipped == plain.skipped, path
            lines = data.count(b"\n") + (1 if data.rpartition(b"\n")[2].strip() else 0)
            assert len(turns) + sum(fast.skipped.values()) == lines, path


@pytest.mark.parametrize("size", [1000, 70_000])
def test_every_file_reads_the_same_piece_by_piece(shared_data: Path, size: int) -> None:
    """A new parser for each piece, from the state and offset before, gives the turns of one reading."""
    for path in (shared_data / "codex").rglob("*.jsonl"):
        whole, _ = read(path, "codex")
        assert _read_in_pieces(CodexParser, path.read_bytes(), size) == whole, path
    for path in [*(shared_data / CODEMIE).rglob("*.jsonl"), *(shared_data / LOG).glob("*.jsonl")]:
        if path.stat().st_size > 400 * size:
            continue
        whole, _ = read(path, "claude-code")
        assert _read_in_pieces(ClaudeCodeParser, path.read_bytes(), size) == whole, path


def _read_in_pieces(kind: type[LineReader], data: bytes, size: int) -> list[Turn]:
    turns: list[Turn] = []
    state, offset = None, 0
    for end in [*range(size, len(data), size), len(data)]:
        parser = kind(json.loads, state, offset)
        turns += parser.feed(data[offset:end])
        if end == len(data):
            turns += parser.finish()
        state, offset = json.loads(json.dumps(parser.state())), parser.offset
    return turns


def test_a_manual_compaction_leaves_only_what_was_typed(shared_data: Path) -> None:
    """Of 2,385 lines two were typed: neither the digest nor its command nor a skill's body is the user's word."""
    turns, parser = read(shared_data / SPOTTER / "ae4a77f8-aedd-4bc1-888f-c94edc91af04.jsonl")
    prompts = typed(turns)
    assert [prompt[:27] for prompt in prompts] == ["Work on bead spotter-4te. R", "continue implementation"]
    assert {key: parser.skipped[key] for key in ("compaction", "command", "meta")} == {
        "compaction": 1, "command": 2, "meta": 2,
    }  # fmt: skip
    positions = [turn.position for turn in turns]
    assert positions == sorted(positions)
    assert len({turn.uuid for turn in turns}) == len(turns)


def test_agent_files_hold_no_turn(shared_data: Path) -> None:
    """Every agent's file is left alone by its name, and read nevertheless it has no turn."""
    files = [path for path in (shared_data / CLAUDE).rglob("*.jsonl") if skip_file(str(path)) == "agent-file"]
    assert len(files) > 15
    for path in files:
        assert read(path, "claude-code")[0] == [], path


def test_inline_sidechains_are_skipped(shared_data: Path) -> None:
    """In early versions the subagent's words stand in the main file: its prompt is the model's, not the user's."""
    turns, parser = read(shared_data / FIXTURES / "task_non_sdk.jsonl")
    assert [turn.role for turn in turns] == ["user", "assistant", "assistant"]
    assert typed(turns)[0].startswith("Show me a sample of using Task tool")
    assert parser.skipped == {"tool": 2, "sidechain": 8}
    assert read(shared_data / LOG / "sidechain.jsonl")[0] == []
    assert typed(read(shared_data / LOG / "sidechain_main.jsonl")[0]) == []


def test_an_api_error_is_no_answer(shared_data: Path) -> None:
    """The limit's message in the model's name is skipped, the prompt before it is kept."""
    turns, parser = read(shared_data / HAPPY / "__fixtures__/api-error/rate-limit.jsonl")
    assert words(turns) == [("user", "what is on my todo list today?")]
    assert parser.skipped == {"api-error": 1}


def test_a_huge_line_with_images_is_read_for_its_words(shared_data: Path) -> None:
    """Of 0.86 MB with the editor's selection and two screenshots the typed words are kept."""
    turns, _ = read(shared_data / LOG / "debug_image_message.jsonl")
    assert len(turns) == 1
    assert turns[0].text.startswith("I think there's some progress: in the first screenshot")
    assert "ide_selection" not in turns[0].text


def test_stop_hook_feedback_is_not_the_users(shared_data: Path) -> None:
    """In each of these sessions one prompt was typed; the hook's feedback comes in the user's name."""
    files = sorted((shared_data / CLAUDE / "claude-reliability").rglob("transcript.jsonl"))
    assert len(files) == 7
    for path in files:
        turns, _ = read(path)
        assert len(typed(turns)) == 1, path
        assert not any("Stop hook feedback" in prompt for prompt in typed(turns)), path


def test_hook_attachments_are_skipped(shared_data: Path) -> None:
    """What hooks add stands in attachments."""
    turns, parser = read(shared_data / LOG / "hook_attachments.jsonl")
    assert words(turns) == [("user", "Run the test suite"), ("assistant", "Running tests.")]
    assert parser.skipped == {"attachment": 5}


def test_a_steering_prompt_stands_in_its_place(shared_data: Path) -> None:
    """What was typed while the model worked is kept where it came in."""
    turns, _ = read(shared_data / CLAUDE / "clog-upstream-synthetic/session_id_steering_order.jsonl")
    assert typed(turns) == [
        "Please start the migration.",
        "actually — focus on the parser first",
        "Here is the extra context you asked for.",
    ]


@pytest.mark.parametrize(
    ("kind", "folder"), [(ClaudeCodeParser, f"{CODEMIE}/incremental-simple"), (CodexParser, CODEX_TURNS)]
)
def test_growth_is_read_once(shared_data: Path, kind: type[LineReader], folder: str) -> None:
    """Read at its first size and again when it has grown, a file gives the turns of one reading."""
    small = (shared_data / folder / "turn-1.jsonl").read_bytes()
    large = (shared_data / folder / "turn-2.jsonl").read_bytes()
    assert large.startswith(small)
    first = kind()
    before = first.feed(small)
    second = kind(state=first.state(), base=first.offset)
    after = second.feed(large[first.offset :])
    assert before
    assert after
    assert before + after == kind().feed(large)


def test_resumed_copies_keep_their_uuids(shared_data: Path) -> None:
    """The early resume repeated old records in a new file: their uuids are the old ones, by which capture knows them."""
    old, _ = read(shared_data / FIXTURES / "0-say-lol-session.jsonl")
    new, parser = read(shared_data / FIXTURES / "1-continue-run-ls-tool.jsonl")
    assert [(turn.text, turn.uuid) for turn in new[:2]] == [(turn.text, turn.uuid) for turn in old]
    assert typed(new) == ["say lol", "run ls tool"]
    assert parser.title is None  # the summary at the top belongs to another session


def test_forks_and_rewinds_keep_both_branches(shared_data: Path) -> None:
    """What was typed on an abandoned branch was said."""
    turns, _ = read(shared_data / LOG / "dag_within_fork.jsonl")
    assert typed(turns) == ["Hello", "Fork point", "Branch 1 start", "Branch 1 end", "Branch 2 start"]
    assert len(read(shared_data / LOG / "dag_fork.jsonl")[0]) == 11
    assert len(read(shared_data / LOG / "dag_resume.jsonl")[0]) == 8


def test_repeated_uuids_are_handed_on(shared_data: Path) -> None:
    """A uuid that stands in a file twice is left to capture, where the first one wins over all files."""
    turns, _ = read(
        shared_data / CLAUDE / "es6kr-synthetic/sessions/-Users-test-duplicate-uuid/session-dup-uuid.jsonl"
    )
    assert [turn.uuid for turn in turns] == ["dup-a", "dup-b", "dup-a", "dup-b", "dup-c", "dup-d"]


def test_one_session_under_two_names_is_the_same(shared_data: Path) -> None:
    """The name of a file does not enter its turns."""
    folder = shared_data / CLAUDE / "agentcmd/full"
    assert read(folder / "full-session.jsonl")[0] == read(folder / "full-session-three.jsonl")[0]


def test_broken_input_costs_itself_alone(shared_data: Path) -> None:
    """Scalars, missing messages, misspelt fields and damaged lines are counted; what is sound beside them is kept."""
    turns, parser = read(shared_data / LOG / "edge_cases.jsonl")
    assert [turn.uuid for turn in turns] == ["edge_001", "edge_002", "edge_003", "edge_009", "edge_011"]
    assert parser.skipped == {
        "tool": 3, "meta": 1, "command": 2, "malformed": 3, "not-a-record": 3, "unknown-type": 1, "title": 1,
    }  # fmt: skip
    printed, parser = read(shared_data / FIXTURES / "duplicate-assistant-response-2.jsonl", "claude-code")
    assert (printed, sum(parser.skipped.values())) == ([], 1146)
    turns, parser = read(
        shared_data / "codex/clog-upstream-synthetic/rollout-66666666-6666-4666-8666-666666666666.jsonl"
    )
    assert words(turns) == [("user", "Safe line before malformed input.")]
    assert parser.skipped == {"bookkeeping": 1, "bad-json": 1}


def test_a_doubled_answer_is_two_records(shared_data: Path) -> None:
    """Two records with the same words and message id have two uuids: the same message id is not a duplicate."""
    turns, _ = read(shared_data / FIXTURES / "duplicate-assistant-response.jsonl")
    assert [turn.text for turn in turns] == ["Say lol", "lol", "lol", "Say kekr", "kekr"]
    assert len({turn.uuid for turn in turns}) == 5


@pytest.mark.parametrize("folder", ["incremental-simple", "incremental-subagents"])
def test_the_expected_conversation_of_others_is_in_the_turns(shared_data: Path, folder: str) -> None:
    """Another program's reading names the prompts and final answers: they are turns, in that order, and no other
    prompt is."""
    expected: list[tuple[str, str]] = []
    for record in (shared_data / CODEMIE / folder / "expected-conversation.jsonl").read_text("utf-8").splitlines():
        history = json.loads(record)["payload"]["history"]
        expected += [(entry["role"].lower(), entry["message"]) for entry in history if entry["message"]]
    turns, _ = read(shared_data / CODEMIE / folder / "turn-2.jsonl")
    said = iter(words(turns))
    assert all(pair in said for pair in dict.fromkeys(expected))
    assert typed(turns) == [text for role, text in dict.fromkeys(expected) if role == "user"]


def test_the_expected_codex_conversation_is_the_turns(shared_data: Path) -> None:
    """Another program's reading of the rollout is ours."""
    expected = []
    for record in (shared_data / CODEX_TURNS / "expected-conversation.jsonl").read_text("utf-8").splitlines():
        expected += [(entry["role"].lower(), entry["message"]) for entry in json.loads(record)["payload"]["history"]]
    assert words(read(shared_data / CODEX_TURNS / "turn-2.jsonl")[0]) == expected


@pytest.mark.parametrize("name", ["short", "subagent", "tool_heavy"])
def test_every_turn_was_on_the_screen(shared_data: Path, name: str) -> None:
    """The terminal of the session shows the first words of each turn, in the order of the turns."""
    screen = (shared_data / SPOTTER / f"{name}.terminal.stripped.txt").read_text("utf-8")
    turns, _ = read(shared_data / SPOTTER / f"{name}.jsonl")
    assert turns
    place = 0
    for turn in turns:
        mark = "❯ " if turn.role == "user" else "● "
        first = turn.text.splitlines()[0].lstrip("#* ")[:60]
        place = screen.find(mark + first, place)
        assert place >= 0, turn


@pytest.mark.parametrize(
    ("path", "role", "start"),
    [
        ("assistant/assistant.jsonl", "assistant", "I'll help you rewrite this to use proper HTML ruby"),
        ("user/user.jsonl", "user", "Oh, I just found out that this is not supported by Chrome :("),
        ("user/image.jsonl", "user", "Do you think we could set up rewrites for the JS and CSS?"),
    ],
)
def test_the_kinds_of_record_that_hold_words(shared_data: Path, path: str, role: str, start: str) -> None:
    """Of one real record of each kind these hold visible words."""
    turns, _ = read(shared_data / CLAUDE / "claude-code-log-1.7.0-docs/messages/claude-code" / path)
    assert [turn.role for turn in turns] == [role]
    assert turns[0].text.startswith(start)


def test_the_kinds_of_record_that_hold_none(shared_data: Path) -> None:
    """Every other of the real records is skipped: tool calls and results, thinking, commands, shell, subagents."""
    folder = shared_data / CLAUDE / "claude-code-log-1.7.0-docs/messages/claude-code"
    kept = {path.relative_to(folder).as_posix() for path in folder.rglob("*.jsonl") if read(path, "claude-code")[0]}
    assert kept == {"assistant/assistant.jsonl", "user/user.jsonl", "user/image.jsonl"}


def test_a_redacted_rollout_is_read_once(shared_data: Path) -> None:
    """Where redaction made the copies differ, each reply and the one typed prompt is still one turn."""
    folder = shared_data / "codex/localpush/2026-02-23/raw/sessions"
    counts = {}
    for path in folder.glob("*.jsonl"):
        turns, _ = read(path)
        counts[path.name[8:27]] = [turn.role for turn in turns]
        assert all(turn.text.startswith("[REDACTED_MESSAGE") for turn in turns)
    assert counts == {
        "2026-02-23T13-19-38": ["user", "assistant"],
        "2026-02-23T20-34-25": ["user"] + ["assistant"] * 6,
    }


def test_subagents_of_codex_are_skipped_whole(shared_data: Path) -> None:
    """A subagent's rollout has no turn; its parent's has."""
    folder = shared_data / "codex/agtrace"
    for name in ("codex_subagent_matched", "codex_subagent_matched_2", "codex_subagent_unmatched"):
        assert read(folder / f"{name}.jsonl")[0] == []
    assert read(folder / "rollout-subagent-019b88e5.jsonl")[0] == []
    assert typed(read(folder / "rollout-parent-019b88e0.jsonl")[0]) == ["ls"]


def test_requests_are_taken_out_of_what_the_app_wrote_around_them(shared_data: Path) -> None:
    """The app's descriptions of browser and screenshots are not the user's; the request and comments are."""
    folder = shared_data / "codex/codex-log-viewer-synthetic/codex"
    shapes, _ = read(folder / "event-shapes.jsonl")
    assert typed(shapes)[:2] == ["Search the event shape fixture.", "Use the real request only."]
    assert typed(read(folder / "visual-comment-wrapper.jsonl")[0]) == ["Move the fixture button to the right side"]
    assert typed(read(folder / "visual-comment-image-evidence.jsonl")[0]) == [
        "I don't know which design school this fixture went to"
    ]


def test_no_turn_of_any_file_opens_with_a_machines_mark(shared_data: Path) -> None:
    """Over all shared files no user turn starts with a tag or heading that the programs write."""
    marks = (
        "<command-", "<local-command", "<bash-", "<task-notification", "<teammate-message", "<system-reminder",
        "<ide_", "<environment_context", "<user_instructions", "# AGENTS.md", "# Context from my IDE", "Caveat: The",
        "This session is being continued", "[Request interrupted", "Stop hook feedback", "Base directory for this",
    )  # fmt: skip
    for folder in ("claude-code", "codex"):
        for path in (shared_data / folder).rglob("*.jsonl"):
            for turn in read(path)[0]:
                assert turn.text.strip() == turn.text != "", path
                assert turn.role == "assistant" or not turn.text.startswith(marks), path
