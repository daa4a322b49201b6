"""Reduces inflected forms of a word to one stem, by the language of the text and the script of the word.

Loose keys follow the stems of a text, once each; an index finds looser forms of a word by them. "set-up" has the key
`+setup`, `getUserName` has `+username` and `python3.11` has `+3.11`; "mesa", in a short text that counts as English but
may be Spanish, has `+mes`. `:gnurehcisrevneknark` is "Krankenversicherung", uninflected and reversed, so that the
prefix `:gnurehcisrev` finds all compounds that end in "Versicherung". No other token begins with either sign.
"""

import threading
import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache

import Stemmer

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.tokens import Piece, pairs
from engine.text.writing_systems import script_of

_OTHER_SCRIPTS = {
    "russian": "cyrillic",
    "serbian": "cyrillic",
    "greek": "greek",
    "arabic": "arabic",
    "persian": "arabic",
    "hindi": "devanagari",
    "nepali": "devanagari",
    "armenian": "armenian",
    "tamil": "tamil",
    "yiddish": "hebrew",
}
"""Languages not written in Latin script."""
_DEFAULTS = {
    "latin": "english",
    "cyrillic": "russian",
    "greek": "greek",
    "arabic": "arabic",
    "devanagari": "hindi",
    "armenian": "armenian",
    "tamil": "tamil",
}
"""Language whose rules stem words of a script in a text of another script."""

