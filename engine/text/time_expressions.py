"""Finds times named in a query, such as "8 May 2023", "in May", "last spring" or "three weeks ago".

Words of seven European languages are known, and numeric dates of all languages, such as 2023年5月8日.
Seasons are of the northern hemisphere.
"""

import re
from collections.abc import Callable, Collection, Iterator
from datetime import MAXYEAR, MINYEAR, date, timedelta
from functools import cache, lru_cache
from string import ascii_lowercase
from unicodedata import normalize

import msgspec

from engine.base import lazy_pattern
from engine.text.languages import detect_language

_MAX_CHARACTERS = 2000
"""Maximum number of characters that are read; a longer text is a pasted passage."""
_ANY_YEAR = 2000
"""Year used for a time without a year: a leap year."""
_DAY = timedelta(days=1)


class TimeExpression(msgspec.Struct, frozen=True):
    """A time named in a text, as its first and last day."""

    text: str
    """The words of the text that name the time."""
    first: date
    last: date
    yearly: bool = False
    """Whether no year is named, so that it means these days of every year; then the years of `first` and `last` have
    no meaning.
    """

    def in_year(self, year: int) -> tuple[date, date]:
        """Return the first and last day of a yearly time that begins in this year."""
        return _in_year(self.first, year), _in_year(self.last, year + self.last.year - self.first.year)

    def days_from(self, first: date, last: date) -> int:
        """Return the number of days between this time and another span; 0 if they have a day in common."""
        if not self.yearly:
            return max(0, (self.first - last).days, (first - self.last).days)
        years = {first.year, last.year}
        return min(max(0, (a - last).days, (first - b).days) for year in years for a, b in _adjacent_years(self, year))


@lru_cache(512)
def _adjacent_years(time: TimeExpression, year: int) -> tuple[tuple[date, date], ...]:
    """Return the days of a yearly time in this year, the year before and the year after."""
    longer = time.last.year - time.first.year
    years = [
        nearby_year
        for nearby_year in (year - 1, year, year + 1)
        if nearby_year >= MINYEAR and nearby_year + longer <= MAXYEAR
    ]
    return tuple(
        (_in_year(time.first, nearby_year), _in_year(time.last, nearby_year + longer)) for nearby_year in years
    )


def read_times(text: str, today: date | None = None) -> tuple[TimeExpression, ...]:
    """Return the distinct times that a query names, in order. Never raises.

    Relative times, such as "yesterday", count from `today`. A date such as 8/5/2023 is read in both ways.
    """
    return _read(text, date.today() if today is None else today, relative=True)


def read_dates(text: str) -> tuple[TimeExpression, ...]:
    """Return the days, months and years that a title or a passage names, without relative times. Never raises."""
    return tuple(found for found in _read(text, date(_ANY_YEAR, 1, 1), relative=False) if not found.yearly)


def month_names(month: int, languages: Collection[str]) -> list[str]:
    """Return the folded names of a month (1 to 12): in English, its English abbreviation, then in other languages."""
    tables = zip(_MONTH_LANGUAGES, (*_MONTH_NAMES.split("\n")[1:-1], *_ABBREVIATIONS.split("\n")[1:-1]), strict=True)
    names = [(language, line.split()[month - 1]) for language, line in tables]
    own = [name for language, name in names if language == "english"]
    return [*own, *(name for language, name in names if language in languages and language != "english")]


def _in_year(day: date, year: int) -> date:
    try:
        return day.replace(year=year)
    except ValueError:
        return date(year, 2, 28)


# --- Words, without accents: per language English, German, French, Spanish, Italian, Portuguese, Dutch ----------------

