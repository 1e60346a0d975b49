"""Finding transcripts and sending their turns, with a capture that only remembers what it was given."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard

from argus_memory.errors import InvalidItem, Unreachable, UsageError
from argus_memory.records import Receipt
from argus_memory.settings import CAPTURE_MAX_ITEMS
from argus_memory.stages.importing import ImportReport, find_transcripts, import_files
from tests.unit.transcripts.lines import assistant, header, item, said, to_bytes, user


class Remembering:
    """A capture that knows texts it has had, and refuses and skips by a word in the text."""

    def __init__(self, *, with_index: bool = True) -> None:
        self.requests: list[list[str]] = []
        self.items: list[dict[str, Any]] = []
        self.known: set[str] = set()
        self.with_index = with_index

    def __call__(self, items: Sequence[dict[str, Any]]) -> list[Receipt]:
        bodies = [item["body"] for item in items]
        if "poisonous" in bodies:
            raise InvalidItem("body", "is refused", bodies.index("poisonous") if self.with_index else None)
        self.requests.append(bodies)
        self.items += items
        receipts = []
        for number, body in enumerate(bodies, len(self.known)):
            if body == "secret":
                receipts.append(Receipt(None, skipped="only-secret"))
            else:
                receipts.append(Receipt(number, duplicate=body in self.known))
                self.known.add(body)
        return receipts


def write(path: Path, content: bytes, changed_at: float = 1_000_000.0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (changed_at, changed_at))
    return path


def prompts(*texts: str) -> bytes:
    return to_bytes(*(user(text, uuid=f"u-{text}") for text in texts))


def run(paths: list[Path], accept: Remembering | None, **options: Any) -> ImportReport:
    files, _ = find_transcripts(paths, options.get("globs", ()))
    return import_files(files, accept, **options)


def test_folders_are_read_newest_first(tmp_path: Path) -> None:
    """What was said last is there first; agents' files and other files are left alone and counted."""
    write(tmp_path / "p/old.jsonl", prompts("old"), 1000.0)
    write(tmp_path / "p/new.jsonl", prompts("new"), 3000.0)
    write(tmp_path / "q/middle.jsonl", prompts("middle"), 2000.0)
    write(tmp_path / "p/new/subagents/agent-1.jsonl", prompts("agent"))
    write(tmp_path / "p/notes.txt", b"notes")
    write(tmp_path / "history.jsonl", prompts("history"))
    files, left = find_transcripts([tmp_path])
    assert [file.path.name for file in files] == ["new.jsonl", "middle.jsonl", "old.jsonl"]
    assert left == {"agent-file": 1, "history": 1}
    capture = Remembering()
    report = import_files(files, capture)
    assert capture.requests == [["new", "middle", "old"]]
    assert (report.files, report.turns, report.new, report.duplicate) == (3, 3, 3, 0)


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    """A folder and a file in it, or a link to it, name one transcript."""
    path = write(tmp_path / "a.jsonl", prompts("go"))
    (tmp_path / "link.jsonl").symlink_to(path)
    assert len(find_transcripts([path, tmp_path, tmp_path / "link.jsonl"])[0]) == 1


def test_an_import_can_be_repeated(tmp_path: Path) -> None:
    """The second time everything is a duplicate, and nothing new."""
    write(tmp_path / "a.jsonl", prompts("go", "on", "secret"))
    capture = Remembering()
    first, second = run([tmp_path], capture), run([tmp_path], capture)
    assert (first.new, first.duplicate, first.not_stored) == (2, 0, {"only-secret": 1})
    assert (second.new, second.duplicate, second.not_stored) == (0, 2, {"only-secret": 1})


def test_requests_are_bounded(tmp_path: Path) -> None:
    """Turns go in requests of at most a thousand, over the borders of files, and none is lost."""
    for number in range(3):
        texts = [f"{number}-{turn}" for turn in range(700)]
        write(tmp_path / f"{number}.jsonl", prompts(*texts))
    capture = Remembering()
    report = run([tmp_path], capture)
    assert [len(request) for request in capture.requests] == [CAPTURE_MAX_ITEMS, CAPTURE_MAX_ITEMS, 100]
    assert report.new == 2100


def test_huge_turns_make_small_requests(tmp_path: Path) -> None:
    """A request is also bounded by its text, so that a file of huge turns is never held whole."""
    write(tmp_path / "a.jsonl", prompts(*(str(number) * 3_000_000 for number in range(9))))
    capture = Remembering()
    run([tmp_path], capture)
    assert max(len(request) for request in capture.requests) <= 6
    assert len(capture.items) == 9