# Longest first; several may follow one another (사람들에게는).
_PARTICLES = (
    *("으로서", "으로써", "이라고"),
    *("에서", "으로", "에게", "한테", "께서", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로", "조차"),
    *("마저", "이나", "이랑", "하고", "라고"),
    *("은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만", "들", "랑", "나"),
)
# They ask what something is ("nix란"). Many Korean nouns end so, but few after a Latin word.
_TOPIC_PARTICLES = ("이란", "란")
# Endings that make a verb of a noun: 논의하다, 배포되다, 발생시키다. Only one follows a noun.
_KOREAN_VERBS = """
하 하는 하던 하고 하며 하면 하여 하지 하기 하자 하게 하려고 하려면 하니 하니까 하도록 하세요 하십시오 하다
하였다 하였고 하였으며 하였습니다 하겠다 하겠습니다 해 해서 해야 해도 해요 해줘 했다 했던 했고 했는데 했지만
했으며 했음 했어 했어요 했습니다 했을 합니다 합시다 한다 한다면 한다는 한 할 함
되 되는 되던 되고 되며 되면 되어 되지 되기 되도록 되었다 되었고 되었으며 되었습니다 되었음 되다 돼 돼서 돼야
됐다 됐고 됐으며 됐습니다 됐음 됩니다 된다 된다면 된다는 된 될 됨
시키는 시키고 시키며 시키면 시켜 시켜서 시켰다 시켰습니다 시킵니다 시킨다 시킨 시킬 시키다
입니다 이었다 였다 였습니다 이었습니다"""
_VERBS_BY_LENGTH = tuple(sorted(_KOREAN_VERBS.split(), key=len, reverse=True))
_SHORTEST_NOUN = 2
_VERB_ENDINGS = tuple(
    sorted(
        """
        기 려면 려고 으려면 으려고 면서 으면서 도록 거나 지만 습니다 십시오 으십시오 세요 으세요 는지 는데 다면
        아서 어서 아야 어야 아도 어도 았다 었다 았습니다 었습니다 니다 다 서
        """.split(),
        key=len,
        reverse=True,
    )
)
"""Endings of verbs, without the endings that many nouns also have: 고, 지, 면, 어."""
_OWN_FINALS = {"니다": "ᆸ", "다": "ᆫᆻ", "습니다": "ᆻ", "다면": "ᆫᆻ"}
"""Final consonants before an ending that may belong to it: 바꿉니다, 바꾼다, 바꿨습니다."""
_CONTRACTED = {"ᅮ": "ᅯ", "ᅵ": "ᅧ", "ᅩ": "ᅪ"}
_EXPANDED = {after: before for before, after in _CONTRACTED.items()}
"""Vowels of a verb, before and after they have merged with its ending: 바꾸, 바꿔; 고치, 고쳐; 나오, 나와."""
_FINALS = ("", "ᆫ", "ᆯ", "ᆷ", "ᆸ")
"""Final consonants that begin an ending: 바꾸다, 바꾼, 바꿀, 바꿈, 바꿉니다. Before some, a verb loses its own ㄹ."""
_VERBAL_FINALS = frozenset("ᆩᆪᆬᆭᆮᆰᆱᆲᆴᆵᆶᆹᆺᆽᆾᆿᇀᇁᇂ")
"""Final consonants that only native Korean words have, which show that one syllable is a verb: 찾, 넣, 읽."""
_NOMINAL_FINALS = frozenset("ᆫᆼ")
"""Final consonants that few verbs have, but many nouns before 기, "machine": 사진기, 비행기."""
_BEFORE_MACHINE = frozenset(
    """
    가습 건조 굴착 녹음 단말 면도 변압 복사 분무 살포 세척 세탁 소화 압축 예초 이야 인쇄 정수 제습 증폭 전화 청소 탈곡
    흡입
    """.split()
)
"""Other beginnings of nouns in 기."""
_ARABIC_ARTICLES = ("وال", "بال", "لل", "ال")
_SHORTEST_BARE = 3
_MAX_CACHED = 1 << 15

_lock = threading.Lock()

JOINED, REVERSED = "+", ":"
UNDECIDED = "undecided"
"""Language of a text that counts as English because its language could not be detected. Languages that are more likely
may follow, as in "undecided german": the text is stemmed by the rules of all. It may have compounds."""
COMPOUNDING = frozenset(
    ("danish", "dutch", "estonian", "finnish", "german", "hungarian", "norwegian", "swedish", UNDECIDED)
)
"""Languages that write a compound as one word."""

_SHORTEST_END = 4
"""Length of the shortest stem that is searched at the end of compounds."""
_SHORTEST_BEGINNING = 5
"""Length of the shortest stem that is searched at the beginning of compounds."""
_UMLAUTS = frozenset("äöü")
_SHORTEST_UMLAUT_END = 3
"""Length of the shortest stem of a word with an umlaut at the end of compounds: few other languages have such words."""
_FORMING_NOUNS = ("ung", "heit", "keit", "lich", "isch", "end", "ig", "ik")
"""Suffixes that Snowball's German rules remove from long words only."""
_SHORTEST_COMPOUND = _SHORTEST_END + 3
_LONGEST_COMPOUND = 40
_SHORTEST_JOINED, _LONGEST_JOINED = 4, 24
_MAX_PIECES = 6
"""Maximum number of pieces of an identifier that gets keys, including the whole."""
_LONGEST_SUFFIX = 3
"""Longest part after a dot that is joined: node.js is also written as one word, `os.replace` is not."""
_JOINERS = frozenset(("", "-", "_", "\u2010", "\u2011"))
_NUMBERED = lazy_pattern(r"[^\W\d_]{2,}(\d+(?:\.\d+)+)")
_LETTERS_AND_NUMBER = lazy_pattern(r"([^\W\d_]+)(\d+)[a-z]?")
_IRREGULAR = """
arise arose arisen, awake awoke awoken, become became, befall befell befallen, begin began begun, bend bent, beseech
besought, bind bound, bite bit bitten, bleed bled, blow blew blown, break broke broken, breed bred, bring brought,
build built, burn burnt, buy bought, catch caught, choose chose chosen, cling clung, come came, creep crept, deal
dealt, dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, dwell dwelt, eat ate eaten, fall
fell fallen, feed fed, feel felt, fight fought, find found, flee fled, fling flung, fly flew flown, forbid forbade
forbidden, foresee foresaw foreseen, forget forgot forgotten, forgive forgave forgiven, forsake forsook forsaken,
freeze froze frozen, get got gotten, give gave given, go went gone, grow grew grown, hang hung, hear heard, hide hid
hidden, hold held, keep kept, kneel knelt, know knew known, lead led, lean leant, leap leapt, learn learnt, leave
left, lend lent, light lit, lose lost, make made, mean meant, meet met, mislead misled, mistake mistook mistaken,
misunderstand misunderstood, mow mown, outgrow outgrew outgrown, overcome overcame, overhear overheard, oversee
oversaw overseen, oversleep overslept, overtake overtook overtaken, overthrow overthrew overthrown, pay paid, prove
proven, rebuild rebuilt, repay repaid, rewrite rewrote rewritten, ride rode ridden, ring rang rung, run ran, say said,
see saw seen, seek sought, sell sold, resell resold, send sent, resend resent, sew sewn, shake shook shaken, shave
shaven, shear shorn, shine shone, shoot shot, show shown, shrink shrank shrunk shrunken, sing sang sung, sink sank
sunk sunken, sit sat, slay slew slain, sleep slept, slide slid, sling slung, slink slunk, smell smelt, sow sown, speak
spoke spoken, speed sped, spell spelt, spend spent, spill spilt, spin spun, spit spat, spoil spoilt, spring sprang
sprung, stand stood, steal stole stolen, stick stuck, sting stung, stink stank stunk, stride strode stridden, strike
struck stricken, string strung, strive strove striven, swear swore sworn, sweep swept, swell swollen, swim swam swum,
swing swung, take took taken, teach taught, tear tore torn, tell told, think thought, throw threw thrown, tread trod
trodden, understand understood, undertake undertook undertaken, undo undid undone, redo redid redone, unwind unwound,
rewind rewound, uphold upheld, wake woke woken, wear wore worn, weave wove woven, weep wept, win won, withdraw
withdrew withdrawn, withhold withheld, withstand withstood, wring wrung, write wrote written, rise risen, bear borne,
lie lain, override overrode overridden, overwrite overwrote overwritten, foretell foretold, retell retold, rethink
rethought, retake retook retaken, partake partook partaken, behold beheld, breastfeed breastfed, outrun outran,
overeat overate overeaten, overdo overdid overdone, overspend overspent, misspell misspelt, inlay inlaid, mislay
mislaid, waylay waylaid, relay relaid, forego forewent foregone, man men, woman women, child children, foot feet,
tooth teeth, goose geese, mouse mice, louse lice, ox oxen, person people, penny pence, half halves, calf calves, knife
knives, wife wives, life lives, loaf loaves, shelf shelves, thief thieves, wolf wolves, elf elves, scarf scarves, hoof
hooves, self selves, yourself yourselves, bookshelf bookshelves, housewife housewives, grandchild grandchildren,
stepchild stepchildren, salesman salesmen, fireman firemen, policeman policemen, businessman businessmen, gentleman
gentlemen, fisherman fishermen, chairman chairmen, craftsman craftsmen, spokesman spokesmen, foreman foremen, freshman
freshmen, postman postmen, workman workmen, snowman snowmen, policewoman policewomen, businesswoman businesswomen,
saleswoman saleswomen, forefoot forefeet, eyetooth eyeteeth, dormouse dormice, titmouse titmice, analysis analyses,
axis axes, crisis crises, diagnosis diagnoses, ellipsis ellipses, emphasis emphases, hypothesis hypotheses, neurosis
neuroses, oasis oases, parenthesis parentheses, synopsis synopses, synthesis syntheses, thesis theses, criterion
criteria, phenomenon phenomena, automaton automata, ganglion ganglia, addendum addenda, bacterium bacteria, curriculum
curricula, datum data, erratum errata, forum fora, memorandum memoranda, millennium millennia, ovum ova, spectrum
spectra, stratum strata, symposium symposia, alumnus alumni, bacillus bacilli, cactus cacti, focus foci, fungus fungi,
genus genera, locus loci, nucleus nuclei, radius radii, stimulus stimuli, syllabus syllabi, terminus termini, torus
tori, modulus moduli, uterus uteri, corpus corpora, vertex vertices, vortex vortices, apex apices, appendix
appendices, matrix matrices, index indices, codex codices, helix helices, schema schemata, stigma stigmata, stoma
stomata, genie genii, seraph seraphim, bad worse worst, far farther farthest,
armour armor, behaviour behavior, colour color, endeavour endeavor, favour favor, favourite favorite, flavour flavor,
glamour glamor, harbour harbor, honour honor, humour humor, labour labor, neighbour neighbor, neighbourhood
neighborhood, odour odor, parlour parlor, rigour rigor, rumour rumor, saviour savior, savour savor, savoury savory,
splendour splendor, tumour tumor, vapour vapor, vigour vigor, calibre caliber, centre center, fibre fiber, litre liter,
lustre luster, manoeuvre maneuver, meagre meager, metre meter, sombre somber, spectre specter, theatre theater, defence
defense, licence license, offence offense, practise practice, pretence pretense, analogue analog, catalogue catalog,
dialogue dialog, programme program, cancelled canceled, cancelling canceling, counsellor counselor, dialled dialed,
fuelled fueled, jeweller jeweler, jewellery jewelry, labelled labeled, labelling labeling, levelled leveled, levelling
leveling, marvellous marvelous, modelled modeled, modelling modeling, signalled signaled, signalling signaling,
totalled totaled, travelled traveled, traveller traveler, travelling traveling, woollen woolen, enrol enroll, enrolment
enrollment, fulfil fulfill, instalment installment, skilful skillful, wilful willful, ageing aging, aluminium aluminum,
anaemia anemia, anaesthetic anesthetic, archaeology archeology, artefact artifact, diarrhoea diarrhea, doughnut donut,
draught draft, encyclopaedia encyclopedia, foetus fetus, grey gray, haemoglobin hemoglobin, judgement judgment,
leukaemia leukemia, mould mold, moustache mustache, oestrogen estrogen, paediatric pediatric, plough plow, pyjamas
pajamas, sceptic skeptic, sceptical skeptical, smoulder smolder, sulphur sulfur, yoghurt yogurt
"""
"""English words with forms or British and American spellings that no rule reduces to one stem. Left out: forms that are
also other words ("ground", "tyre").
"""
_VERB_IN_IZE = lazy_pattern(r"(\w{3,}[iy])([sz])(e[drs]?|ers|ing|ations?)")
_AMBIGUOUS = frozenset("indices lives overate theses vertices vortices".split())
"""Irregular forms with the stem of another word: by the stem of "indices", "index" would find "indicate"."""


class Stems(dict[str, str]):
    """Cache of folded stems by lower-case word, for texts of one language."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, root: str) -> str:
        if len(self) >= _MAX_CACHED:
            self.clear()
        stem = self[root] = _stem(root, self._language)
        return stem


_by_language: dict[str, Stems] = {}


def counted_as(language: str) -> str:
    """Return the language itself, or English for an undecided one."""
    return "english" if language.startswith(UNDECIDED) else language


def rules_of(language: str) -> tuple[str, ...]:
    """Return the languages whose rules stem a text: its own, or for an undecided one English and the likelier ones."""
    undecided, *likelier = language.split(" ")
    return counted_as(undecided), *likelier


def has_compounds(language: str) -> bool:
    """Return whether the last part of a compound is found in texts of `language`."""
    _, *likelier = rules_of(language)
    return not COMPOUNDING.isdisjoint(likelier or (language,))


def stems_of(language: str) -> Stems:
    """Return the stems of words in texts of `language` (a Snowball name, "" for unknown), used as
    `stems_of(language)[word]`.

    A word in another script is stemmed by the usual language of that script. Korean words lose their particles.
    Numbers, codes and words in texts of unknown languages are only folded: Russian rules would damage a Ukrainian text.
    """
    language = counted_as(language)
    return _by_language.get(language) or _by_language.setdefault(language, Stems(language))


def forms_of(root: str, language: str) -> tuple[str, ...]:
    """Return the forms of a query word whose stems are searched, beginning with the word itself.

    By Snowball's rules for Arabic, a word with an article, or with a preposition and the article, has another stem than
    without; the index has the form in the notes.
    """
    if language != "arabic" or script_of(root[0]) != "arabic":
        return (root,)
    article = next((before for before in _ARABIC_ARTICLES if root.startswith(before)), "")
    bare = root[len(article) :] if len(root) - len(article) >= _SHORTEST_BARE else root
    return (root, bare, *(before + bare for before in _ARABIC_ARTICLES))


def irregular_forms(root: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return irregular forms and the other spelling of an English word: as stems, and as words if another word has the
    same stem.
    """
    stems = stems_of("english")
    forms = _irregular(root[:1]).get(root if root in _AMBIGUOUS else stems[root], ())
    found = dict.fromkeys(stems[form] for form in forms if form not in _AMBIGUOUS)
    if verb := _VERB_IN_IZE.fullmatch(root):
        found[stems[verb[1] + ("s" if verb[2] == "z" else "z") + verb[3]]] = None
    found.pop(stems[root], None)
    return tuple(found), tuple(form for form in forms if form in _AMBIGUOUS and form != root)


@lru_cache(maxsize=32)
def _irregular(letter: str) -> dict[str, list[str]]:
    """Return all forms of each irregular English word with a form that begins with `letter`, by the stem of each form,
    or by the form itself if its stem is ambiguous.

    A stem begins like its word, and stemming all words takes a third of a keyword search.
    """
    stems = stems_of("english")
    words = f" {' '.join(_IRREGULAR.split())}".split(",")
    begun = (word.split() for word in words if f" {letter}" in word)
    return {form if form in _AMBIGUOUS else stems[form]: word for word in begun for form in word}


def clear_stem_caches() -> None:
    """Empty the caches of word stems."""
    for stems in list(_by_language.values()):
        stems.clear()


def _stem(root: str, language: str) -> str:
    script = script_of(root[0]) if root.isalpha() or not root.isascii() else ""
    if script == "hangul":
        return _without_particles(root)
    stemmer = _stemmer_for(script, language)
    if stemmer is None:
        return fold(root)
    with _lock:  # a Snowball stemmer has one buffer
        stemmed = stemmer.stemWord(root)
    return fold(stemmed) or fold(root)


@cache
def _stemmer_for(script: str, language: str) -> Stemmer.Stemmer | None:
    if language and _OTHER_SCRIPTS.get(language, "latin") != script:
        language = _DEFAULTS.get(script, "")
    return Stemmer.Stemmer(language, 0) if language in Stemmer.algorithms() else None


def _without_particles(word: str) -> str:
    while particle := _ending(word, _PARTICLES, _SHORTEST_NOUN):
        word = word[: -len(particle)]
    return word.removesuffix(_ending(word, _VERBS_BY_LENGTH, _SHORTEST_NOUN))


def is_korean_ending(word: str) -> bool:
    """Return whether a Korean word after one of another script consists only of particles: `API를`, `merge했다`."""
    while particle := _ending(word, _TOPIC_PARTICLES + _PARTICLES, 0):
        word = word[: -len(particle)]
    return not word.removesuffix(_ending(word, _VERBS_BY_LENGTH, 0))


def _ending(word: str, endings: tuple[str, ...], least: int) -> str:
    """Return the longest of `endings` that leaves at least `least` syllables; "" if none does."""
    return next((ending for ending in endings if word.endswith(ending) and len(word) - len(ending) >= least), "")


def korean_phrases(stem: str) -> Iterator[tuple[str, ...]]:
    """Yield phrases of the `words` stream for a stem: within longer words, as two words, and as other forms of a verb.

    That stream has overlapping pairs of syllables, then the last syllable of a word alone.
    """
    if len(stem) < _SHORTEST_NOUN:
        return
    for form in dict.fromkeys(_verb_forms(stem)) or (stem,):
        if len(form) > 1:
            yield tuple(pairs(form)[:-1])
        elif unicodedata.normalize("NFD", form)[-1] in _VERBAL_FINALS:
            yield (f"{form}*",)
        else:
            yield tuple(pairs(stem)[:-1])
    for at in range(_SHORTEST_NOUN, len(stem) - 1):
        yield (*pairs(stem[:at]), *pairs(stem[at:])[:-1])


def _verb_forms(word: str) -> Iterator[str]:
    """Yield the beginnings of all forms of a verb, as `바꾸`, `바꿉` and `바꿔` of 바꾸기; none for other words."""
    ending = _ending(word, _VERB_ENDINGS, 1)
    stem = word.removesuffix(ending)
    if not ending or script_of(stem[-1]) != "hangul" or not unicodedata.name(stem[-1]).startswith("HANGUL SYLLABLE"):
        return
    before, letters = stem[:-1], unicodedata.normalize("NFD", stem[-1])
    initial, vowel, final = letters[0], letters[1], letters[2:]
    has_past = final == "ᆻ" or ending == "서"
    if final and final in _OWN_FINALS.get(ending, ""):
        final = ""
    elif ending == "니다" or (ending == "서" and (final or vowel not in _EXPANDED)):
        return
    if ending == "기" and (final in _NOMINAL_FINALS or stem[-2:] in _BEFORE_MACHINE):
        return
    if has_past:
        vowel = _EXPANDED.get(vowel, vowel)
    if final and final != "ᆯ":
        yield stem
        return
    yield from (before + _syllable(initial, vowel, other) for other in _FINALS)
    if not final and (contracted := _CONTRACTED.get(vowel)):
        yield from (before + _syllable(initial, contracted, other) for other in ("", "ᆻ"))


def _syllable(*letters: str) -> str:
    return unicodedata.normalize("NFC", "".join(letters))


def uninflected(root: str, stem: str) -> str:
    """Return the stem of a word with the suffixes that form nouns and adjectives.

    German rules remove these from compounds but not from their shorter last words: "Stromrechnung" has the stem
    "stromrechn", "Rechnung" has "rechnung".
    """
    whole = fold(root)
    while suffix := next((suffix for suffix in _FORMING_NOUNS if whole.startswith(stem + suffix)), ""):
        stem += suffix
    return stem


def ending_key(root: str, stem: str) -> str:
    """Return the key by which the last part of a possible compound is found; "" for a word that isn't a compound."""
    stem = uninflected(root, stem)
    fits = _SHORTEST_COMPOUND <= len(stem) <= _LONGEST_COMPOUND and stem.isalpha() and script_of(stem[0]) == "latin"
    return REVERSED + stem[::-1] if fits else ""


def keys_in_compounds(root: str, stem: str) -> Iterator[str]:
    """Yield the prefixes of keys and of stems by which compounds with a word at their end or beginning are found."""
    if stem.isalpha():
        last = uninflected(root, stem)
        if len(last) >= (_SHORTEST_END if _UMLAUTS.isdisjoint(root) else _SHORTEST_UMLAUT_END):
            yield f"{REVERSED}{last[::-1]}*"
        if len(stem) >= _SHORTEST_BEGINNING:
            yield f"{stem}*"


def numbered_keys(root: str) -> Sequence[str]:
    """Return the keys by which the letters of `urllib3` and the digits of `AB123456` are found; none for most words."""
    match = None if root.isalpha() else _LETTERS_AND_NUMBER.fullmatch(root)
    parts = match.groups() if match else ()
    return [JOINED + part for part in parts if _SHORTEST_JOINED <= len(part) <= _LONGEST_JOINED]


def joined_keys(word: str, word_pieces: Sequence[Piece]) -> Iterator[tuple[int, int, str]]:
    """Yield keys for neighbouring parts of an identifier or hyphenated word, written as one word, each with its range
    within the word.
    """
    if len(word_pieces) > _MAX_PIECES:
        return
    whole = word_pieces[0].token
    if "." in whole and (numbered := _NUMBERED.fullmatch(whole)):
        yield word_pieces[0].end - len(numbered[1]), word_pieces[0].end, JOINED + numbered[1]
        return
    last, outer = word_pieces[1], whole
    for part in word_pieces[2:]:
        if part.start < last.end:  # the first part of a camelCase word, which is a part itself
            last, outer = part, last.token
            continue
        gap = word[last.end : part.start]
        if gap in _JOINERS or (gap == "." and len(part.token) <= _LONGEST_SUFFIX and part is word_pieces[-1]):
            joined = last.token + part.token
            if _SHORTEST_JOINED <= len(joined) <= _LONGEST_JOINED and not joined.isdigit() and joined != outer:
                yield last.start, part.end, JOINED + joined
        last = part