_MONTH_LANGUAGES = ("english", "german", "french", "spanish", "italian", "portuguese", "dutch", "english", "german")
"""The languages of the lines of `_MONTH_NAMES`, then of `_ABBREVIATIONS`."""
_MONTH_NAMES = """
january february march april may june july august september october november december
januar februar marz april mai juni juli august september oktober november dezember
janvier fevrier mars avril mai juin juillet aout septembre octobre novembre decembre
enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre
janeiro fevereiro marco abril maio junho julho agosto setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december
"""
_ABBREVIATIONS = """
jan feb mar apr may jun jul aug sep oct nov dec
janner feb mrz apr mai jun jul aug sept okt nov dez
"""
_WEAK = "may march mars mai mayo marco mei julio"
"""Names of months that are mostly other words, unless a number or one of the words of `_BEFORE_WEAK`
is next to them.
"""
_BEFORE_WEAK = (
    "in im en em of last since until till by before after from during between vom seit bis vor nach depuis desde"
)
PREPOSITIONS = frozenset(_BEFORE_WEAK.split())
_WEEKDAY_NAMES = """
monday tuesday wednesday thursday friday saturday sunday
montag dienstag mittwoch donnerstag freitag samstag sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miercoles jueves viernes sabado domingo
lunedi martedi mercoledi giovedi venerdi sabato domenica
segunda-feira terca-feira quarta-feira quinta-feira sexta-feira sabado domingo
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
"""
_SEASON_NAMES = """
spring summer autumn winter
fruhling sommer herbst winter
fruhjahr sommer fall winter
printemps ete automne hiver
primavera verano otono invierno
primavera estate autunno inverno
primavera verao outono inverno
lente zomer herfst winter
voorjaar zomer najaar winter
"""
_WEAK_SEASONS = "spring fall ete estate lente"
_BEFORE_SEASON = "in im en em au of this cet since during until before after cette op next nel last letzten dans"
_CHRISTMAS = "christmas weihnachten noel navidad natale natal kerst kerstmis"
_DAYS_AGO = {
    0: "today heute aujourd'hui hoy oggi hoje vandaag 今天 今日 오늘",
    1: "yesterday gestern hier ayer ieri ontem gisteren 昨天 昨日 어제",
    2: "vorgestern avant-hier anteayer eergisteren 前天 一昨日",
}
_UNITS = {
    "d": "day days tag tage tagen jour jours dia dias giorno giorni dag dagen",
    "w": "week weeks woche wochen semaine semaines semana semanas settimana settimane weken",
    "m": "month months monat monate monaten mois mes meses mese mesi maand maanden",
    "y": "year years jahr jahre jahren an ans annee ano anos anno anni jaar jaren",
}
_NUMBERS = {
    1: "a an one ein eine einem einer einen un une uno una um uma een",
    2: "two zwei deux dos due dois duas twee",
    3: "three drei trois tres tre drie",
    4: "four vier quatre cuatro quattro quatro",
    5: "five funf cinq cinco cinque vijf",
    6: "six sechs seis sei zes",
    7: "seven sieben sept siete sette sete zeven",
    8: "eight acht huit ocho otto oito",
    9: "nine neun neuf nueve nove negen",
    10: "ten zehn dix diez dieci dez tien",
}
_LAST_BEFORE = r"last|letzte[nrsm]?|vorige[nrsm]?|vergangene[nrsm]?|afgelopen"
_LAST_AFTER = r"passee?|derniere?|pasad[oa]|scors[oa]|passad[oa]"
_THIS = r"this|diese[nrsm]?|dies|cett?e?|est[ea]|quest[oa]|nest[ea]|dit|deze"
_EARLY = (
    r"early|(?:the )?(?:beginning|start|first days) of|anfang|debut|(?:principios|inicios?) de|inizio(?: di)?|begin"
)
_MIDDLE = r"mid|(?:the )?middle of|mitte|mi|mediados de|meta(?: di)?|meados de|midden|half"
_LATE = r"late|(?:the )?(?:end|last days|last third|last week) of|ende|fin|finales de|fine(?: di)?|fim de|final de|eind"
_PARTS = {"early": (1, 10), "middle": (11, 20), "late": (21, 31)}
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()


def _numbered(table: str) -> dict[str, int]:
    return {name: at for line in table.strip().splitlines() for at, name in enumerate(line.split())}


