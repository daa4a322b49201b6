"""Words of a query, besides function words, that are not searched: common phrasing of questions.

They are separate from the function words, which are also used to detect a note's language: changes here affect queries
alone, and no index.
"""

import re
from functools import cache

from engine.text.folding import fold
from engine.text.stopwords import stop_words

_LISTS = {
    "german": """
        bitte dürfen eigentlich gab gibt habt konnte konnten lang lange machen müssen musste oft sollen sollten
        überhaupt unserem unseren unserer unseres viele vielen warst welchem welchen welches wem wen wessen wieso
        wieviel wieviele wodurch wofür woher wohin womit worüber wozu""",
    "french": """
        avait avez avons chaque combien devez devons doit doivent dois est-ce faire fallait font jamais laquelle lequel
        lesquelles lesquels peuvent peux pouvez pouvons quelque quelques toujours veut veux voulez""",
    "spanish": """
        cuáles cuánta cuántas cuánto cuántos debe deben debo había haces hacen hago has he hemos nuestras nuestros
        podemos puede pueden puedo quiero quienes tengo tenía tenemos""",
    "italian": """
        bisogna deve devi devo devono dobbiamo fanno fare nostra nostre nostri possiamo posso possono può puoi quanta
        quante quanti quali vogliamo voglio vuole""",
    "portuguese": """
        deve devem devo estamos estou faz fazer faço nossas nossos pode podem podemos posso quanta quantas quanto
        quantos quer quero temos tenho tinha""",
    "dutch": """
        bent doet gaan gaat hebt hoelang hoeveel jullie kun kunt lang mag mogen moest moeten onze wanneer welk wil
        willen""",
    "russian": """
        ваш ваша ваше ваши делать должен должна должно должны зачем которого которой которых моего моей моих мое мои
        моя наш наша наше наши нашего нашей нашем нашем наших нашу нужно откуда свое свои свой своя сделать сколько
        твой твоя""",
    "arabic": "أولئك أي كم لنا لي يجب يمكن",
    "korean": """
        어디에 어디인가요 언제인가요 얼마나 왜요 무엇인가요 인가요 있나요 있습니까 하나 하나요 합니까 되나요
        되었나요 안""",
}

# Words that introduce a query: they have a low weight, but not none, since a note may be about them.
_FILLERS = {
    "english": """
        another any anyone anything best better example examples get getting good help know like mean means need other
        possible proper properly recommended someone something thing things tutorial use used useful using want way ways
        correct right""",
    "german": """
        andere anderen anderer anderes beispiel beispiele beste besten bester bestes etwas gute guten guter gutes
        hilfe irgendein irgendwo jemand möglich richtig sache verwende verwenden weg weitere weiteren weiterer weiteres
        wissen benutzen nutzen""",
    "french": """
        aide autre autres besoin bon bonne bonnes bons chose exemple exemples façon manière meilleur meilleure
        possible savoir utiliser""",
    "spanish": """
        alguien algo ayuda bueno buena cosa ejemplo ejemplos forma manera mejor mejores otra otras otro otros
        posible saber usar utilizar""",
    "italian": """
        aiuto altra altre altri altro buon buona cosa esempio esempi migliore migliori modo possibile qualcosa
        qualcuno sapere usare""",
    "portuguese": """
        ajuda algo alguém bom boa coisa exemplo exemplos forma jeito maneira melhor melhores outra outras
        outro outros possível saber usar""",
    "dutch": """
        ander andere beste goed goede gebruik gebruiken hulp iemand iets manier mogelijk voorbeeld voorbeelden
        weten""",
    "russian": """
        другая другие другой другое использовать лучшая лучшее лучшие лучший можно пример примеры способ
        хороший""",
}
_ORDERS = {
    "english": "explain show tell give find describe teach help list compare remind suggest recommend",
    "german": "erkläre erklär zeige zeig finde nenne gib beschreibe vergleiche empfiehl",
    "french": "explique expliquez montre montrez trouve donne décris",
    "spanish": "explica explícame muestra muéstrame encuentra dame describe",
    "italian": "spiega spiegami mostra mostrami trova dammi descrivi",
    "portuguese": "explica explique mostra mostre encontra descreve",
    "dutch": "leg toon vind geef beschrijf",
    "russian": "объясни покажи найди опиши",
}
"""Fillers where a query begins with them."""
_WORKS = {
    "english": ("how", "work works worked working happen happens"),
    "german": ("wie", "funktioniert funktionieren geht gehen läuft"),
    "french": ("comment", "fonctionne fonctionnent marche marchent"),
    "spanish": ("cómo", "funciona funcionan"),
    "italian": ("come", "funziona funzionano"),
    "portuguese": ("como", "funciona funcionam"),
    "dutch": ("hoe", "werkt werken"),
    "russian": ("как", "работает работают"),
}
"""Fillers of a query that begins with the word before them."""

