"""The gates before a prompt is looked up."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from argus_memory.rules.substance import count_words, has_substance, is_system_turn


@pytest.mark.parametrize(
    "prompt",
    [
        "How do I run the integration tests?",
        "what did we decide about postgres",
        "which port does staging use?",
        "src/argus/db.py raises KeyError",
        "修复登录页面的错误",
        "ログインのエラーを直してください",
        "로그인 오류를 지금 바로 고쳐 주세요",
        "แก้ไขข้อผิดพลาดในหน้าเข้าสู่ระบบ",
        "Где лежат резервные копии базы?",
    ],
)
def test_a_question_has_substance_in_every_script(prompt: str) -> None:
    """A prompt of five words' worth that says something is looked up, whatever it is written in."""
    assert has_substance(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "ok",
        "yes please go ahead and do it",
        "ok thanks, that looks good to me",
        "fix it now",
        "!!! ??? ... --- ***",
        "好的，请继续吧谢谢",
        "はい、お願いします",
        "네 계속해 주세요",
        "да спасибо",
    ],
)
def test_assent_and_short_prompts_have_none(prompt: str) -> None:
    """What only agrees, thanks or waves on carries no question, however many words it takes."""
    assert not has_substance(prompt)


@pytest.mark.parametrize("prompt", ["<task-notification>done", "  \n<system-reminder>x</system-reminder> go"])
def test_what_the_program_wrote_is_a_system_turn(prompt: str) -> None:
    """A prompt that leads with one of the program's own tags is no person's question."""
    assert is_system_turn(prompt)


def test_a_person_may_mention_the_tags() -> None:
    """Only the lead decides: a question about the tag is a person's."""
    assert not is_system_turn("what does <system-reminder> mean in the transcript?")


@given(st.text(max_size=300))
def test_counting_words_never_fails_and_punctuation_adds_nothing(text: str) -> None:
    """Any text has a count, and marks at its end do not change it."""
    assert count_words(text) >= 0
    assert count_words(text + " ?! …") == count_words(text)