def _inverted(table: dict[int, str] | dict[str, str]) -> dict[str, int | str]:
    return {name: meaning for meaning, names in table.items() for name in names.split()}


_MONTHS = {name: at + 1 for name, at in (_numbered(_ABBREVIATIONS) | _numbered(_MONTH_NAMES) | {"maerz": 2}).items()}
_WEEKDAYS = _numbered(_WEEKDAY_NAMES) | {"sonnabend": 5}
_SEASONS = _numbered(_SEASON_NAMES)
_AGO = _inverted(_DAYS_AGO)
_UNIT_OF = _inverted(_UNITS)
_NUMBER_OF = _inverted(_NUMBERS)
_NAMES = " ".join((*_MONTHS, *_WEEKDAYS, *_SEASONS, *_AGO, *_UNIT_OF, _CHRISTMAS))
_TIME_WORDS = frozenset(_NAMES.replace("-", " ").replace("'", " ").split())
"""A text names a time only if it contains one of these words, or a digit."""

_SHORT_NAMES = frozenset(_ABBREVIATIONS.split())
_LONG_NAMES: dict[str, tuple[str, int]] = {
    **{name: ("season", season) for name, season in _SEASONS.items()},
    **{name: ("month", month) for name, month in _MONTHS.items() if name not in _SHORT_NAMES},
    **dict.fromkeys(_CHRISTMAS.split(), ("christmas", 0)),
}
"""Names that are recognised before they are completely typed, each with its meaning."""
_BEGUN = lazy_pattern(
    rf"\b(?:in|im|en|em|during|since|until|seit|bis|depuis|desde|{_EARLY}|{_MIDDLE}|{_LATE})[ -](?:the )?"
    r"\Z"
)
"""The words before a time, at the end of a query without its last word."""
_SHORTEST_BEGUN = 3
_BEGINNINGS = frozenset(name[:_SHORTEST_BEGUN] for name in _LONG_NAMES)
_LONGEST_BEGUN = 60
"""Characters before the last word of a query in which a word before a time is searched."""

# --- Patterns ---------------------------------------------------------------------------------------------------------

_Reader = Callable[[re.Match[str], date], Iterator[tuple[date, date, bool]]]
_YEAR = r"(?P<year>(?:19|20)[0-9]{2})(?![\w-]|[.,][0-9])"
_OF = r"(?:of|de|del|di|do|du|von|,|')"


def _alternatives(*names: str) -> str:
    return "|".join(sorted((re.escape(name) for text in names for name in text.split()), key=len, reverse=True))


_Pattern = tuple[str, _Reader]
_PART_OF_MONTH = rf"(?:(?:(?P<early>{_EARLY})|(?P<middle>{_MIDDLE})|(?P<late>{_LATE}))[ -])?"


@cache
def _patterns(relative: bool) -> tuple[tuple[re.Pattern[str], _Reader], ...]:
    """Return the patterns in order of precedence; patterns that depend on today's date only if `relative`."""
    strong = " ".join(name for name in _MONTH_NAMES.split() if name not in _WEAK.split())
    patterns = _dates(strong)
    if relative:
        patterns += _months_without_year(strong)
    patterns += [
        (rf"\b(?P<season>{_alternatives(*_SEASONS)}) (?:{_OF} )?{_YEAR}", _season),
        (rf"\b(?:{_alternatives(_CHRISTMAS)})(?: (?:days )?(?:{_OF} )?{_YEAR})", _christmas),
    ]
    if relative:
        patterns += _seasons_without_year() + _relative_times()
    return tuple((re.compile(pattern), reader) for pattern, reader in patterns)