# Thai and Chinese put no spaces between words. The question words and connectives here occur inside hardly any other
# word; some count only at the beginning or end of a query. Of a longer word the rest is searched.
_THAI_ANYWHERE = (
    *("อยู่ที่ไหน", "อย่างไร", "เมื่อไหร่", "เมื่อไร", "เท่าไหร่", "เท่าไร", "หรือเปล่า", "เกี่ยวกับ", "เพราะว่า", "หรือไม่", "แค่ไหน"),
    *("ที่ไหน", "สำหรับ", "เพราะ", "ยังไง", "อะไร", "ทำไม", "หรือ", "และ", "ไหน", "ไม่", "คือ"),
    *("ของฉัน", "ของผม", "ของคุณ", "ของเรา", "ของเขา", "ของ"),
)
_THAI_FIRST = ("ดิฉัน", "ฉัน")
_THAI_LAST = ("ได้ไหม", "ครับ", "ไหม", "มั้ย", "บ้าง", "ค่ะ", "คะ", "นะ", "ล่ะ")
_CHINESE = tuple(
    """
    什么时候 什麼時候 为什么 為什麼 怎么样 怎麼樣 什么 什麼 怎么 怎麼 怎样 怎樣 如何 哪里 哪裡 哪儿 哪个 哪個 哪些
    多少 多久 几个 幾個 没有 沒有 可以 应该 應該 因为 因為 所以 但是 关于 關於 以及 或者 还是 還是 是否 请问 請問 自己
    我们 我們 你们 你們 他们 他們 她们 它们 这个 這個 那个 那個 这些 這些 那些""".split()
)
_KANA = "\u3041-\u30ff"
_THAI_MARKS = "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e"


@cache
def unasked(language: str) -> frozenset[str]:
    """The folded words that are not searched in this language, function words included."""
    return stop_words(language) | frozenset(fold(_LISTS.get(language, "")).split())


@cache
def _folded(words: str) -> frozenset[str]:
    return frozenset(fold(words).split())


def is_filler(word: str, first: str, language: str, *, begins: bool) -> bool:
    """Whether this folded word only introduces the query.

    `first` is the query's first word, folded; `begins`: no search word precedes this one.
    """
    opening, works = _WORKS.get(language, ("", ""))
    return (
        word in _folded(_FILLERS.get(language, ""))
        or (begins and word in _folded(_ORDERS.get(language, "")))
        or (bool(opening) and first == fold(opening) and word in _folded(works))
    )


def unspaced_stops(stretch: str) -> list[tuple[int, int]]:
    """Spans of Thai or Chinese words in an unspaced stretch that are not searched."""
    return [match.span() for match in _unspaced().finditer(stretch)]


@cache
def _unspaced() -> re.Pattern[str]:
    anywhere, first, last, chinese = map("|".join, (_THAI_ANYWHERE, _THAI_FIRST, _THAI_LAST, _CHINESE))
    thai = rf"(?:^(?:{first})|{anywhere})(?![{_THAI_MARKS}])|(?:{last})+$"
    return re.compile(rf"{thai}|(?<![{_KANA}])(?:{chinese})(?![{_KANA}])")
