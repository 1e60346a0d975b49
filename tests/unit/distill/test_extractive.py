"""The distiller without a model: what it keeps, what it drops, and that it never mistakes the speaker."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from argus_memory.models.extractive import MAX_PER_TURN, MAX_PER_UNIT, extract
from argus_memory.records import CATEGORIES, Candidate, EpisodeTurn, Unit
from argus_memory.rules.gate import Accepted, judge
from argus_memory.settings import TITLE_MAX

AT = datetime(2026, 3, 2, 22, 0, tzinfo=UTC)
Role = Literal["user", "assistant"]

KEPT_OF_USER = [
    "I prefer tabs over spaces in Go code.",
    "Always run the linter before committing.",
    "never push directly to main",
    "We decided to use Postgres instead of MySQL for the billing service.",
    "let's go with option B, the queue",
    "The staging server is at 10.0.4.17 and runs Debian 12.",
    "Anna owns the deployment pipeline.",
    "My boss Peter wants the report every Friday.",
    "I live in Lyon and work from home.",
    "please use British spelling in all docs",
    "I don't like when you add emojis to commit messages",
    "our API listens on port 8484",
    "The nightly backup writes to /srv/backup on the NAS.",
    "the build command is `make dist`",
    "I'm allergic to peanuts.",
    "I went to Berlin last week for the conference.",
    "the login page times out since yesterday",
    "we use pnpm, not npm",
    "Use ruff, not flake8.",
    "don't touch the legacy folder",
    "The customer's name is Brightwater and their contract ends in March 2026.",
    "To deploy, run `make ship` on the bastion host.",
    "my daughter starts school in September",
    "I decided against Kubernetes for now.",
    "The dog's name is Rex.",
    "my wife's birthday is on May 4th",
    "I usually work late on Thursdays",
    "no, use UUIDs for the primary keys",
    "the tests should never hit the network",
    "it has to work offline",
    "Our team has five people, two of them in Brno.",
    "I've just switched to a standing desk.",
    "I'm a backend engineer at a logistics company",
    "we should keep the old endpoint until v3",
    "the printer is broken again",
    "Switch the queue to Redis Streams.",
    "I tried the new parser and it was twice as slow.",
    "Please call me Sam.",
    "the API key rotates every 90 days",
    "我们决定使用 PostgreSQL 而不是 MySQL。",
    "タブよりスペースの方が好きです。",
    "Wir haben uns für Hetzner entschieden.",
]
KEPT_OF_ASSISTANT = [
    "All 42 tests pass now.",
    "The migration failed because the column was null in three rows.",
    "I fixed the race in worker.py by taking the lock before the read.",
    "The root cause is a stale cache entry.",
    "Switching to the batched insert made the import 4x faster.",
    "The retry did not help; the server still returns 502.",
    "Deployed version 1.4.2 to staging.",
    "The config lives in ~/.config/app.toml.",
    "`fetch_user` returns None when the id is unknown.",
    "The build is green.",
    "It turned out that the proxy strips the header.",
    "I renamed the module to ledger.",
    "The server has 16 GB RAM and 4 cores.",
    "Postgres 16 is installed on the host.",
    "Reverted the change since it broke the login.",
    "There are two copies of the settings file.",
    "The index was missing on orders.customer_id.",
    "Coverage went from 71% to 84%.",
]
DROPPED_OF_USER = [
    "ok",
    "thanks a lot!",
    "can you fix the tests?",
    "what does this function do",
    "looks good to me",
    "hmm, let me think about it",
    "show me the diff",
    "continue please",
    "hello there, how are you today",
    "nice work on that one",
    "hm that is weird",
    "give me a second",
    "great, that's exactly it",
    "how do I run this",
    "yes please do",
    "run the tests",
    "try again",
    "go on",
    "read the file main.py",
]
DROPPED_OF_ASSISTANT = [
    "Let me look at the file.",
    "I'll start by reading the configuration.",
    "Now I need to update the imports.",
    "Would you like me to continue?",
    "Great question!",
    "I'm going to run the tests next.",
    "You could also use Redis for this.",
    "Here's the summary of the changes:",
    "Sure, happy to help with that.",
    "Let me know if you have any questions.",
    "I hope this helps!",
    "Next, we need to wire the handler.",
    "Running the test suite again.",
    "First, I'd check the logs.",
    "That makes sense.",
    "Looking at the code now.",
    "Consider adding an index on this column.",
    "The next step would be to add caching.",
    "Time to run the build.",
    "I understand the requirement.",
    "Good, now the other file.",
    "This should work.",
    "Now for the tests.",
]


def talk(*said: tuple[Role, str]) -> list[EpisodeTurn]:
    return [EpisodeTurn(n, role, text, AT) for n, (role, text) in enumerate(said)]


def contents(*said: tuple[Role, str]) -> list[str]:
    return [note.content for note in extract(talk(*said))]


@pytest.mark.parametrize("text", KEPT_OF_USER)
def test_what_a_person_decides_wants_is_or_reports_is_kept(text: str) -> None:
    """Decisions, preferences, facts about people and machines, procedures, events: one note, the user's."""
    [note] = extract(talk(("user", text)))
    assert note.content == f"User: {text}"
    assert note.role == "user"


