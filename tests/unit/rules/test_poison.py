"""Poison: what must never become a memory, and what must never be taken for it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.poison import poison_reason

API_ERRORS = [
    'API Error: 529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
    "API Error: Request timed out.",
    "API Error (Request timed out.)",
    "API Error: Claude's response exceeded the 32000 output token maximum. To configure it, set X.",
    "API Error: Server is temporarily limiting requests (not your usage limit)",
    "You've hit your limit · resets 4pm (Europe/Berlin)",
    "You\u2019ve hit your weekly limit · resets Mon 12:00am",
    "You've hit your usage limit. Upgrade to Pro or try again at 12:16 PM.",
    "You're out of extra usage · resets 9pm",
    "Claude AI usage limit reached|1760000000",
    "5-hour limit reached ∙ resets 3pm",
    "Credit balance is too low",
    "Login expired · Please run /login",
    "Please run /login · API Error: 401",
    "Invalid API key · Fix external API key",
    "No response requested.",
    "Prompt is too long",
    "Request rejected (429) · this may be a temporary capacity issue",
    "Error code: 429 - {'error': {'message': 'Rate limit reached'}}",
    "litellm.RateLimitError: RateLimitError: OpenAIException - slow down",
    "unexpected status 401 Unauthorized: Missing bearer, url: http://127.0.0.1/v1/responses",
    "stream disconnected before completion: error sending request",
    '{"type": "error", "error": {"type": "overloaded_error"}}',
    '{"error": {"message": "no credits", "code": 402}}',
    "HTTP 503 Service Unavailable",
    "**API Error: Connection error.**",
]
REFUSALS = [
    "I'm sorry, but I can't assist with that.",
    "I\u2019m sorry, but I can\u2019t help with that request.",
    "Sorry, I cannot comply with this request.",
    "I cannot assist with that. If you have any other questions, feel free to ask!",
    "I'm unable to help with that.",
    "I can't provide that information. It would violate the usage policies.",
    "I apologize, but I cannot fulfill this request as it goes against my guidelines.",
    "As an AI language model, I cannot help with that.",
    "I won't help with this.\n\nIs there something else I can help you with?",
]
ANSWERS = [
    "The log said `API Error: 529 Overloaded`, so I added a retry with backoff.",
    "API error: the handler returned 500 because the pool was closed.",
    "API error handling is now in errors.py.",
    "Usage limit reached. I switched the chain to the local model and the run went on.",
    "Connection error: the port was 5433, not 5432. Fixed in settings.",
    "HTTP 404 for the old path is expected, the route moved to /v2.",
    "I can't do that until Postgres is up.",
    "I cannot find the file config.yaml; it was deleted in commit 3f2a.",
    "I can't help but notice that the index is missing.",
    "I'm sorry, I broke the build: the migration ran twice. It is repaired now.",
    "I can't continue with this until you choose between SQLite and Postgres.",
    "I'm unable to reproduce the crash on 3.12.",
    "Sorry about that! Let me fix the import.",
    "We decided not to help with legacy imports.",
    "You've reached your goal: all tests pass.",
    "Here is the error body:\n\nAPI Error: 500",
    "",
    "   ",
]


@pytest.mark.parametrize("text", API_ERRORS)
def test_an_error_report_that_is_the_whole_assistant_turn_is_poison(text: str) -> None:
    """An assistant turn that is nothing but a runtime's error text is named api-error."""
    assert poison_reason(text, "assistant") == "api-error"


@pytest.mark.parametrize("text", REFUSALS)
def test_a_refusal_that_is_the_whole_assistant_turn_is_poison(text: str) -> None:
    """An assistant turn made only of refusing sentences is named refusal."""
    assert poison_reason(text, "assistant") == "refusal"


@pytest.mark.parametrize("text", ANSWERS)
def test_an_answer_that_mentions_an_error_or_a_limit_is_kept(text: str) -> None:
    """Answers about errors, and findings worded with "cannot", are not poison."""
    assert poison_reason(text, "assistant") is None


@pytest.mark.parametrize("role", ["user", "system", "document", None])
@pytest.mark.parametrize("text", API_ERRORS + REFUSALS)
def test_a_person_who_quotes_an_error_is_always_kept(text: str, role: str | None) -> None:
    """Only assistant turns are judged: the same words from anyone else stay."""
    assert poison_reason(text, role) is None


@pytest.mark.parametrize(
    "text", ["[Request interrupted by user]", "[Request interrupted by user for tool use]"]
)
def test_an_interruption_marker_is_not_a_thing_said(text: str) -> None:
    """The marker of a cut-off answer is a state, named interrupted."""
    assert poison_reason(text, "assistant") == "interrupted"


@given(st.sampled_from(API_ERRORS + REFUSALS), st.text(alphabet="abcdefgh \n", min_size=1, max_size=80))
def test_signatures_are_anchored_at_the_start(poison: str, prefix: str) -> None:
    """Words of substance before the error make the turn an answer that quotes it."""
    assert poison_reason(f"We saw this during the import x{prefix}:\n\n{poison}", "assistant") is None


@given(st.text(max_size=400))
def test_any_text_is_judged_without_raising(text: str) -> None:
    """Every string gets an answer, for every role."""
    assert poison_reason(text, "assistant") in {None, "api-error", "refusal", "interrupted"}
    assert poison_reason(text, "user") is None


def test_long_adversarial_text_is_judged_quickly() -> None:
    """Repeated near-matches do not make the patterns backtrack: 1 MB in well under a second."""
    long_turns = [
        "I can't help with that " * 40_000,
        ("I can't help with that this request " * 20)[:600],
        ("I'm sorry, " * 60)[:600],
        "API Error: " + "\n \n" * 300_000,
        "API Error: " + "\n \n" * 600,
        '{"error": {' + "}," * 900,
    ]
    started = time.perf_counter()
    for text in long_turns:
        poison_reason(text, "assistant")
    assert time.perf_counter() - started < 2.0