@pytest.mark.parametrize("with_index", [True, False])
def test_a_refused_item_loses_only_itself(tmp_path: Path, with_index: bool) -> None:
    """A request is all or nothing: the others are sent again without the one that is refused."""
    write(tmp_path / "a.jsonl", prompts(*(str(n) for n in range(5)), "poisonous", *(str(n) for n in range(5, 9))))
    capture = Remembering(with_index=with_index)
    report = run([tmp_path], capture)
    assert (report.new, report.rejected) == (9, 1)
    assert "is refused" in report.refusals[0]


def test_a_database_that_is_away_ends_the_import(tmp_path: Path) -> None:
    """What cannot be stored is not counted as done: the error goes up."""
    write(tmp_path / "a.jsonl", prompts("go"))

    def away(items: Sequence[dict[str, Any]]) -> list[Receipt]:
        raise Unreachable("the database cannot be reached")

    with pytest.raises(Unreachable):
        import_files(find_transcripts([tmp_path])[0], away)


def test_a_dry_run_only_counts(tmp_path: Path) -> None:
    """Without a capture the turns are found and nothing is said of new or duplicate."""
    write(tmp_path / "a.jsonl", prompts("go", "on") + to_bytes({"type": "progress", "data": {}}))
    report = run([tmp_path], None)
    assert (report.turns, report.new, report.duplicate, report.dry_run) == (2, 0, 0, True)
    assert report.skipped == {"progress": 1}


def test_compressed_rollouts_are_read(tmp_path: Path) -> None:
    """`.jsonl.zst`, of one frame or several, holds the same turns; positions count plain bytes."""
    content = to_bytes(header(), said("user", "go"), said("assistant", "Gone."))
    plain = write(tmp_path / "plain/rollout-a.jsonl", content)
    frames = zstandard.compress(content[:150]) + zstandard.compress(content[150:])
    packed = write(tmp_path / "packed/rollout-a.jsonl.zst", frames)
    seen = []
    for path in (plain, packed):
        capture = Remembering()
        report = run([path], capture)
        seen.append(capture.items)
        assert report.by_source == {"codex": 2}
        assert report.bytes == path.stat().st_size
    assert seen[0] == seen[1]


def test_whole_documents_of_codex_are_read_and_other_documents_left(tmp_path: Path) -> None:
    """Of `.json` files only Codex' first sessions are transcripts."""
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}
    document = {"session": {"id": "s", "timestamp": "2025-05-01T10:00:00Z"}, "items": [message]}
    write(tmp_path / "rollout-2025-05-01-s.json", json.dumps(document, indent=2).encode())
    write(tmp_path / "cache.json", json.dumps(user("a record, printed"), indent=2).encode())
    capture = Remembering()
    report = run([tmp_path], capture)
    assert capture.requests == [["go"]]
    assert report.files_skipped == {"not-a-transcript": 1}
    assert run([tmp_path], Remembering(), source="claude-code").files_skipped == {"not-a-transcript": 1}


def test_the_source_is_told_by_content_or_given(tmp_path: Path) -> None:
    """Each file goes to its program's parser; a given source is taken at its word."""
    write(tmp_path / "a.jsonl", prompts("claude"), 2000.0)
    write(tmp_path / "b.jsonl", to_bytes(header(), said("user", "codex")), 1000.0)
    write(tmp_path / "c.jsonl", b"{}\n")
    write(tmp_path / "d.jsonl", b"")
    capture = Remembering()
    report = run([tmp_path], capture)
    assert [(item["source"], item["body"]) for item in capture.items] == [
        ("claude-code", "claude"),
        ("codex", "codex"),
    ]
    assert report.files_skipped == {"not-a-transcript": 1, "empty-file": 1}
    assert run([tmp_path / "a.jsonl"], Remembering(), source="codex").turns == 0


def test_a_file_at_rest_is_read_to_its_end(tmp_path: Path) -> None:
    """The last line may lack its newline, and a prompt held for its event may be the last word."""
    write(tmp_path / "a.jsonl", prompts("go")[:-1])
    write(tmp_path / "b.jsonl", to_bytes(header(), item("user", "unanswered")))
    capture = Remembering()
    run([tmp_path], capture)
    assert sorted(item["body"] for item in capture.items) == ["go", "unanswered"]


def test_retracted_answers_are_not_sent(tmp_path: Path) -> None:
    """What a refusal fallback took back is taken back over the whole file."""
    fallback = {"type": "system", "subtype": "model_refusal_fallback", "retractedMessageUuids": ["bad"]}
    filler = {"type": "progress", "data": {"type": "x", "text": "y" * 5_000_000}}
    write(tmp_path / "a.jsonl", to_bytes(user("go"), assistant("half", uuid="bad"), filler, fallback))
    capture = Remembering()
    run([tmp_path], capture)
    assert [item["body"] for item in capture.items] == ["go"]