@pytest.mark.parametrize("text", KEPT_OF_ASSISTANT)
def test_outcomes_and_findings_of_the_assistant_are_kept(text: str) -> None:
    """What was done, what came out, what was found: one note, the assistant's."""
    [note] = extract(talk(("assistant", text)))
    assert note.content == f"Assistant: {text}"
    assert note.role == "assistant"


@pytest.mark.parametrize("text", DROPPED_OF_USER)
def test_questions_thanks_and_chores_of_a_person_are_dropped(text: str) -> None:
    """Small talk, questions and requests that leave nothing behind give no note."""
    assert contents(("user", text)) == []


@pytest.mark.parametrize("text", DROPPED_OF_ASSISTANT)
def test_announcements_offers_and_plans_of_the_assistant_are_dropped(text: str) -> None:
    """What is said before the deed is not memory."""
    assert contents(("assistant", text)) == []


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("I prefer tabs over spaces in Go code.", "preference"),
        ("We decided to use Postgres instead of MySQL.", "decision"),
        ("My boss Peter wants the report every Friday.", "person"),
        ("Our API listens on port 8484.", "fact"),
        ("To deploy, run `make ship` on the bastion host.", "procedure"),
        ("I went to Berlin last week for the conference.", "context"),
    ],
)
def test_the_cue_names_the_category(text: str, category: str) -> None:
    """Each kind of sentence lands in its category, and what a person wants weighs more than what happened."""
    [note] = extract(talk(("user", text)))
    assert note.category == category
    assert (note.importance >= 0.75) == (category in ("preference", "decision"))


def test_a_proposal_counts_only_when_it_was_taken_up() -> None:
    """ "I suggest SQLite" is a decision after "yes, do that", and nothing before or after an objection."""
    proposal: tuple[Role, str] = ("assistant", "I suggest we use SQLite for the cache.")
    assert contents(proposal) == []
    assert contents(proposal, ("user", "no, rather something else")) == []
    [note] = extract(talk(proposal, ("user", "yes, do that")))
    assert (note.content, note.category) == ("Assistant: I suggest we use SQLite for the cache.", "decision")


def test_an_answer_keeps_its_question() -> None:
    """A short reply says nothing alone: the question it answers stands with it; leave to go on is no question."""
    [note] = extract(talk(("assistant", "Two ways. Which database should we take?"), ("user", "Postgres 16")))
    assert note.content == 'User, asked "Which database should we take?": Postgres 16'
    assert note.source_ref == "Postgres 16"
    assert contents(("assistant", "Shall I proceed?"), ("user", "yes please")) == []


def test_what_is_said_again_is_kept_once() -> None:
    """Near-duplicates are dropped; a different number is a different fact."""
    said = contents(
        ("assistant", "All 12 tests pass now."),
        ("assistant", "Now all 12 tests pass."),
        ("assistant", "All 13 tests pass now."),
    )
    assert said == ["Assistant: All 12 tests pass now.", "Assistant: All 13 tests pass now."]


def test_day_and_relative_days_stand_in_the_context() -> None:
    """The day it was said, and what "yesterday" was then, so that the note can be read later."""
    [note] = extract(talk(("user", "The login page broke yesterday.")))
    assert note.context == "said on 2026-03-02; yesterday = 2026-03-01"


