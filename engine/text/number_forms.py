"""Other spellings of the dates, times, amounts and numbers of a query: 17:45 and 5:45 pm, 1,299.00 and 1299.

Each spelling is a phrase of the `words` stream; a last token with `*` is a prefix. Signs that aren't tokens, such as
%, $ and €, can't be searched, so that the number alone stands for a number with such a unit.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from functools import cache

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.spelling import SHORTEST_NUMBER
from engine.text.time_expressions import month_names, read_times
from engine.text.tokens_and_stems import phrase_tokens

Spelling = tuple[str, ...]
Span = tuple[int, int, list[Spelling]]
"""Offsets of a part of the query, and its other spellings."""

_COMPACT = lazy_pattern(r"(?<![\w./-])(\d{4})(\d\d)(\d\d)(?![\w/-]|\.\d)")
_MONTH = lazy_pattern(r"(?<![\w./-])(0?[1-9]|1[0-2])[./]((?:19|20)\d\d)(?![\w/-]|\.\d)")
_DAY = lazy_pattern(r"(?<![\w./-])(?:([0-3][0-9])\.(0[1-9])\.?|([0-3]?[0-9])\.(1[0-2]|[1-9])\.)(?![\w.-])")
"""Matches a day and a month such as 30.09 and 6.6., and not 3.11, which may be a version."""
_YEAR = lazy_pattern(r"\d{4}")
_MONTHS, _TEENS = range(27, 31), range(11, 14)  # days from the first to the last one of a month; 11th to 13th
_BEGIN = r"(?<![\w:/-])(?<!\d[.,])"
_END = r"(?![\w:]|[.,/-]\d)"
_TIME = lazy_pattern(
    rf"{_BEGIN}([01]?\d|2[0-3])(?:(:|\.|[ ]?h[ ]?|[ ]uhr[ ])([0-5]\d))?(?:[ ]?([ap])\.?m\b\.?|[ ]?(uhr|h)\b)?{_END}",
    re.IGNORECASE,
)
_CLOCK = lazy_pattern(rf"{_BEGIN}(0\d)([0-5]\d){_END}")  # 0605 is almost certainly a time
_FIRST_HOUR = 13  # shorter times such as 2h are mostly durations
_THOUSANDS = "[.,'’_ \u00a0\u202f]"
_AMOUNT = lazy_pattern(
    rf"{_BEGIN}(?:(\d{{1,3}}(?:({_THOUSANDS})\d{{3}}(?:\2\d{{3}})*))|(\d{{1,12}}))(?:[.,](\d{{1,2}}))?"
    rf"(?:[ ]?(k|m(?!\b[ ]?\d)|[a-z]{{3,9}}))?{_END}",
    re.IGNORECASE,
)
_SHORTEST_AMOUNT = 4  # digits from which a number may be written in groups of three
_LONGEST_SHORT = 4  # most digits before "million" and the like
_SCALES = {
    1000: "k thousand tausend mille mil duizend".split(),
    1_000_000: "m million millions mio millionen millones milioni milhoes miljoen".split(),
    1_000_000_000: "bn billion billions mrd milliarde milliarden milliard milliards miliardi".split(),
}
"""Large numbers with their words; the first word may follow the digits directly."""
_NUMBER = r"\d[\d.,]*\d|\d"
_WITH_UNIT = lazy_pattern(rf"(?<![\w.,:])({_NUMBER})[ ]?((?:per |pour |por )?[^\W\d_]{{1,11}})(?!\w)", re.IGNORECASE)
_AFTER_UNIT = lazy_pattern(rf"(?<!\w)([^\W\d_]{{3}})[ ]?({_NUMBER})(?!\w)", re.IGNORECASE)
_SIGNS = {
    "%": "percent prozent pct procent per_cent pour_cent por_ciento",
    "$": "dollar dollars usd bucks",
    "€": "euro euros eur",
    "£": "pound pounds gbp quid",
    "¥": "yen jpy",
    "₣": "franc francs franken chf",
    "°": "degree degrees grad",
}
"""Names of units by their sign, which isn't a token; a name of two words has `_` between them."""
_SIGNED = lazy_pattern(r"(?<!\S)([$€£¥§±]?)[ ]?(\d[\d.,]*\d|\d)[ ]?([%‰°€£¥$]?)(?!\w)")
_GAP = "[ \\u00a0\\u202f]?"
_UNITS = (
    *("kg kilo kilos kilogram kilograms kilogramm", "g gram grams gramm", "t ton tons tonne tonnes tonnen"),
    *("km kilometer kilometers kilometre kilometres", "m meter meters metre metres", "mi mile miles"),
    *("cm centimeter centimeters centimetre centimetres zentimeter", "mm millimeter millimeters millimetre"),
    *("l liter liters litre litres", "ml milliliter milliliters millilitre millilitres", "lb lbs pound pounds"),
    *("ms millisecond milliseconds", "s sec secs second seconds sekunde sekunden"),
    *("min mins minute minutes minuten minutos", "h hr hrs hour hours stunde stunden std", "kwh kilowattstunden"),
    *("kb kilobyte kilobytes", "mb megabyte megabytes", "gb gigabyte gigabytes", "tb terabyte terabytes"),
    *("w watt watts", "kw kilowatt kilowatts", "v volt volts", "μs microsecond microseconds mikrosekunden"),
    *("ns nanosecond nanoseconds", "mhz megahertz", "ghz gigahertz", "khz kilohertz", "hz hertz"),
    *("ma milliampere milliamps", "db decibel decibels", "px pixel pixels", "kcal kilocalories", "mw milliwatt"),
)
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth"
    " sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
