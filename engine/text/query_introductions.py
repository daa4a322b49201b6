"""Phrases that only introduce the subject of a query, such as "which note says …", in many languages."""

import re
from functools import cache

from engine.base import lazy_pattern

_SAYS = "(?:says?|said|mentions?|mentioned|contains?|explains?|describes?|covers?|is about|talks? about)(?: that)?"
_TEXTS = "(?:notes?|pages?|files?|documents?|articles?)"
INTRODUCTIONS = {
    # English: "which note says", "the one about", "is there anything on", "where did I read that"
    """
    a all an any anything chat conversation did do is my note notes our session sessions something that the was what
    where which
    """: (
        rf"(?:which|what) {_TEXTS} {_SAYS}|(?:the|that|an?|my) (?:{_TEXTS}|one) (?:about|(?:that|which) {_SAYS}|where)",
        r"(?:(?:my|our|all|the|any) )?notes? (?:on|about|regarding|that (?:says?|mentions?))",
        r"(?:(?:is|was) there |do (?:i|we) have )?(?:something|anything) (?:about|on)",
        r"what(?: is| was|['’]s) the (?:name|title) of(?: (?:the|that))?|where does it (?:say|state|mention)(?: that)?",
        r"(?:what )?did (?:i|we|you|(?:the|an?|my) (?:agent|assistant|ai)) (?:say|decide|agree|conclude)"
        r"(?: (?:about|on|that|to|for))?:?",
        r"(?:(?:all|my|our|the) )?(?:sessions?|chat|conversation) (?:of|from|on)"
        r"(?= (?:.*\d|today|yesterday|(?:last|this) \w))",
        r"where (?:did|have|had) (?:i|we) (?:read|seen?|heard?|writ\w+|not\w+|mention\w*)(?: (?:about|that|down|of))*",
    ),
    # German, Dutch, Scandinavian languages, Finnish
    """
    alle anteckning anteckningar anteckningen das datei de den der die ein eine etwas hoe iets in jotain
    mein meine mijn millä min missä muistiinpano noe noen noet not notat note noter notitie notities notiz notizen något
    se seite sivu text va vad var waar welche welchem welchen welcher welches welke wie wo
    """: (
        r"(?:in )?welche[rmns]? (?:notiz|datei|seite|text)\w* (?:steht|stand|erwähnt|enthält|erklärt),?(?: dass)?",
        r"(?:(?:d(?:er|ie|as)|eine?|meine?|alle) )?(?:notiz(?:en)?|datei|seite|text) (?:zu[mr]?|über|mit|in de[mr])",
        r"etwas (?:über|zu[mr]?)|wie (?:hieß|hiess|heißt|heisst)(?: d(?:er|ie|as))?|wo (?:steht|stand),?(?: dass)?",
        r"wo habe(?:n wir| ich) (?:gelesen|gesehen|gehört|geschrieben|notiert),?(?: (?:dass|über|von|etwas))*",
        r"(?:(?:in )?welke notitie (?:staat|vermeldt)|(?:(?:de|mijn) )?notities? over|iets over)",
        r"(?:hoe heette?|waar staat)(?: dat)?|var står(?: att)?",
        r"(?:(?:den|min) )?(?:anteckning(?:en|ar)?|not(?:er?|at)) om|(?:något|noe[tn]?) om|va[dr]? (?:heter|hette)",
        r"(?:millä|missä)(?: (?:sivulla|muistiinpanossa))? (?:kerrotaan|lukee|luki|mainitaan|sanotaan)(?: että)?",
        r"(?:se )?(?:sivu|muistiinpano),? (?:jossa (?:on|kerrotaan|lukee)|joka kertoo)|jotain aiheesta",
    ),
    # Romance languages
    """
    a algo appunti as c come comment como cómo cômo dans donde dove dónde em en in la li mes minhas mis nota
    notas note notes onde où page pages qual qualcosa quale que quelle quelles quelque qué una une
    """: (
        r"(?:dans )?quelles? (?:note|page)s? (?:dit|parle de|mentionne)(?: que)?|quelque chose sur",
        r"(?:(?:la|une|mes) )?(?:note|page)s? sur|comment s['’]appel(?:le|ait)",
        r"où (?:(?:ai-je|j['’]ai) lu|(?:est-il|c['’]est|ça) (?:dit|écrit))(?: que)?",
        r"(?:en )?qué (?:nota|página) (?:dice|habla de|menciona)(?: que)?|(?:(?:la|una|mis) )?notas? sobre|algo sobre",
        r"¿?(?:cómo se llama(?:ba)?|d[oó]nde (?:leí|dice)(?: que)?)|c[oô]mo se chama(?:va)?|onde (?:li|diz)(?: que)?",
        r"(?:em )?(?:que|qual) (?:nota|página) (?:diz|fala de|menciona)(?: que)?|(?:(?:as?|minhas) )?notas? sobre",
        r"(?:in )?quale (?:nota|pagina) (?:dice|parla di)(?: che)?|(?:(?:la|una) )?(?:nota|note|appunti) (?:su|sulla?)",
        r"qualcosa su|come si chiama(?:va)?|dove (?:ho letto|dice|è scritto)(?: che)?",
    ),
    # Slavic languages
    """
    coś gdzie jak moje notatka notatki něco poznámka ta ve w в где заметка заметки как мои моя статья
    страница та что эта
    """: (
        r"в как(?:ой|ом) (?:заметке|файле|статье) (?:написано|говорится|сказано)(?: (?:про|об?|что))?,?",
        r"(?:(?:та|эта|мои|моя) )?(?:заметк[аи]|статья|страница) (?:про|об?|где)|что-(?:то|нибудь) (?:про|об?)",
        r"где (?:я (?:читала?|писала?)|написано|сказано|говорится),?(?: (?:про|об?|что))?|как называ(?:ется|л\w+)",
        r"(?:w (?:której|jakiej) notatce (?:jest|napisano)|(?:(?:ta|moje) )?notat(?:ka|ki) o|coś o)",
        r"gdzie (?:czytał[ae]m|napisano)(?: że)?|jak się nazyw(?:a|ał[ao]?)",
        r"jak se jmen(?:uje|oval[ao]?)|(?:ta )?poznámka o|něco o|ve které poznámce (?:je|stojí)",
    ),
    # Turkish: verbs at the end
    "hangi nerede": (r"hangi (?:not(?:ta|um)?|sayfada|dosyada)|nerede(?= .* yaz)",),
}
"""Introductions of a subject, by all first words that they have: compiling all would take 5 ms of each command."""
_ENDS = (
    r"(?:hakkındaki|ile ilgili) (?:not|sayfa|yazı|dosya)\w*|(?:anlatılıyor|yazıyordu|yazıyor|geçiyor)",
    r"nasıl (?:yapılır|yapılıyor|yaparım|kullanılır|olur)|ne (?:işe yarar|demek)|nedir|neydi|hakkında bir şey",
)
_FIRST_WORD = lazy_pattern(r"\W*(\w+)")
_ENDING = lazy_pattern(rf"\s(?:{'|'.join(_ENDS)})[\s?]*\Z", re.IGNORECASE)
_SUBJECT = lazy_pattern(r"\w{3}|[^\W\d_\x00-\u024f]")
_LONGEST_QUESTION = 300


@cache
def _introductions(first_words: str) -> re.Pattern[str]:
    return re.compile(rf"\s*(?:{'|'.join(INTRODUCTIONS[first_words])})(?=\s)", re.IGNORECASE)


def subject(text: str) -> tuple[int, int]:
    """Return where the subject of a query begins and ends: "which note says …" and the like only introduce it."""
    if " " not in text or len(text) > _LONGEST_QUESTION or not (word := _FIRST_WORD.match(text)):
        return 0, len(text)
    begun = (_introductions(words).match(text) for words in INTRODUCTIONS if word[1].lower() in words.split())
    start = next((match.end() for match in begun if match), 0)
    ending = _ENDING.search(text, start)
    end = ending.start() if ending else len(text)
    return (start, end) if _SUBJECT.search(text, start, end) else (0, len(text))