def test_list_items_are_read_with_their_heading() -> None:
    """Items under "Decisions" are decisions, under "Changes" outcomes, under "Next steps" nothing."""
    text = (
        "## Decisions\n- Tokens stay on the server\n\n## Changes\n- Moved the parser to its own module\n\n"
        "## Next steps\n- Write the documentation for it"
    )
    notes = extract(talk(("assistant", text)))
    assert [(n.content, n.category) for n in notes] == [
        ("Assistant: Tokens stay on the server", "decision"),
        ("Assistant: Moved the parser to its own module", "context"),
    ]
    assert "under: Decisions" in notes[0].context


def test_code_quotations_and_poison_give_no_notes() -> None:
    """A fenced block, somebody else's quoted lines and an error report are not what the speaker said."""
    assert contents(("user", "```\nwe decided = True  # We decided to use X.\n```")) == []
    assert contents(("user", "> We decided to use X.")) == []
    assert contents(("assistant", "API Error: 529 the server is at 10.0.0.1")) == []
    assert contents(("user", "It said API Error: 529 and the server at 10.0.0.1 is down.")) != []


def test_nobody_speaks_in_a_document() -> None:
    """Documents, events and syntheses are labelled by their kind and carry no role."""
    page = [EpisodeTurn(7, "user", "The cache expires after 90 days.", AT)]
    for kind, label in (("document", "Document"), ("event", "Event"), ("synthesis", "Synthesis")):
        [note] = extract(page, item_kind=kind)
        assert (note.content, note.role, note.raw_id) == (f"{label}: The cache expires after 90 days.", None, 7)


def test_a_long_text_is_bounded() -> None:
    """A pasted book gives its strongest sentences, not thousands of notes."""
    book = " ".join(f"We decided to file item number {n} under heading {n}." for n in range(400))
    assert len(extract(talk(("user", book)))) == MAX_PER_TURN
    assert len(extract(talk(*[("user", book.replace("item", f"item{n}")) for n in range(4)]))) == MAX_PER_UNIT


SNIPPETS = st.sampled_from(
    [
        *KEPT_OF_USER,
        *KEPT_OF_ASSISTANT,
        *DROPPED_OF_USER,
        *DROPPED_OF_ASSISTANT,
        "- item\n",
        "## Changes\n",
        "```\n",
        "> ",
        "\n\n",
    ]
)
TURNS = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant"]), st.lists(SNIPPETS, max_size=6).map(" ".join) | st.text(max_size=80)
    ),
    min_size=1,
    max_size=6,
)


@settings(max_examples=80, deadline=None)
@given(TURNS)
def test_every_note_is_grounded_and_has_the_right_speaker(said: list[tuple[Role, str]]) -> None:
    """Whoever said what: each candidate is a slice of its turn, named for that turn's speaker, in shape."""
    turns = talk(*said)
    unit = Unit("episode", 1, None, tuple(turns))
    for note in extract(turns):
        assert note.raw_id is not None
        turn = turns[note.raw_id]
        assert turn.text[note.source_start : note.source_end] == note.source_ref
        assert note.content.startswith({"user": "User", "assistant": "Assistant"}[turn.role])
        assert note.category in CATEGORIES
        assert 0 <= note.importance <= 1
        assert 1 <= len(note.title) <= TITLE_MAX
        verdict = judge(note, unit)
        assert isinstance(verdict, Accepted), verdict
        assert (verdict.span.turn.raw_id, verdict.span.start) == (note.raw_id, note.source_start)


@given(TURNS)
@settings(max_examples=30, deadline=None)
def test_the_same_turns_give_the_same_notes(said: list[tuple[Role, str]]) -> None:
    """Nothing depends on chance or on the clock."""
    first: list[Candidate] = extract(talk(*said))
    assert extract(talk(*said)) == first


def test_an_attempt_and_its_outcome_are_one_note() -> None:
    """What was tried and why it failed stand in one note, verbatim; what follows is a note of its own."""
    tried = "I tried switching the queue to Redis streams. It did not work because consumer groups lose messages."
    notes = extract(talk(("user", f"{tried} Use Postgres for the queue instead.")))
    assert [note.source_ref for note in notes] == [tried, "Use Postgres for the queue instead."]


def test_a_dead_end_needs_no_other_cue() -> None:
    """That a way led nowhere is worth keeping by itself, whoever says so."""
    (note,) = extract(talk(("assistant", "Rewriting the parser by hand was a dead end.")))
    assert (note.category, note.tags) == ("fact", ("dead-end",))