def _dates(strong: str) -> list[_Pattern]:
    """Return patterns of days, and of months with a year. `strong`: names that can only be months."""
    months = rf"(?P<month>{_alternatives(*_MONTHS)})\b"
    later_year = rf"(?:\.? ?{_OF}? ?{_YEAR})"
    # "3 may fail" names no day.
    joined = rf"(?:(?:st|nd|rd|th|er|\.|º|°) ?(?:{_OF} )?| ?{_OF} | ?(?!(?:may|march) [a-z]))"
    end = r"(?=$|[\s,;:?!)\]]|\.(?![0-9]))"
    return [
        (r"(?<![\w.-])(?P<year>[0-9]{4})([-/._])(?P<month>[01]?[0-9])\2(?P<day>[0-3]?[0-9])(?![0-9]|[-.][0-9])", _days),
        (
            r"(?P<year>[0-9]{4}) ?[年년] ?(?:(?P<month>[0-9]{1,2}) ?[月월](?: ?(?P<day>[0-9]{1,2}) ?[日号號일])?)?",
            _days,
        ),
        (r"(?<![0-9])(?P<month>[0-9]{1,2}) ?[月월](?: ?(?P<day>[0-9]{1,2}) ?[日号號일])?", _days),
        (
            r"(?<![\w.-])(?P<a>[0-3]?[0-9])([./-])(?P<b>[0-3]?[0-9])\2(?P<year>(?:19|20)[0-9]{2})(?![\w-]|[.,][0-9])",
            _either_way,
        ),
        (r"(?<![\w.-])(?P<year>(?:19|20)[0-9]{2})-(?P<month>0[1-9]|1[0-2])(?![\w-]|[.,][0-9])", _days),
        (rf"(?<![\w.,:])(?P<day>[0-3]?[0-9]){joined}{months}{later_year}?", _days),
        (rf"\b(?P<word>{_alternatives(*_ORDINALS)}) of {months}{later_year}?", _days),
        (rf"\b{months}\.? (?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?,? {_YEAR}", _days),
        (
            rf"\b(?P<month>{_alternatives(strong, 'jan feb mar apr jun jul aug sep sept oct nov dec')})"
            rf"\.? (?:the )?(?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?{end}",
            _days,
        ),
        (
            rf"\b(?P<month>{_alternatives(_WEAK)}) (?:the )?(?P<day>[0-3]?[0-9])"
            r"(?:(?:st|nd|rd|th)\b|(?= ?(?:$|[,;:?!.)])))",
            _days,
        ),
        (rf"\b{_PART_OF_MONTH}{months}{later_year}", _days),
    ]


def _months_without_year(strong: str) -> list[_Pattern]:
    return [
        (
            rf"\b{_PART_OF_MONTH}(?:(?P<last>{_LAST_BEFORE}) )?(?P<month>{_alternatives(strong)})\b"
            rf"(?: (?P<last_after>{_LAST_AFTER})\b)?",
            _days,
        ),
        (rf"\b(?P<last>{_LAST_BEFORE}) (?P<month>{_alternatives(_WEAK)})\b(?! {_YEAR})", _days),
        (
            rf"\b(?:(?:{_alternatives(_BEFORE_WEAK)}) |(?:{_EARLY}|{_MIDDLE}|{_LATE})[ -])"
            rf"(?P<month>{_alternatives(_WEAK)})\b(?! {_YEAR})",
            _days,
        ),
    ]


def _seasons_without_year() -> list[_Pattern]:
    seasons = " ".join(name for name in _SEASONS if name not in _WEAK_SEASONS.split())
    return [
        (rf"\b(?P<last>{_LAST_BEFORE}) (?P<season>{_alternatives(*_SEASONS)})\b", _season),
        (rf"\b(?P<season>{_alternatives(*_SEASONS)}) (?P<last>{_LAST_AFTER})\b", _season),
        (rf"\b(?:{_alternatives(_BEFORE_SEASON)}) (?:the |l')?(?P<season>{_alternatives(_WEAK_SEASONS)})\b", _season),
        (rf"\b(?P<season>{_alternatives(seasons)})\b", _season),
        (rf"\b(?:{_alternatives(_CHRISTMAS)})\b", _christmas),
    ]


