"""The two gates before a prompt is looked up: is it a person's, and does it say something to look up?

    system turn   it leads with <task-notification or <system-reminder: the program wrote it, not a person
    substance     fewer than five words' worth of text, or nothing but assent ("yes, go ahead and do it")

Words are counted in every script. Where words are not set apart by blanks, characters stand for parts of words:
an ideograph for a whole one, kana and Hangul for half, the letters of Thai, Lao, Khmer and Burmese for a quarter.
"""

from __future__ import annotations

import re

from argus_memory.settings import SUBSTANCE_FLOOR

SYSTEM_LEADS = ("<task-notification", "<system-reminder")
LOOKED_AT = 20_000  # characters; what is longer says enough

_IDEOGRAPH = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HALF = re.compile("[\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f\uac00-\ud7af]")
_QUARTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")

# Words that agree, thank or wave on, and those that only join them. A prompt of nothing else asks for nothing.
_ASSENT_WORDS = """
a ahead all alright and are awesome bitte continue cool da danke do does doing done esta excellent fine genau
gern go good got gracias great gut hm hmm i is it it's its ja just keep let let's lets lgtm looks makes me
merci more nein next nice no non nope now of ok okay on one oui perfect please pls proceed quite right sense
si so sounds sure sí ta thank thanks that that's thats the then these this those thx to too top true
understood ups us very way we weiter well what with works wow y yea yeah yep yes you your да нет продолжай
спасибо хорошо
"""
ASSENT = frozenset(_ASSENT_WORDS.split())
_ASSENT_EAST = re.compile(
    "好的|好吧|好|继续|繼續|谢谢|謝謝|请|請|是的|可以|没问题|沒問題|没错|对|行|吧|了|嗯|はい|ええ|お願いします|ありがとうございます"
    "|ありがとう|続けてください|続けて|了解です|了解|いいです|いいね|네|예|계속해\\s?주세요|계속|감사합니다|고마워|좋아요|좋습니다"
)


def is_system_turn(prompt: str) -> bool:
    """Whether the program wrote it and not a person."""
    return prompt.lstrip().startswith(SYSTEM_LEADS)


def count_words(text: str) -> float:
    """How many words' worth of text there is, in any script; punctuation and symbols count nothing."""
    text = text[:LOOKED_AT]
    parts = len(_IDEOGRAPH.findall(text)) + len(_HALF.findall(text)) / 2 + len(_QUARTER.findall(text)) / 4
    for script in (_IDEOGRAPH, _HALF, _QUARTER):
        text = script.sub(" ", text)
    return parts + len(_WORD.findall(text))


def has_substance(prompt: str, floor: float = SUBSTANCE_FLOOR) -> bool:
    """Whether a prompt is long enough and says anything besides assent."""
    if count_words(prompt) < floor:
        return False
    rest = _ASSENT_EAST.sub(" ", prompt[:LOOKED_AT])
    words = [word.lower().replace("’", "'") for word in _WORD.findall(rest)]
    return any(word not in ASSENT for word in words)
