"""Words that rewording is judged by: what carries no meaning, what means the same, what turns a sentence round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


CONTRACTIONS: Final[Mapping[str, str]] = {
    "can't": "can not", "cannot": "can not", "won't": "will not", "shan't": "shall not", "i'm": "i am",
    "it's": "it is", "that's": "that is", "there's": "there is", "he's": "he is", "she's": "she is",
    "let's": "let us", "who's": "who is",
}  # fmt: skip
ENDINGS: Final = (("n't", "not"), ("'re", "are"), ("'ve", "have"), ("'ll", "will"), ("'d", "would"))
NUMBERS: Final[Mapping[str, str]] = {
    "zero": "0", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7", "eight": "8",
    "nine": "9", "ten": "10", "eleven": "11", "twelve": "12", "twice": "2", "thirteen": "13", "fourteen": "14",
    "fifteen": "15", "sixteen": "16", "twenty": "20", "thirty": "30", "forty": "40", "fifty": "50", "sixty": "60",
    "seventeen": "17", "eighteen": "18", "nineteen": "19", "seventy": "70", "eighty": "80", "million": "1000000",
    "ninety": "90", "hundred": "100", "thousand": "1000", "midnight": "0:00", "noon": "12:00",
}  # fmt: skip
UNITS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("l", "litre", "litres", "liter", "liters"), "l"),
    **dict.fromkeys(("ml", "millilitre", "millilitres", "milliliters"), "ml"),
    **dict.fromkeys(("min", "mins", "minute", "minutes"), "min"),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), "h"),
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("ms", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("kg", "kilo", "kilos", "kilogram", "kilograms"), "kg"),
    **dict.fromkeys(("g", "gram", "grams"), "g"),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers"), "km"),
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters"), "m"),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters"), "cm"),
    **dict.fromkeys(("gb", "gib", "gigabyte", "gigabytes"), "gb"),
    **dict.fromkeys(("mb", "mib", "megabyte", "megabytes"), "mb"),
    **dict.fromkeys(("tb", "tib", "terabyte", "terabytes"), "tb"),
    **dict.fromkeys(("€", "eur", "euro", "euros"), "eur"),
    **dict.fromkeys(("$", "usd", "dollar", "dollars"), "usd"),
    **dict.fromkeys(("£", "gbp", "pound", "pounds"), "gbp"),
    **dict.fromkeys(("¥", "yen"), "yen"),
    **dict.fromkeys(("chf", "franc", "francs"), "chf"),
    **dict.fromkeys(("ft", "foot", "feet"), "ft"),
    **dict.fromkeys(("inch", "inches"), "inch"),
    **dict.fromkeys(("mi", "mile", "miles"), "mi"),
    **dict.fromkeys(("lb", "lbs"), "lb"),
    **dict.fromkeys(("oz", "ounce", "ounces"), "oz"),
    **dict.fromkeys(("w", "watt", "watts"), "w"),
    **dict.fromkeys(("kw", "kilowatt", "kilowatts"), "kw"),
    **dict.fromkeys(("v", "volt", "volts"), "v"),
    **dict.fromkeys(("kb", "kib", "kilobyte", "kilobytes"), "kb"),
    **dict.fromkeys(("bar", "bars"), "bar"),
    "psi": "psi", "fahrenheit": "fahrenheit", "kwh": "kwh", "mph": "mph",
    **dict.fromkeys(("%", "percent"), "%"),
    **dict.fromkeys(("°", "°c", "degree", "degrees"), "°"),
}
NEGATIONS: Final = _words("not no never none nobody nothing neither nor without")
# Stems that hold a negation, and what is negated.
NEGATING: Final[Mapping[str, str]] = {"dislik": "lik", "hat": "lik", "detest": "lik", "loath": "lik"}
# Before the words are looked at one by one; on folded text.
PHRASES: Final = (
    (r"(?:instead of|rather than|in preference to)", "over"),
    (r"(?:no longer|not any ?more|not any longer)", "not"),
    (r"(?:ha(?:s|ve|d) to|needs? to|ought to|supposed to)", "must"),
    (r"(?:used to|formerly|previously)", "formerly"),
    (r"(?:as well as|along with|together with)", "and"),
    (r"(?:daily|each day)", "every day"),
    (r"(?:nightly|each night)", "every night"),
    (r"(?:weekly|each week|once a week)", "every week"),
    (r"(?:monthly|each month|once a month)", "every month"),
    (r"(?:yearly|annually|annual|each year|once a year)", "every year"),
    (r"(?:hourly|each hour)", "every sixtymin"),
    (r"wi-fi|wlan", "wifi"),
    (r"e-mail", "email"),
    (r"degrees? c(?:elsius)?", "degrees"),
    (r"can not stand", "hate"),
    (r"(?:am|is|are) (?:really |quite |very )?(?:into|fond of|keen on)", "likes"),
    (r"works? (?:at|for|as)", "works"),
    (r"(?:is|are|was|were) employed (?:at|by|as)", "works"),
    (r"(?:is|are|was|were) (?:married to|the (?:wife|husband|spouse) of)", "married"),
)  # fmt: skip
# Who stands after one of these cannot change places with who stands before.
MARKERS: Final = _words(
    "over than from to for before after under above below versus vs by via into behind until since"
)
OPPOSITES: Final = (
    ("from", "to"), ("before", "after"), ("before", "since"), ("over", "under"), ("above", "below"),
    ("until", "since"),
)  # fmt: skip
# Carry nothing for the comparison. Without before/after, on/off and the like that turn a sentence round.
DROPPED: Final = _words(
    "a an the this that these those there here it its he she they them him her his hers their theirs i me my mine we"
    " us our ours you your yours user person one ones who whom whose which what where when how"
    " is are was were be been being am do does did done has have had having get gets got will would shall can could"
    " may might let"
    " and or but so then also too as if because while though"
    " of in on at with about around near"
    " really just please well actually basically simply indeed ok okay yes very quite rather usually often generally"
    " mostly normally typically always currently now still already ever definitely certainly clearly"
    " use uses used using goes directly again even probably personally regularly all"
    " something anything thing things such own same both each some any much many more most lot lots"
    " note noted remember fyi btw reminder fact says said say told tell mentioned mention states stated noticed"
)
# Stems of verbs that only place or name a thing.
LIGHT: Final = _words(
    "call nam nam'd titl hang stand lie sit locat plac find found put stor keep kept sav stay situat belong exist"
    " happen tak mak mad giv given go goes went com us utiliz run execut perform contain includ consist provid"
    " occur set cost hold"
) - frozenset({"run"})
FREQUENCY: Final = _words("every day night week month year sixtymin morn evening even weekday weekend")
_GROUPS: Final = (
    "lik want prefer favourit favorit favour favor enjoy lov adore ador fond best",
    "liv resid dwell", "buy bought purchas acquir", "start begin began begun commenc launch",
    "end finish complet conclud",
    "big larg huge hug", "small littl tiny", "fix repair mend", "delet remov eras wip", "child children kid",
    "mobil cell cellphon", "phon telephon", "password passphras passcod pass-phras pw", "database databas db",
    "repo repository repositor", "config configuration configur", "doc documentation document", "app application",
    "prod production", "dev development", "kubernet k8", "postgr postgresql", "javascript js", "typescript ts",
    "python py", "job work employ", "wif spous husband marri marry wed", "mother mum mom", "father dad",
    "doctor physician", "car automobil", "hous home", "flat apartment", "holiday vacation", "film movi",
    "need requir must", "should must", "run execut", "speak talk", "birthday born", "allergic allergy allergen",
    "bik bicycl cycl", "colour color", "grey gray", "centr center", "laptop notebook", "firm company employer",
    "staff employe", "backup back-up", "reply answer respons respond", "quit stop ceas",
    "hold capacity", "locat address", "email mail", "own posses",
    "assist help", "permit allow", "forbid prohibit ban", "cost pric", "quick fast rapid", "writ wrot written author",
    "teach taught", "choos chos chosen pick select", "drive driv drove", "meet met meeting", "pay paid", "sell sold",
    "build built", "grow grew grown", "break broke broken", "send sent", "mov reloc relocat", "migrat switch",
)  # fmt: skip
SYNONYMS: Final[Mapping[str, str]] = {
    word: group.split()[0] for group in _GROUPS for word in group.split()[1:]
}