def _relative_times() -> list[_Pattern]:
    """Return patterns of numbers of days, weeks, months and years, of weekdays, and of years after a preposition."""
    count = rf"(?P<count>[0-9]{{1,3}}|{_alternatives(*_NUMBER_OF)})"
    unit = rf"(?P<unit>{_alternatives(*_UNIT_OF)})"
    return [
        (rf"\b{count} {unit} (?:ago|fa|geleden|atras)\b", _ago),
        (rf"\b(?:vor|il y a|hace|ha) {count} {unit}\b", _ago),
        (rf"\b(?:(?P<last>{_LAST_BEFORE})|{_THIS}) {unit}\b", _unit),
        (rf"\b(?:la |l'|el |il |o |a )?{unit} (?P<last>{_LAST_AFTER})\b", _unit),
        (rf"\b(?:on|last|am|{_LAST_BEFORE}|le|el|op|na|no|di) (?P<weekday>{_alternatives(*_WEEKDAYS)})\b", _weekday),
        (rf"\b(?P<weekday>{_alternatives(*_WEEKDAYS)}) (?:{_LAST_AFTER})\b", _weekday),
        (
            rf"(?P<word>(?<!\w)(?:{_alternatives(*(name for name in _AGO if name.isascii()))})(?!\w)"
            rf"|{_alternatives(*(name for name in _AGO if not name.isascii()))})",
            _days_ago,
        ),
        (
            r"\b(?:in|during|since|from|of|year|im jahre?|jahr|seit|en|em|nel|dal|depuis|desde|sinds|annee?|ano) "
            + _YEAR,
            _days,
        ),
    ]


@lru_cache(8)  # a search reads the times of its query up to four times
def _read(text: str, today: date, *, relative: bool) -> tuple[TimeExpression, ...]:
    text = normalize("NFC", text[:_MAX_CHARACTERS])
    plain = text.lower() if text.isascii() else "".join(map(_plain, text))
    if relative:
        plain += _rest_of_time(plain)
    if not _may_name_time(plain):
        return ()
    expressions: list[tuple[int, TimeExpression]] = []
    for pattern, reader in _patterns(relative):
        for match in list(pattern.finditer(plain)):
            try:
                spans = list(reader(match, today))
            except (ValueError, OverflowError):
                continue  # 2026-02-30, or beyond the calendar
            begin, end = match.span()
            expressions += [
                (begin, TimeExpression(text[begin:end].strip(), first, last, yearly)) for first, last, yearly in spans
            ]
            if spans:
                plain = plain[:begin] + "\0" * (end - begin) + plain[end:]
    by_span = {(each.first, each.last, each.yearly): each for _, each in sorted(expressions, key=lambda pair: pair[0])}
    return tuple(by_span.values())


def _plain(character: str) -> str:
    """Return a character in lower case; Latin letters without accents, and a straight apostrophe."""
    if character == "\u2019":
        return "'"
    return normalize("NFD", character)[0].lower()[0] if character < "\u0250" else character


def _rest_of_time(plain: str) -> str:
    """Return the missing letters of a month, season or Christmas at the end, if the typed ones allow
    only one meaning.
    """
    before = plain.rstrip(ascii_lowercase)
    word = plain[len(before) :]
    names = [name for name in _LONG_NAMES if name.startswith(word)] if word[:_SHORTEST_BEGUN] in _BEGINNINGS else []
    if word in names or len({_LONG_NAMES[name] for name in names}) != 1 or not _BEGUN.search(before[-_LONGEST_BEGUN:]):
        return ""
    return names[0][len(word) :]


def _may_name_time(plain: str) -> bool:
    if re.search("[0-9]", plain) or not _TIME_WORDS.isdisjoint(re.findall(r"[^\W\d_]+", plain)):
        return True
    return not plain.isascii() and any(word in plain for word in _AGO if not word.isascii())


# --- Readers: what each match means -----------------------------------------------------------------------------------


def _group(match: re.Match[str], name: str) -> str | None:
    return match[name] if name in match.re.groupindex else None