_TENS = {20: "twenty", 30: "thirty", 40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety"}
_ORDINAL = lazy_pattern(
    rf"(?<!\w)(?:(\d{{1,2}})(?:st|nd|rd|th)|((?:{'|'.join(_TENS.values())})[- ])?([a-z]{{5,11}}))(?!\w)", re.IGNORECASE
)
_GERMAN_ORDINALS = (
    "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft dreizehnt vierzehnt fünfzehnt sechzehnt"
    " siebzehnt achtzehnt neunzehnt zwanzigst"
).split()
_GERMAN_ORDINAL = lazy_pattern(
    rf"(?<![\w.,])(?:((?:{'|'.join(_GERMAN_ORDINALS)})e)[mnrs]?|(\d{{1,2}})\.)[ ]([^\W\d_]{{3,20}})(?!\w)",
    re.IGNORECASE,
)
_DECADE = lazy_pattern(r"(?<![\w.,])((?:19)?)([5-9]0)(s|er)(?!\w)", re.IGNORECASE)
_VERSION = lazy_pattern(
    r"(?<![\w.])(?:version[ ]v?(\d{1,3})(?:\.0)?|v(\d{1,3})(?:\.0)?|(\d{1,3})\.0)(?![\w%]|[.,]\d)", re.IGNORECASE
)
_PART = lazy_pattern(r"(?<!\w)([^\W\d_]{3,20}) (\d{1,2}|[ivxIVX]{1,7})(?!\w|°|[.,:/-]\w|[ ]?[$%]|[ ]?€)")
"""Matches a word and a number, perhaps a Roman one, that may belong to it, as in "chapter IV"."""
_GROUPED = lazy_pattern(r"(?<![\w.,:/])\+?\(?\d(?:[ \-./()\u00a0\u202f]{0,2}\d){5,24}[ -]?x?(?!\w)", re.IGNORECASE)
_SIZES = lazy_pattern(r"(?<![\w.,])(\d{1,5})[ ]?[x×][ ]?(\d{1,5})(?![\w.,])", re.IGNORECASE)
_ACCOUNT = lazy_pattern(r"(?<!\w)[a-z]{2}\d\d(?:[ ]?[a-z0-9]{4}){2,7}(?:[ ]?[a-z0-9]{1,3})?(?!\w)", re.IGNORECASE)
_FORMATTING = lazy_pattern(r"[^0-9a-zA-Z]+")
_ISBN, _SHORT_ISBN = 13, 10  # digits, now and before 2007
_LONGEST_TELEPHONE, _LONGEST_NUMBER, _MAX_GROUPS, _LONGEST_GROUP, _MAX_ROMAN = 12, 19, 4, 5, 39


def spellings_in(text: str, languages: Sequence[str]) -> Iterator[Span]:
    """Yield the parts of a query that have other spellings, with these spellings."""
    digits = re.search(r"\d", text)
    if digits or any(map(fold(text).__contains__, _ordinal_words())):
        yield from _ordinals(text)
    if "german" in languages:
        yield from _german_ordinals(text)
    yield from _roman(text)
    if not digits:
        return
    yield from _days(text, languages)
    for read in (_times, _amounts, _units, _decades, _versions, _numbers):
        yield from read(text)


def _phrase(text: str) -> Spelling:
    return phrase_tokens(text).tokens


# --- Dates and times --------------------------------------------------------------------------------------------------


def _days(text: str, languages: Sequence[str]) -> Iterator[Span]:
    """Yield days, in numbers or with the name of a month; with slashes, either the day or the month may come first."""
    for compact in _COMPACT.finditer(text):
        with suppress(ValueError):
            yield *compact.span(), [*_spellings_of_day(date(*map(int, compact.groups())), languages)]
    for month in _MONTH.finditer(text):
        yield *month.span(), [*_spellings_of_month(date(int(month[2]), int(month[1]), 1), languages)]
    for day in _DAY.finditer(text):
        number, of_year = int(day[1] or day[3]), int(day[2] or day[4])
        names = ((f"{number}", name) for name in month_names(of_year, languages))
        yield *day.span(), [*_in_numbers(number, of_year), *(form for pair in names for form in (pair, pair[::-1]))]
    for time in read_times(text):
        first, start = time.first, text.find(time.text)
        if start >= 0 and (time.yearly or _YEAR.search(time.text)):
            forms: Iterable[Spelling] = ()
            if first == time.last:
                yearly = _in_numbers(first.day, first.month)
                forms = yearly if time.yearly else _spellings_of_day(first, languages)
            elif not time.yearly and first.day == 1 and (time.last - first).days in _MONTHS:
                forms = _spellings_of_month(first, languages)
            yield start, start + len(time.text), [*forms]


def _in_numbers(day: int, month: int) -> list[Spelling]:
    return [(f"{day}.{month}",), (f"{day:02}.{month:02}",)]


def _spellings_of_month(first: date, languages: Sequence[str]) -> Iterator[Spelling]:
    year = f"{first.year:04}"
    yield from ((f"{first:%m}", year), (f"{first.month}", year), (year, f"{first:%m}"))
    yield from ((name, year) for name in month_names(first.month, languages))


def _spellings_of_day(day: date, languages: Sequence[str]) -> Iterator[Spelling]:
    year = f"{day.year:04}"
    # Parts of an identifier are tokens that follow each other, whatever is between them.
    for m, d in ((f"{day:%m}", f"{day:%d}"), (f"{day.month}", f"{day.day}")):
        yield from ((year, m, d), (d, m, year), (f"{m}/{d}/{year}",), (year + m + d,))
    english, short, *others = month_names(day.month, languages)
    number, ordinal = f"{day.day}", _ordinal(day.day)
    yield from ((number, name, year) for name in (english, short, *others))
    yield from ((english, number, year), (short, number, year), (ordinal, english, year), (english, ordinal, year))


def _times(text: str) -> Iterator[Span]:
    for match in _TIME.finditer(text):
        hour, sign, minute, half, name = int(match[1]), match[2], match[3], match[4], match[5]
        if half and 1 <= hour <= 12:
            hour = hour % 12 + 12 * (half in "pP")
        elif half or (sign == "." and not name) or not (minute or name in ("uhr", "Uhr") or hour >= _FIRST_HOUR):
            continue
        if minute or half or name:
            yield *match.span(), list(_spellings_of_time(hour, minute or "00"))
    for match in _CLOCK.finditer(text):
        yield *match.span(), list(_spellings_of_time(int(match[1]), match[2]))


def _spellings_of_time(hour: int, minute: str) -> Iterator[Spelling]:
    for written in dict.fromkeys((f"{hour}", f"{hour:02}")):
        yield from ((f"{written}:{minute}",), (f"{written}:{minute}h",), (f"{written}h{minute}",))
        yield from ((written, minute, "uhr"), (written, "uhr", minute), (written, "h", minute))
        if minute == "00":
            yield from ((written, "uhr"), (f"{written}h",))
    half = "pm" if hour >= 12 else "am"
    hour = hour % 12 or 12
    for written in dict.fromkeys((f"{hour}", f"{hour:02}")):
        for name in (half, ".".join(half)):
            yield written, minute, name
            if minute == "00":
                yield written, name
        yield written, f"{minute}{half}"
        if minute == "00":
            yield (f"{written}{half}",)


# --- Amounts, units, ordinals and versions ----------------------------------------------------------------------------


def _amounts(text: str) -> Iterator[Span]:
    """Yield amounts with and without groups of three digits, and with a word or letter such as "million"."""
    for match in _AMOUNT.finditer(text):
        grouped, whole, decimals, word = match[1], match[3], match[4] or "", fold(match[5] or "")
        scale = next((scale for scale, words in _SCALES.items() if word in words), 0)
        digits = _FORMATTING.sub("", grouped or whole)
        if scale:
            end = match.end(5)
        elif match[4]:
            end = match.end(4)
        else:
            end = match.end(3 if whole else 1)
        if scale and not grouped:
            number = round(float(f"{digits}.{decimals or 0}") * scale)
            yield match.start(), end, [*_spellings_of_amount(f"{number}", ""), *_short_amounts(number)]
        elif not scale and len(digits) >= _SHORTEST_AMOUNT and (grouped or not digits.startswith("0")):
            exact = decimals if decimals.strip("0") else ""
            forms = [*_spellings_of_amount(digits, exact), *([] if exact else _short_amounts(int(digits)))]
            yield match.start(), end, forms


def _spellings_of_amount(digits: str, decimals: str) -> Iterator[Spelling]:
    first = len(digits) % 3 or 3
    *groups, last = digits[:first], *(digits[start : start + 3] for start in range(first, len(digits), 3))
    if decimals:
        # A point makes one token with the digits around it, a comma does not.
        yield from (
            (f"{digits}.{decimals}",),
            (digits, decimals),
            (*groups, f"{last}.{decimals}"),
            (*groups, last, decimals),
        )
        return
    yield (digits,)
    if groups:
        yield from ((*groups, last), (*groups, f"{last}.*"), (f"{digits}.*",))


def _short_amounts(number: int) -> Iterator[Spelling]:
    for scale, words in _SCALES.items():
        if number >= scale and number % (scale // 10) == 0:
            short = _phrase(f"{number / scale:g}".replace(".", ","))
            if len("".join(short)) <= _LONGEST_SHORT:
                yield *short[:-1], short[-1] + words[0]
                yield from ((*short, word) for word in words)


@cache
def _names_of_units() -> dict[str, tuple[str, ...]]:
    """Return the other names of each unit, and "" if it also has a sign that isn't a token."""
    names: dict[str, tuple[str, ...]] = {}
    for line in (*_SIGNS.values(), *_UNITS):
        own = line.split()
        for name in own:
            others = (*(other for other in own if other != name), *([""] if line in _SIGNS.values() else []))
            names[name] = (*names.get(name, ()), *others)
    return names


def numbers_with_signs(query: str) -> list[list[re.Pattern[str]]]:
    """Return expressions for the numbers of a query with a sign that is no token, such as 20%, or with its name.

    The first matches the sign or the name as typed, the second either of them. Most texts with the same number have it
    with another unit, so that only the unit distinguishes them.
    """
    found = [(before or after, number, before or after) for before, number, after in _SIGNED.findall(query)]
    for match in _WITH_UNIT.finditer(query):
        unit = fold(match[2]).replace(" ", "_")
        found += [(sign, match[1], match[2]) for sign in _SIGNS if unit in _SIGNS[sign].split()]
    return [_with_unit(sign, re.escape(number), typed) for sign, number, typed in found if sign]


def _with_unit(sign: str, number: str, typed: str) -> list[re.Pattern[str]]:
    names = [sign, typed, *(name.replace("_", " ") for name in _SIGNS.get(sign, "").split())]
    units = [rf"(?<![^\W\d]){re.escape(name)}(?!\w)" if name != sign else re.escape(sign) for name in names]
    before = [rf"(?<={unit}{number})|(?<={unit}{_GAP[:-1]}{number})" for unit in units]
    sides = [
        rf"(?![.,]?\d)(?:{'|'.join(before[of])})|(?<![\d.,]{number}){_GAP}(?:{'|'.join(units[of])})"
        for of in (slice(1, 2), slice(None))
    ]
    return [re.compile(f"{number}(?:{side})", re.IGNORECASE) for side in sides]  # beginning with a unit is far slower


def _units(text: str) -> Iterator[Span]:
    """Yield units with their other names; the number may be in the same word."""
    for pattern, at in ((_WITH_UNIT, 2), (_AFTER_UNIT, 1)):
        for match in pattern.finditer(text):
            number, unit = match[3 - at], fold(match[at]).replace(" ", "_")
            tokens, known = _phrase(number), _names_of_units()
            if not tokens or not (names := known.get(unit) or known.get(unit.rpartition("_")[2])):
                continue
            written = [tuple(name.split("_")) for name in names if name]
            same = [*dict.fromkeys([tokens, *(form for *_, forms in _amounts(number) for form in forms)])]
            joined: list[Spelling] = [(*tokens[:-1], tokens[-1] + name[0]) for name in written if len(name) == 1]
            alone = same if "" in names else []
            if match.end() - match.start() == len(number) + len(unit):
                yield *match.span(), [*joined, *((*tokens, *name) for name in written), *alone]
            else:
                yield *match.span(at), [*written, *alone, *joined]
                yield *match.span(3 - at), joined


def _ordinal(number: int) -> str:
    """Return an English ordinal: 1st, 2nd, 3rd, 11th."""
    ending = "th" if number % 100 in _TEENS else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


@cache
def _ordinal_words() -> dict[str, int]:
    words = {word: number for number, word in enumerate(_ORDINALS, 1)}
    for tens, name in _TENS.items():
        words[name.replace("y", "ieth")] = tens
        words |= {f"{name} {word}": tens + number for number, word in enumerate(_ORDINALS[:9], 1)}
    return words


def _ordinals(text: str) -> Iterator[Span]:
    words = _ordinal_words()
    for match in _ORDINAL.finditer(text):
        if match[1]:
            yield *match.span(), [_phrase(word.replace(" ", "-")) for word, n in words.items() if n == int(match[1])]
        elif number := words.get(fold(f"{match[2] or ''}{match[3]}").replace("-", " ")):
            yield *match.span(), [(_ordinal(number),)]
        elif number := words.get(fold(match[3])):
            yield *match.span(3), [(_ordinal(number),)]


@cache
def _german_ordinal_words() -> dict[str, int]:
    return {fold(f"{ordinal}e"): number for number, ordinal in enumerate(_GERMAN_ORDINALS, 1)}


def _german_ordinals(text: str) -> Iterator[Span]:
    """Yield German ordinals before a word, which is part of the spelling: "3." alone is any 3."""
    for match in _GERMAN_ORDINAL.finditer(text):
        word = _phrase(match[3])
        if match[1]:
            # The pattern ignores case, so it also matches letters such as the long s and the dotless i.
            if number := _german_ordinal_words().get(fold(match[1])):
                yield match.start(), match.start(3) - 1, [(f"{number}", *word)]
        elif 0 < int(match[2]) <= len(_GERMAN_ORDINALS):
            ordinal = fold(_GERMAN_ORDINALS[int(match[2]) - 1])
            yield *match.span(2), [(f"{ordinal}e{ending}", *word) for ending in ("", *"mnrs")]


def _decades(text: str) -> Iterator[Span]:
    """Yield decades with and without their century: 1990s and 90s, 1990er and 90er.

    Only those from 1950: "30s" is mostly a time in seconds.
    """
    for match in _DECADE.finditer(text):
        century, decade, ending = match[1], match[2], fold(match[3])
        yield *match.span(), [(f"{'' if century else '19'}{decade}{ending}",)]


def _versions(text: str) -> Iterator[Span]:
    for match in _VERSION.finditer(text):
        number = match[1] or match[2] or match[3]
        forms: list[Spelling] = [(f"v{number}",), (f"v{number}.0",), ("version", number), ("version", f"{number}.0")]
        yield *match.span(), [*forms, (f"{number}.0",)]


@cache
def _romans() -> dict[str, int]:
    tens, ones = ("", "x", "xx", "xxx"), ("", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix")
    return {tens[n // 10] + ones[n % 10]: n for n in range(1, _MAX_ROMAN + 1)}


def _roman(text: str) -> Iterator[Span]:
    """Yield numbers after a word, in Arabic or Roman digits, with the word, since "I" is also a word."""
    for match in _PART.finditer(text):
        word, number = _phrase(match[1]), fold(match[2])
        if number.isdigit():
            others = [roman for roman, n in _romans().items() if n == int(number)]
        else:
            others = [f"{_romans()[number]}"] if number in _romans() else []
        if others and word:
            yield *match.span(2), [(*word, other) for other in others]


# --- Numbers in groups ------------------------------------------------------------------------------------------------


def _numbers(text: str) -> Iterator[Span]:
    """Yield numbers of telephones, accounts, cards and books in one word and in groups, and sizes such as 3 x 4."""
    for match in _ACCOUNT.finditer(text):
        compact = _FORMATTING.sub("", match[0]).lower()
        if any(map(str.isdigit, compact[4:])):
            yield *match.span(), [(compact,), tuple(_cut(compact, 4))]
    for match in _SIZES.finditer(text):
        first, second = match.groups()
        yield *match.span(), [(f"{first}x{second}",), (first, "x", second), (first, second)]
    for match in _GROUPED.finditer(text):
        compact = _FORMATTING.sub("", match[0]).lower()
        is_date = _COMPACT.fullmatch(match[0]) or read_times(match[0])
        if SHORTEST_NUMBER <= len(compact) <= _LONGEST_NUMBER and not is_date:
            yield *match.span(), [(compact,), *_groups_of(compact, is_international=match[0].startswith("+"))]


def _groups_of(number: str, *, is_international: bool) -> Iterator[Spelling]:
    if len(number) in (_ISBN, _SHORT_ISBN) and _is_isbn(number):
        yield from _groups_of_isbn(number)
    if len(number) > _LONGEST_TELEPHONE:
        yield from (tuple(_cut(number, 4)), (number[:4], number[4:10], number[10:]))
        return
    if not number.isdigit():
        return
    national = number
    if is_international:
        country = 1 if number[0] in "17" else 2
        national = number[country:]
        yield from ((f"0{national}",), (national,))
    elif number[0] == "0":
        national = number[1:]
    written = (national, f"0{national}") if is_international else dict.fromkeys((number, national))
    yield from sorted((form for digits in written for form in _groups_of_telephone(digits)), key=len)


def _groups_of_telephone(number: str) -> Iterator[Spelling]:
    """Yield a number in two to four groups, the shortest lists first, or in pairs."""
    begun: list[Spelling] = [(number[:first],) for first in (3, 4, 2, 5)]
    for _ in range(_MAX_GROUPS - 1):
        longer = list[Spelling]()
        for groups in begun:
            rest = number[sum(map(len, groups)) :]
            if len(groups) == 1 or 2 <= len(rest) <= _LONGEST_GROUP:
                yield *groups, rest
            longer += [(*groups, rest[:length]) for length in (3, 2, 4) if len(rest) >= length + 2]
        begun = longer
    yield tuple(_cut(number, 2))


def _cut(text: str, length: int) -> Iterable[str]:
    return (text[start : start + length] for start in range(0, len(text), length))


def _is_isbn(number: str) -> bool:
    """Return whether the check digit of an ISBN is right."""
    if len(number) == _ISBN:
        return number.isdigit() and sum(int(n) * (1, 3)[at % 2] for at, n in enumerate(number)) % 10 == 0
    values = [10 if n == "x" else int(n) for n in number if n == "x" or n.isdigit()]
    return "x" not in number[:-1] and sum(n * (10 - at) for at, n in enumerate(values)) % 11 == 0


def _groups_of_isbn(number: str) -> Iterator[Spelling]:
    """Yield an ISBN with hyphens. The first digits determine the group's length; a publisher has up to seven."""
    before, rest = (number[:3],) * (len(number) == _ISBN), number[-_SHORT_ISBN:]
    longer = ("99", 4), ("9", 3), ("8", 2), ("6", 3)
    group = 5 if rest.startswith("999") else next((length for first, length in longer if rest.startswith(first)), 1)
    for end in range(group + 1, len(rest) - 1):
        if end - group <= 7:
            yield *before, rest[:group], rest[group:end], rest[end:-1], rest[-1]
