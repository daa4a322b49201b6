"""Looser forms of a query's terms: other spellings and forms that a text may have instead.

They are weaker evidence than the term itself. Each is a phrase of the `words` stream or of the `stems` stream; a last
token with `*` is a prefix.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice, pairwise, product
from typing import TYPE_CHECKING

import msgspec

from engine.base import lazy_pattern
from engine.text.folding import fold
from engine.text.number_forms import spellings_in
from engine.text.spelling import SHORTEST_NUMBER
from engine.text.stems import COMPOUNDING, JOINED, irregular_forms, keys_in_compounds, korean_phrases, stems_of
from engine.text.stopwords import unsearched_words
from engine.text.tokens import Piece, clusters, groups, pairs, pieces
from engine.text.tokens_and_stems import phrase_tokens
from engine.text.writing_systems import HANGUL, SYMBOL, UNSPACED, script_of, shape

if TYPE_CHECKING:
    from engine.text.parsed_query import QueryTerm

COMPOUND = lazy_pattern(r"[^\W\d_]{3,}(-[^\W\d_]{3,})+")
"""Matches words joined by hyphens; each of them is searched: texts write "boundary layer", "boundary-layer" and "the
layer at the boundary", and the index contains the parts of all. If function words leave a single one, as in
"too-large" and "read-only", the compound is searched as a whole, and the single part is a looser form.
"""
_MAX_FORMS = 64
_DIGITS_AND_LETTERS = lazy_pattern(r"([^\W\d_]+)(\d[\d.]*)|(\d[\d.]*)([^\W\d_]+[23]?)")
_CODE = lazy_pattern(r"([a-z]{1,4})(\d{3,12})([a-z]{0,2})")
"""Matches a number plate, a contract's number and the like in one word."""
_VERSION = lazy_pattern(r"\d+(?:\.\d+)+")
DECIMAL = lazy_pattern(r"\d+\.\d+")
"""Matches decimal numbers. Their parts alone, as in "5, 1", are a looser form of them."""
_HASH = lazy_pattern(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{4,40}")
_SHORT_HASHES = range(7, 13)
_ACRONYMS = range(2, 6)
"""Lengths of acronyms that are also written with full stops."""
_SHORTEST_ACRONYM = 3
"""Length of the shortest acronym that is also written without full stops: "U.S." is not "us"."""
_CONSONANTS = "[b-df-hj-np-tv-xz]"
_NO_VOWELS = lazy_pattern(rf"{_CONSONANTS}{{2,4}}")
"""Matches words that are mostly abbreviations: MSc, PhD, PDF."""
_PLURAL = lazy_pattern(rf"([A-Z]{{2,4}}|{_CONSONANTS}{{3}}|\w+[uU\d])s")
_SINGULAR = lazy_pattern(rf"{_CONSONANTS}{{2,4}}|\w+[u\d]")
"""Matches singulars whose plural s stemming doesn't remove: PDFs, menus, mp3s, 1990s."""
_GAPS = frozenset(("", " ", "\u00a0", "-", "."))
"""Matches the text between two words that may also be written as one."""

_SHORTEST_JOINED, _LONGEST_JOINED = 4, 24
_SHORTEST_BEGINNING, _SHORTEST_BEGUN = 5, 3
"""Length of the beginning that related words share."""
_DERIVING = frozenset(("", "czech", "finnish", "hungarian", "polish", "swedish", "turkish"))
"""Languages whose related words often have different stems: all without a stemmer, such as Ukrainian (""), and some
with many endings. In Danish, Dutch, German, Italian, Portuguese and Russian, beginnings find too much."""
_INFLECTED = ("latin", "cyrillic")
"""Scripts of words that change at their ends."""
_SHORTEST_BARE, _LONGEST_SUFFIX = 3, 5
_SHORTEST_VERB = 3
"""Length of the shortest verb without its ending."""
_FRENCH_VERBS = {
    "er": "ent ons ez ais ait aient era eront".split(),
    "ir": "i is it ie ies issons issez issent issait issaient issant ons ez ent ait".split(),
    "re": "ent ons ez ait ais aient ant irent u ue us".split(),
}
"""Folded endings of French verbs, by the infinitive's ending. Without endings that turn English words into English
words, as in "timer", "times" or "coffer", "coffee"."""
_BARE_IN_SINGULAR, _SHORTEST_SINGULAR = ("nd", "rd"), 4
"""Ends of French verbs that have no ending in "il attend", and their least length: "Andre" isn't a verb."""
_FRENCH_PERSONS = tuple("issons issez issent aient ait ent ons ez".split())
_SPANISH_VERBS = {
    "ar": "an amos aste aron aba abas abamos aban ando ado ada".split(),
    "er": "en emos iste io imos ieron ia ias iamos ian iendo ido ida".split(),
    "ir": "o e es en i iste io imos ieron ia ias iamos ian iendo ido ida".split(),
}
_SPANISH_CHANGED = {
    "ar": ({"e": "ie", "o": "ue", "u": "ue"}, "o a as an e es en".split()),
    "er": ({"e": "ie", "o": "ue"}, "o e es en a as an".split()),
    "ir": ({"e": "ie i", "o": "ue u"}, "o e es en a as an io ieron iendo".split()),
}
"""Vowels that change in Spanish verbs, and the endings after them: pedir, pide; jugar, juegan."""
_SPANISH_RESPELT = {
    ("ar", "c"): ("qu", "e es en"),
    ("ar", "g"): ("gu", "e es en"),
    ("ar", "z"): ("c", "e es en"),
    ("er", "c"): ("zc", "o a as an"),
    ("ir", "c"): ("zc", "o a as an"),
}
"""Last consonants of Spanish verbs that change before some endings: buscar, busqué; conocer, conozco."""
_SPANISH_PERSONS = {"amos": "ar", "emos": "er", "imos": "ir"}
_LAST_VOWEL = lazy_pattern(r"(.*)([eou])([^aeiou]*)")
_CHANGED_VOWEL = lazy_pattern(r"(.+)(ue|ie)([^aeiou]+)(?:o|as?|an|es?|en)")
_DIGRAPHS = {
    "german": {"ae": "ä", "oe": "ö", "ue": "ü"},
    "danish": {"aa": "å", "oe": "ø"},
    "norwegian": {"aa": "å", "oe": "ø"},
    "swedish": {"aa": "å", "ae": "ä", "oe": "ö"},
}
"""Spellings of letters missing on a keyboard. Folding already writes æ as ae and ß as ss."""
_MAX_DIGRAPHS = 3
_HEBREW_PREFIXES = tuple("הובלמשכ")
_HEBREW_PREFIX_GROUPS = tuple("וה וב ול ומ וש שה שב של מה כש כשה ושה ומה וכש".split())
_OPEN_SYLLABLES, _FINALS = range(0xAC00, 0xD7A4, 28), range(1, 28)  # of Hangul: a syllable, with final consonants

_HAN = lazy_pattern("[\u3005\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_HIRAGANA = lazy_pattern("[\u3041-\u3096]")
_KANA = lazy_pattern("[\u3041-\u30fa\u30fc-\u30ff]")  # without the middle dot, which Chinese titles have, too
_OTHER_KANA = {code: code + 0x60 for code in range(0x3041, 0x3097)} | {
    code: code - 0x60 for code in range(0x30A1, 0x30F7)
}
"""Each Hiragana sign as Katakana, and vice versa."""
_ONE_KANA = lazy_pattern("[\u3041-\u3096\u30fc]{2,}|[\u30a1-\u30f6\u30fc]{2,}")
_OKURIGANA = "っいきしちみりえけせめれげぎじ"
_JAPANESE_PARTICLES = "をのがには"


class _Forms(msgspec.Struct, frozen=True):
    words: Iterable[tuple[str, ...]] = ()
    stems: Iterable[str] = ()
    irregular: tuple[str, ...] = ()


_FRENCH_IRREGULAR = """
aller vais vas va vont irai ira irons iront aille, apprendre apprend apprennent appris apprenait, boire bois boit
boivent buvons buvait bu, comprendre comprend comprennent compris, conduire conduit conduisent conduisait, connaître
connais connaît connaissent connaissait connu, construire construit construisent construisait, courir cours courent
courait couru, couvrir couvre couvrent couvert, craindre crains craint craignent, croire crois croit croient croyait
cru, cuire cuit cuisent, devenir devient deviennent devenait devenu deviendra, devoir dois doit doivent devait devra,
dire dis dit disent disait dira, dormir dors dort dorment dormait, écrire écris écrit écrivent écrivait écrivons,
éteindre éteint éteignent, faire fais fait font faisait faisons fera feront fasse, falloir faut fallait faudra fallu,
lire lis lisent lisait lu lue lus, mettre mets mettent mettait mis mise, mourir meurt meurent mort morte mourra,
naître naît naissent né née, obtenir obtient obtiennent obtenu, offrir offre offrent offert, ouvrir ouvre ouvrent
ouvert ouvrait, partir pars partent partait parti, payer paie paient paiera, peindre peint peignent peignait,
permettre permet permettent permis, plaire plaît plaisent plu, pleuvoir pleut pleuvait plu, pouvoir peux peut peuvent
pouvait pourra puisse, prendre prends prend prennent prenait pris prise, produire produit produisent, promettre promet
promis, recevoir reçois reçoit reçoivent recevait reçu, rire rit rient riait, savoir sais sait savent savait su saura
sachant, sentir sens sentent sentait senti, servir sers servent servait servi, sortir sors sortent sortait sorti,
souffrir souffre souffert, suivre suis suit suivent suivait suivi, tenir tiens tient tiennent tenait tenu tiendra,
venir viens vient viennent venait venu viendra, vivre vis vivent vivait vécu, voir vois voit voient voyait vu vue
verra, vouloir veux veut veulent voulait voulu voudra voudrais, envoyer envoie envoient enverrai enverra
"""
_SPANISH_IRREGULAR = """
andar anduve anduvo, caber cabe quepo cupo, caer cae caigo cayó cayeron, conducir conduje condujo, construir construye
construyen construyó, creer cree creyó creyeron, dar doy dio dieron, decir digo dicen dije dijo dijeron dicho dirá,
estar estoy estuve estuvo, hacer hago hice hizo hicieron hecho hará haga, huir huye huyó, incluir incluye incluyen
incluyó, ir voy va van vamos iba iban fui vaya, leer lee leyó leyeron leyendo, oír oigo oye oyen oyó, poder puedo
puede pueden pude pudo podrá, poner pongo puse puso pusieron puesto pondrá ponga, querer quiero quiere quieren quise
quiso querrá, romper roto, saber sé sabe supe supo sabrá sepa, salir salgo saldrá salga, tener tengo tiene tienen tuve
tuvo tuvieron tendrá tenga, traducir traduzco tradujo, traer traigo trajo trajeron trayendo, valer valgo valdrá, venir
vengo viene vienen vino vinieron vendrá venga viniendo, ver veo ven veía vio visto, volver vuelvo vuelve vuelven
volvió vuelto, abrir abierto, cubrir cubierto, escribir escrito, morir muere mueren murió muerto, resolver resuelve
resuelto, descubrir descubierto, devolver devuelve devuelto, mantener mantengo mantiene mantuvo, obtener obtengo
obtiene obtuvo, proponer propongo propuso propuesto, suponer supongo supuso supuesto, producir produzco produjo,
reducir reduzco redujo, convertir convierte convirtió, elegir elijo elige eligió, seguir sigo sigue siguen siguió,
conseguir consigo consigue consiguió, sentir siente sienten sintió, mentir miente mintió, preferir prefiere prefirió,
repetir repite repitió, servir sirve sirvió, vestir viste vistió, reír ríe rió, freír fríe frito, jugar jugué, dormir
duermen durmió durmieron, pedir pidió pidieron
"""
_IRREGULAR = {"french": _FRENCH_IRREGULAR, "spanish": _SPANISH_IRREGULAR}
"""Forms of verbs that no rule above yields, after the infinitive, without forms that are English words ("lit")."""


def loosened(text: str, terms: Sequence["QueryTerm"], languages: Sequence[str]) -> tuple["QueryTerm", ...]:
    """Return the terms of the query `text`, with looser forms added in the query's and the index's languages."""
    certain = any(term.stop for term in terms)
    forms_of_terms = [[_forms(text, term, languages, certain=certain)] for term in terms]
    for start, end, spellings in spellings_in(text, languages):
        for forms_of_term, term in zip(forms_of_terms, terms, strict=True):
            if start <= term.start and term.end <= end and not (term.stop or term.phrased):
                # Only in the stems of a text are the parts of all numbers next to each other.
                stems = [" ".join(form) for form in spellings if len(form) > 1 and "".join(form).isdigit()]
                forms_of_term.append(_Forms([form for form in spellings if " ".join(form) not in stems], stems))
    for index, (first, second) in enumerate(pairwise(terms)):
        if text[first.end : second.start] in _GAPS:
            forms = _joined(first, second, languages)
            forms_of_terms[index].append(forms)
            forms_of_terms[index + 1].append(forms)
    return tuple(_with_forms(term, forms) for term, forms in zip(terms, forms_of_terms, strict=True))


def _with_forms(term: "QueryTerm", all_forms: Iterable[_Forms]) -> "QueryTerm":
    if term.stop or term.phrased:
        return term
    words, stems, irregular = dict[tuple[str, ...], None](), dict[str, None](), dict[str, None]()
    for forms in all_forms:
        irregular.update(dict.fromkeys(forms.irregular))
        words.update(dict.fromkeys(forms.words))
        stems.update(dict.fromkeys(forms.stems))
    if not term.stems:
        words.pop((term.word,) if isinstance(term.word, str) else term.word, None)
    for stem in term.stems:
        stems.pop(stem, None)
        irregular.pop(stem, None)
    return msgspec.structs.replace(
        term,
        loose=tuple(islice(words, _MAX_FORMS)),
        loose_stems=tuple(islice(stems, _MAX_FORMS)),
        irregular=tuple(irregular),
    )


def _forms(text: str, term: "QueryTerm", languages: Sequence[str], *, certain: bool) -> _Forms:
    if term.stop or term.phrased:
        return _Forms()
    kind = next(groups(term.surface)).kind
    if kind == HANGUL:
        last = _half_composed(term.surface) if term.end == len(text) else ()
        return _Forms([*(phrase for stem in term.stems for phrase in korean_phrases(stem)), *last])
    if kind == UNSPACED:
        return _Forms(tuple(_spellings(text, term)))
    if kind == SYMBOL:
        return _Forms()
    word_pieces = pieces(term.surface)
    if len(word_pieces) == 1:
        return _word_forms(term, word_pieces[0].root, languages, certain=certain)
    return _Forms([*_split(term.surface), *_begun(term, word_pieces)], _identifier_forms(term, word_pieces, languages))


# --- Words ------------------------------------------------------------------------------------------------------------


def _word_forms(term: "QueryTerm", root: str, languages: Sequence[str], *, certain: bool) -> _Forms:
    words = [*_split(term.surface)]
    if script_of(root[0]) == "hebrew":
        words += _with_other_prefixes(root)
    if len(root) in _ACRONYMS and root.isalpha():
        words.append((".".join(root),))
        if _NO_VOWELS.fullmatch(root):
            words += ((f"{root[:1]}.{root[1:]}",), (f"{root[:-1]}.{root[-1]}",))
    if "english" in languages and not root.isdigit():
        words += _other_number(term.surface, root)
    words += _hash_forms(root)
    stems = list(_joined_keys(term.word)) if isinstance(term.word, str) else []
    if len(languages) > 1:
        stems += (JOINED + stem for stem in term.stems)
    if root.isalpha() and languages[0] in _DERIVING and script_of(root[0]) in _INFLECTED:
        stems += _related(stems_of(languages[0])[root])
    if root.isalpha() and script_of(root[0]) == "latin":
        words += _verb_forms(fold(root), languages[:1] if certain else languages)
        for spelling in (spelling for language in languages for spelling in _respelt(root, language)):
            stems += (stems_of(language)[spelling] for language in languages)
        for language in filter(COMPOUNDING.__contains__, languages):  # a set would be in another order in each process
            stems += keys_in_compounds(root, stems_of(language)[root])
    irregular, ambiguous = irregular_forms(root) if languages[0] == "english" else ((), ())
    return _Forms([*words, *((word,) for word in ambiguous)], stems, irregular)


def _other_number(surface: str, root: str) -> Iterator[tuple[str, ...]]:
    """Yield the singular or the plural of a word whose final s stemming keeps."""
    if surface.endswith("s") and (match := _PLURAL.fullmatch(surface)):
        yield (fold(match[1]),)
    elif _SINGULAR.fullmatch(root):
        yield (f"{root}s",)


def _split(surface: str) -> Iterator[tuple[str, ...]]:
    """Yield a word with letters and digits separated, as for `5µs`, `10㎏`, `python3.11`; a code also in groups."""
    word = fold(surface)
    if not word.isalpha() and (match := _DIGITS_AND_LETTERS.fullmatch(word)):
        yield phrase_tokens(" ".join(part for part in match.groups() if part)).tokens
    if not word.isalpha() and (match := _CODE.fullmatch(word)):
        letters, digits, last = match.groups()
        ending = (last,) if last else ()
        yield from ((letters, digits + last), (letters, digits, *ending))
        yield from ((letters, digits[:at], digits[at:], *ending) for at in range(2, len(digits) - 1))
        yield letters, *(digits[at : at + 4] for at in range(0, len(digits), 4)), *ending


def _begun(term: "QueryTerm", identifier_pieces: Sequence[Piece]) -> Iterator[tuple[str, ...]]:
    """Yield the parts of an unfinished identifier, the last one as a prefix.

    A longer identifier may contain them in its middle, as the path `trips/08-trail.md` contains `08-tra`.
    """
    parts = [piece.token for piece in identifier_pieces[1:] if not piece.inner]
    if term.is_prefix and len(parts) > 1 and len(parts[-1]) >= _SHORTEST_BEGUN:
        yield (*parts[:-1], f"{parts[-1]}*")


def _joined_keys(word: str) -> Iterator[str]:
    if _SHORTEST_JOINED <= len(word) <= _LONGEST_JOINED:
        yield JOINED + word
        if word.isalpha() and word.isascii():
            yield JOINED + (word.removesuffix("s") if word.endswith("s") else f"{word}s")


def _hash_forms(root: str) -> Iterator[tuple[str, ...]]:
    """Yield a prefix that matches longer hashes, and the usual abbreviations of a long hash."""
    if not root.isalpha() and _HASH.fullmatch(root):
        yield (f"{root}*",)
        yield from ((root[:length],) for length in _SHORT_HASHES if length < len(root))


def _verb_forms(word: str, languages: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Yield other forms of a French or Spanish verb that have another stem, or one too short to be searched.

    Many words of other languages also end like a verb, but such forms of them rarely occur.
    """
    irregular = {
        language: _by_infinitive(verbs).get(word, []) for language, verbs in _IRREGULAR.items() if language in languages
    }
    known = any(irregular.values())
    for language, forms in irregular.items():
        if forms or not known:
            regular = _french_forms(word) if language == "french" else _spanish_forms(word)
            yield from ((form,) for form in (*forms, *regular) if form != word)


@cache
def _by_infinitive(verbs: str) -> dict[str, list[str]]:
    """Return the folded forms of irregular verbs by their folded infinitive."""
    return {verb[0]: verb[1:] for verb in (fold(forms).split() for forms in verbs.split(","))}


def _french_forms(word: str) -> Iterator[str]:
    ending = next((ending for ending in (*_FRENCH_VERBS, *_FRENCH_PERSONS) if word.endswith(ending)), "")
    base = word.removesuffix(ending)
    for infinitive, endings in _FRENCH_VERBS.items():
        if ending in (infinitive, *endings) and len(base) >= _SHORTEST_VERB:
            root = base.removesuffix("e") if base.endswith("ge") else base  # "mangeons" is a form of "manger"
            yield root + infinitive
            for other in endings:
                yield f"{root}e{other}" if root.endswith("g") and other[0] in "ao" else root + other
            if infinitive == "re" and root.endswith(_BARE_IN_SINGULAR) and len(root) >= _SHORTEST_SINGULAR:
                yield root
                yield f"{root}s"


def _spanish_forms(word: str) -> Iterator[str]:
    base, infinitive = word[:-2], word[-2:]
    if infinitive in _SPANISH_VERBS and len(base) >= _SHORTEST_VERB:
        yield from (base + ending for ending in _SPANISH_VERBS[infinitive])
        respelt, after = _SPANISH_RESPELT.get((infinitive, base[-1]), ("", ""))
        yield from (base[:-1] + respelt + ending for ending in after.split())
        vowels, endings = _SPANISH_CHANGED[infinitive]
        if match := _LAST_VOWEL.fullmatch(base):
            before, vowel, after = match.groups()
            for changed in vowels.get(vowel, "").split():
                yield from (before + changed + after + ending for ending in endings)
    elif (infinitive := _SPANISH_PERSONS.get(word[-4:], "")) and len(word) - 4 >= _SHORTEST_VERB:
        yield word[:-4] + infinitive
    elif match := _CHANGED_VOWEL.fullmatch(word):
        before, changed, after = match.groups()
        for vowel in "ou" if changed == "ue" else "e":
            yield from (before + vowel + after + ending for ending in _SPANISH_VERBS)


def _respelt(root: str, language: str) -> Iterator[str]:
    """Yield spellings with letters replaced by digraphs (ö by oe), and vice versa."""
    digraphs = _DIGRAPHS.get(language)
    if not digraphs:
        return
    spans = [match.span() for match in re.finditer("|".join(digraphs), root)][:_MAX_DIGRAPHS]
    for chosen in islice(product((True, False), repeat=len(spans)), 2 ** len(spans) - 1):
        spelling, at = "", 0
        for (start, end), replaced in zip(spans, chosen, strict=True):
            spelling += root[at:start] + (digraphs[root[start:end]] if replaced else root[start:end])
            at = end
        yield spelling + root[at:]
    spelling = root
    for digraph, letter in digraphs.items():
        spelling = spelling.replace(letter, digraph)
    if spelling != root:
        yield spelling


def _related(stem: str) -> Iterator[str]:
    """Yield a beginning that a word shares with its derivations, which have other stems: "vytvoření" and "vytvořit".

    Only for some languages, since prefixes take time.
    """
    if len(stem) >= _SHORTEST_BEGINNING and stem.isalpha():
        yield f"{stem[:_SHORTEST_BEGINNING]}*"


def _with_other_prefixes(root: str) -> Iterator[tuple[str, ...]]:
    """Yield a Hebrew word with each one-letter conjunction, article or preposition, and without one."""
    yield from ((prefix + root,) for prefix in _HEBREW_PREFIXES)
    yield from ((prefix + root,) for prefix in _HEBREW_PREFIX_GROUPS)
    if root.startswith(_HEBREW_PREFIXES) and len(root) > _SHORTEST_BARE:
        yield (root[1:],)
        yield from ((prefix + root[1:],) for prefix in _HEBREW_PREFIXES)


def _identifier_forms(term: "QueryTerm", identifier_pieces: Sequence[Piece], languages: Sequence[str]) -> Iterator[str]:
    """Yield the parts of an identifier as one word, and a word without its suffix after an apostrophe: İstanbul'da."""
    if _VERSION.fullmatch(identifier_pieces[0].token):
        yield JOINED + identifier_pieces[0].token
    if DECIMAL.fullmatch(identifier_pieces[0].token):
        yield " ".join(part.root for part in identifier_pieces[1:])
    parts = [piece for piece in identifier_pieces[1:] if piece.root]
    joined = "".join(part.root for part in parts)
    is_short = len(joined) == len(parts) or "." in identifier_pieces[0].token
    shortest = _SHORTEST_ACRONYM if is_short else _SHORTEST_JOINED
    if parts and parts[-1].start >= parts[0].end and shortest <= len(joined) <= _LONGEST_JOINED:
        yield from (stems_of(language)[joined] for language in languages)
    if (only := only_searched_part(identifier_pieces, languages[0])) is not None:
        yield from (stems_of(language)[only.root] for language in languages)
    if len(parts) == 2 and "'" in shape(term.surface):
        bare, suffix = parts
        if len(bare.root) >= _SHORTEST_BARE and len(suffix.root) <= _LONGEST_SUFFIX:
            yield from (stems_of(language)[bare.root] for language in languages)


def only_searched_part(identifier_pieces: Sequence[Piece], language: str) -> Piece | None:
    """Return the part of a compound that isn't a function word; None if there are several or none.

    In languages other than English, a function word at the end may be a pronoun after its verb: "accèdent-elles".
    """
    if not COMPOUND.fullmatch(identifier_pieces[0].token):
        return None
    stops = unsearched_words(language)
    searched = [piece for piece in identifier_pieces[1:] if piece.token not in stops]
    is_one = len(searched) == 1 and (language == "english" or identifier_pieces[1].token in stops)
    return searched[0] if is_one else None


def _joined(first: "QueryTerm", second: "QueryTerm", languages: Sequence[str]) -> _Forms:
    """Return two words joined: "node js", "set up", "5 µs"; a function word is only joined as the second word."""
    if first.stop or next(groups(first.surface)).kind or next(groups(second.surface)).kind:
        return _Forms()
    one, other = first.word, second.word
    if not (isinstance(one, str) and isinstance(other, str) and one.isalnum()):
        return _Forms()
    if (number := one + other).isdigit():
        return _Forms([(number,)]) if SHORTEST_NUMBER <= len(number) <= _LONGEST_JOINED else _Forms()
    if "." in other and _VERSION.fullmatch(other):
        return _Forms([(one + other,)])
    root = pieces(first.surface)[0].root + pieces(second.surface)[0].root
    if not other.isalnum() or len(root) > _LONGEST_JOINED:
        return _Forms()
    return _Forms((), (), tuple(stems_of(language)[root] for language in languages))


def _half_composed(word: str) -> Iterator[tuple[str, ...]]:
    """Yield a Korean word with each final consonant that its last syllable, which may be half-typed, can have."""
    if len(word) > 1 and (last := ord(word[-1])) in _OPEN_SYLLABLES:
        yield from (tuple(pairs(clusters(word[:-1] + chr(last + final)))[:-1]) for final in _FINALS)


# --- Chinese and Japanese ---------------------------------------------------------------------------------------------


def _spellings(text: str, term: "QueryTerm") -> Iterator[tuple[str, ...]]:
    characters = clusters(term.surface)
    if len(characters) == 1:
        return
    word = "".join(characters)
    if _HAN.fullmatch(word[0]) and not _KANA.search(text):
        from engine.text.chinese import other_spellings  # the table is only loaded when needed

        for spelling in other_spellings(word):
            yield tuple(pairs(spelling)[:-1])
    if _ONE_KANA.fullmatch(word):
        yield tuple(pairs(clusters(word.translate(_OTHER_KANA)))[:-1])
    yield from (tuple(pairs(spelling)[:-1]) for spelling in _japanese_spellings(text, term, word))


def _japanese_spellings(text: str, term: "QueryTerm", word: str) -> Iterator[str]:
    """Yield spellings with and without the kana or particle between two characters: 申し込み, 申込."""
    if len(word) != 2 or not _HAN.fullmatch(word[0]) or not _is_japanese(word):
        return
    first, second = word[0], word[1]
    if _HAN.fullmatch(second):
        inside = _HAN.fullmatch(text[term.end : term.end + 1]) and _HAN.fullmatch(text[term.start - 1 : term.start])
        yield from (first + kana + second for kana in (_OKURIGANA + _JAPANESE_PARTICLES if inside else _OKURIGANA))
    elif _HIRAGANA.fullmatch(second):
        if _HAN.fullmatch(following := text[term.end : term.end + 1]):
            yield first + following
        if _HAN.fullmatch(preceding := text[term.start - 2 : term.start - 1]) and _HIRAGANA.fullmatch(
            text[term.start - 1 : term.start]
        ):
            yield preceding + first


def _is_japanese(word: str) -> bool:
    """Return whether Japanese uses these characters: not if only China has simplified them."""
    try:
        word.encode("shift_jis")
    except UnicodeEncodeError:
        return False
    return True