def _days(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    """Yield the day, the month (or a third of it), or the year that a match names."""
    year, month, day = (_group(match, name) for name in ("year", "month", "day"))
    word = _group(match, "word")
    in_year = _ANY_YEAR if year is None else int(year)
    if month is None:
        yield date(in_year, 1, 1), date(in_year, 12, 31), False
        return
    number = int(month) if month.isdecimal() else _MONTHS[month]
    yearly = year is None
    if _group(match, "last") or _group(match, "last_after"):
        in_year, yearly = today.year - (number >= today.month), False
    if day or word:
        exact = date(in_year, number, int(day) if day else _ORDINALS.index(word or "") + 1)
        yield exact, exact, yearly
        return
    first, last = next((days for part, days in _PARTS.items() if _group(match, part)), (1, 31))
    end = _month_end(in_year, number)
    yield date(in_year, number, first), min(end, end.replace(day=min(last, end.day))), yearly


def _either_way(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    """Yield the readings of two numbers: as day and month, and with slashes also as month and day."""
    first, second = int(match["a"]), int(match["b"])
    orders = ((first, second), (second, first)) if match[2] == "/" else ((first, second),)
    for day, month in orders:
        if 1 <= month <= 12 and 1 <= day <= _month_end(int(match["year"]), month).day:
            exact = date(int(match["year"]), month, day)
            yield exact, exact, False


def _season(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    season = _SEASONS[match["season"]]
    if year := _group(match, "year"):
        yield (*_season_days(int(year), season), False)
    elif _group(match, "last"):
        ended = (_season_days(today.year - back, season) for back in range(3))
        first, last = next(span for span in ended if span[1] < today)
        yield first, last, False
    else:
        yield (*_season_days(_ANY_YEAR, season), True)


def _season_days(year: int, season: int) -> tuple[date, date]:
    """Return the first and last day of a season; a winter is named by the year in which it begins."""
    first = 3 * season + 3
    return date(year, first, 1), _month_end(year + first // 12, (first + 1) % 12 + 1)


def _christmas(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    year = int(_group(match, "year") or _ANY_YEAR)
    yield date(year, 12, 24), date(year, 12, 26), _group(match, "year") is None


def _ago(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    """Yield the span of "n units ago": exact for days, wider for weeks, months and years."""
    count = int(_NUMBER_OF.get(match["count"]) or match["count"])
    unit = str(_UNIT_OF[match["unit"]])
    if unit in "dw":
        day = today - count * (7 * _DAY if unit == "w" else _DAY)
        room = 3 * _DAY if unit == "w" else 0 * _DAY
        yield day - room, day + room, False
    else:
        yield (*period_around(_back(today, count, unit), unit), False)


def _unit(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    """Yield this or the last week, month or year."""
    unit = str(_UNIT_OF[match["unit"]])
    if unit != "d":
        yield (*period_around(_back(today, 1, unit) if _group(match, "last") else today, unit), False)


def _weekday(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    """Yield the last day with this name, today included."""
    day = today - (today.weekday() - _WEEKDAYS[match["weekday"]]) % 7 * _DAY
    yield day, day, False


def _days_ago(match: re.Match[str], today: date) -> Iterator[tuple[date, date, bool]]:
    if match["word"] == "hier" and detect_language(match.string) in ("german", "dutch"):
        return  # "here"
    day = today - int(_AGO[match["word"]]) * _DAY
    yield day, day, False


def _back(day: date, count: int, unit: str) -> date:
    """Return the day `count` weeks before, or the first day of the month `count` months or years before."""
    if unit == "w":
        return day - count * 7 * _DAY
    year, month = divmod(day.year * 12 + day.month - 1 - count * (12 if unit == "y" else 1), 12)
    return date(year, month + 1, 1)


def period_around(day: date, unit: str) -> tuple[date, date]:
    """Return the first and last day of the week, month or year that contains `day`."""
    if unit == "w":
        monday = day - day.weekday() * _DAY
        return monday, monday + 6 * _DAY
    if unit == "m":
        return day.replace(day=1), _month_end(day.year, day.month)
    return date(day.year, 1, 1), date(day.year, 12, 31)


def _month_end(year: int, month: int) -> date:
    return date(year + month // 12, month % 12 + 1, 1) - _DAY