def test_a_damaged_file_is_named_and_the_rest_goes_on(tmp_path: Path) -> None:
    """A compressed file that is none, and one that vanished, are reported; the others are read."""
    damaged = write(tmp_path / "rollout-a.jsonl.zst", b"no frame at all", 3000.0)
    gone = write(tmp_path / "gone.jsonl", prompts("gone"), 2000.0)
    write(tmp_path / "sound.jsonl", prompts("sound"), 1000.0)
    files, _ = find_transcripts([tmp_path])
    gone.unlink()
    report = import_files(files, Remembering())
    assert [path for path, _ in report.unreadable] == [str(damaged), str(gone)]
    assert report.new == 1


def test_links_to_nowhere_and_pipes_are_left_alone(tmp_path: Path) -> None:
    """Neither a broken link nor a pipe named like a transcript holds the import up."""
    (tmp_path / "broken.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert find_transcripts([tmp_path]) == ([], {"not-a-file": 2})


def test_a_path_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    """The sentence names the path."""
    with pytest.raises(UsageError, match=r"nowhere: no such file or folder"):
        find_transcripts([tmp_path / "nowhere"])


def test_folders_kept_out_are_not_imported(tmp_path: Path) -> None:
    """Turns said in a folder that is kept out are not sent, by glob and by ignore file; nor is a file that lies in one."""
    ignored = tmp_path / "ignored"
    ignored.mkdir()
    (ignored / ".argus-ignore").touch()
    content = to_bytes(user("a", cwd="/home/x/private/a"), user("b", cwd=str(ignored)), user("c", cwd="/home/x/work"))
    write(tmp_path / "a.jsonl", content)
    write(ignored / "b.jsonl", prompts("d"))
    files, left = find_transcripts([tmp_path], ["private"])
    capture = Remembering()
    report = import_files(files, capture, globs=["private"])
    assert [item["body"] for item in capture.items] == ["c"]
    assert report.not_stored == {"excluded": 2}
    assert left == {"excluded": 1}


def test_items_know_their_repository_and_machine_where_the_folder_is_here(tmp_path: Path) -> None:
    """A folder that exists here is resolved; one from another machine is not guessed at."""
    (tmp_path / "work/.git").mkdir(parents=True)
    (tmp_path / "work/.git/HEAD").write_text("ref: refs/heads/main\n")
    write(tmp_path / "a.jsonl", to_bytes(user("here", cwd=str(tmp_path / "work")), user("there", cwd="/elsewhere/x")))
    capture = Remembering()
    run([tmp_path], capture, host="tower")
    here, there = (item["metadata"] for item in capture.items)
    assert here["host"] == "tower"
    assert here["repo"] == {"remote": None, "common_dir": os.path.realpath(tmp_path / "work/.git")}
    assert "host" not in there
    assert "repo" not in there


@pytest.mark.parametrize(
    ("name", "session"),
    [
        ("11111111-2222-4333-8444-555555555555.jsonl", "11111111-2222-4333-8444-555555555555"),
        ("rollout-2026-03-01T10-00-00-11111111-2222-4333-8444-555555555555.jsonl", "11111111-2222-4333-8444-555555555555"),
        ("rollout-short.jsonl", "rollout-short"),
        ("notes.of.today.jsonl", "notes"),
    ],
)  # fmt: skip
def test_a_session_without_a_name_is_named_after_its_file(tmp_path: Path, name: str, session: str) -> None:
    """Where no record names the session, the file does."""
    record = {key: value for key, value in user("go").items() if key != "sessionId"}
    write(tmp_path / name, to_bytes(record))
    capture = Remembering()
    run([tmp_path], capture)
    assert capture.items[0]["session"] == session


def test_progress_adds_up_to_the_bytes_on_disk(tmp_path: Path) -> None:
    """The bar ends where the files do, whatever became of them."""
    write(tmp_path / "a.jsonl", prompts(*("x" * size for size in (1, 3_000_000, 3_500_000, 2))))
    write(tmp_path / "b.jsonl", b"nothing of the kind\n")
    write(tmp_path / "c.jsonl.zst", zstandard.compress(prompts("go")))
    write(tmp_path / "d.jsonl.zst", b"damaged")
    files, _ = find_transcripts([tmp_path])
    told: list[int] = []
    import_files(files, Remembering(), progress=told.append)
    assert sum(told) == sum(file.size for file in files)
    assert min(told) >= 0
