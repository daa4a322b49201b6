"""Find statements worth remembering in messages to an agent: what users say about themselves or their work.

It is strict, since agents see the results later: no markup, summaries, instructions to a machine, or questions.
Captured statements await the user's approval.
"""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

from engine.records import FactCategory
from engine.redaction.secret_masking import redact
from engine.text.folding import visible

MAX_PER_TURN = 3
_SHORTEST, _SHORTEST_UNSPACED = 10, 5
_MAX_EMOJI = 3
_LONGEST_READ = 10_000
"""Number of characters read from one message; the settings allow no longer facts."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_ENDS_AS_QUESTION = re.compile(r"[?\uff1f]\s*\Z")
_COMMAND = re.compile(r"/[a-z][\w-]*(?:\s|\Z)", re.IGNORECASE)
_MARKUP = re.compile(r"</?[a-z!][^<>]{0,200}>|</|```|\{\{|\[/?INST\]|<\|", re.IGNORECASE)
_ROLE = re.compile(
    r"^[ \t>#*_\[(]*(?:system|assistant|developer|user|human|model|tool|instructions?)[ \t\])*_]*[:>]",
    re.IGNORECASE | re.MULTILINE,
)
"""Speaker at the beginning of a line in a record of a conversation."""
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+")
_NUMBER = re.compile(r"\+?\d[\d ()/-]{7,20}\d")

_INJECTION = re.compile(
    r"""
      \b(?:ignore|disregard|forget|override|bypass)\b.{0,40}
        \b(?:instruction|prompt|rule|message|guideline|polic|safety)
    | \b(?:ignore|disregard|forget)\ (?:(?:all|everything|anything|of|the)\ ){0,3}(?:above|previous|earlier|prior)\b
    | \bnew\ instructions?\b
    | \b(?:ignorier\w*|missacht\w*|vergiss|umgeh\w*)\b.{0,40}\b(?:anweisung|vorgabe|regel|prompt|nachricht)
    | \b(?:system|developer)[ -]?(?:prompt|message|instruction)
    | \bsystem-?(?:anweisung|nachricht)
    | \b(?:ignor|oubli|olvid|dimentic|esque[cç]|omit)\w*\b.{0,40}
        \b(?:instruc|consign|instruç|istruzion|règle|regla|regra)
    | \b(?:ignoruj|zignoruj|pomiń|zapomeň|zapomnij)\w*\b.{0,40}\b(?:instruk|polece|pokyn|reguł|pravid)
    | (?:игнорир|забудь)\w*.{0,40}(?:инструкц|указани|правил)
    | \byou\ are\ now\b | \bact\ as\ (?:if|an?|the)\b | \bpretend\ (?:to\ be|you)\b | \bjailbreak\b
    | \bdu\ bist\ (?:jetzt|ab\ sofort|nun)\b
    | \bdo\ not\ (?:tell|inform|mention|reveal)\b | \bwithout\ (?:telling|asking|informing)\b
    | \b(?:run|execute|call|invoke)\b.{0,30}\b(?:command|tool|function|shell|script|curl|bash)\b
    | \b(?:curl|wget)\s+\S | \brm\s+-rf\b | \bsudo\s
    | 忽略.{0,10}(?:指令|指示|提示|规则) | 無視.{0,4}(?:して|せよ) | (?:指示|命令).{0,6}無視
    | 이전.{0,6}(?:지시|명령).{0,6}무시
    """,
    re.IGNORECASE | re.VERBOSE,
)

_REMEMBER = re.compile(
    r"""
      \b(?:remember|memori[sz]e|note)\s+(?:that|this|to|my|our|:)|\bremember:
    | \bkeep\ in\ mind\b | \bfor\ future\ reference\b
    | \b(?:merk|notier)\w*\s+(?:dir|es|das)\b|\bdenk\w*\s+(?:immer\s+)?(?:dran|daran)\b|\bvergiss\s+nicht\b
    | \bzapamatuj|\bpamatuj
    | \bsouviens-toi|\bretiens\b|\brecuerda\s+que\b|\bricorda(?:ti)?\s+che\b|\blembre-se\b|\bzapamiętaj
    | запомни
    | 记住|記住|记得|覚えて|覚えといて|기억해
    """,
    re.IGNORECASE | re.VERBOSE,
)
_PREFERENCE = re.compile(
    r"""
      \b(?:i|we)\s+(?:really\s+|always\s+|usually\s+|don'?t\s+|do\s+not\s+|never\s+)?
        (?:prefer|like|love|hate|dislike|enjoy|can'?t\s+stand|want(?!\s+(?:you|to|it|this|that|the|an?)\b))\b
    | \bmy\s+favou?rite\b | \bi'?d\s+rather\b | \bprefer(?:s|red)?\b
    | \b(?:ich|wir)\s+(?:\w+\s+)?(?:mag|mögen|bevorzug\w*|lieb\w*|hass\w*)\b
    | \b(?:mag|bevorzuge|hasse|liebe)\s+ich\b | \blieber\b | \bam\s+liebsten\b | \blieblings\w+
    | \bpreferuji\b|\bmám\s+rád\b|\bnechci\b|\bnesnáším\b
    | \bje\s+préfère\b|\bj'aime\b|\bprefiero\b|\bme\s+gusta\b|\bpreferisco\b|\bprefiro\b|\bwolę\b
    | предпочитаю|люблю
    | 我?(?:更?喜欢|更?喜歡|偏好|讨厌|討厭|不喜欢) | (?:好き|嫌い|苦手)(?:です|だ|な)? | 선호|좋아(?:해|합니다)|싫어
    """,
    re.IGNORECASE | re.VERBOSE,
)
_DECISION = re.compile(
    r"""
      \b(?:we|i|i'?ve|we'?ve)\s+(?:have\s+|just\s+)?(?:decided|agreed|settled|chose|chosen|will\s+use)\b
    | \bfrom\s+now\s+on\b | \bgoing\s+forward\b | \bthe\s+decision\s+is\b | \blet'?s\s+go\s+with\b
    | \bentschieden\b|\bbeschlossen\b|\bgeeinigt\b|\bab\s+(?:jetzt|sofort)\b|\bkünftig\b
    | \brozhodli\b|\bbudeme\s+používat\b
    | \bnous\s+avons\s+décidé\b|\bhemos\s+decidido\b|\babbiamo\s+deciso\b|\bdecidimos\b
    | решили
    | 决定|決定|決めた|決めました|결정
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENTITY = re.compile(
    r"""
      \b(?:is|am|are)\s+(?:called|named)\b | \bmy\s+name\s+is\b
    | \bhei(?:ß|ss)(?:e|t|en)\b | \bjmenuj\w*\b | \bje\s+m'appelle\b | \bme\s+llamo\b | \bmi\s+chiamo\b
    | меня\s+зовут | 我叫|名叫|叫做 | (?:という|って)名前 | 이름은
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FACT = re.compile(
    r"""
      \b(?:my|our)\s+[\w'-]+(?:\s+[\w'-]+){0,3}\s+(?:is|are|was|has|lives?|works?)\b
    | \bi\s+(?:live\s+in|work\s+(?:at|for|as|in)|was\s+born|own|speak)\b
    | \bi(?:'m|\s+am)\s+(?:allergic|vegetarian|vegan|from|based|married|\d+\s+years)\b
    | \b(?:always|never|important)\b
    | \b(?:mein|meine|unser|unsere)\s+[\w-]+(?:\s+[\w-]+){0,3}\s+(?:ist|sind|hat|wohnt|arbeitet|war)\b
    | \bich\s+(?:wohne|arbeite|spreche)\b | \bich\s+bin\s+(?:allergisch|vegetari|vegan|aus|verheiratet|\d+\s+jahre)
    | \b(?:immer|niemals|nie|wichtig)\b
    | \bmůj\s+\w+\s+je\b|\bvždy\b|\bnikdy\b|\bdůležité\b
    | \bmon\s+\w+\s+est\b|\btoujours\b|\bjamais\b|\bsiempre\b|\bnunca\b|\bsempre\b|\bzawsze\b|\bnigdy\b
    | всегда|никогда
    | 我(?:是|住|在|有)|(?:总是|總是|永远|从不|從不|重要)
    | 私(?:は|の)|いつも|必ず|絶対|大切 | (?:나는|저는|제\s)|항상|절대|중요
    """,
    re.IGNORECASE | re.VERBOSE,
)


def memorable_statements(
    messages: Sequence[Mapping[str, Any]], longest: int = 500, more_triggers: Sequence[str] = ()
) -> list[str]:
    """Return statements from the user's own messages of one turn, at most three; never raises.

    `messages` are `{"role": …, "content": …}`, with a text or a list of parts as content.
    """
    statements: list[str] = []
    for message in messages:
        if message.get("role") != "user":
            continue
        for text in _texts(message.get("content")):
            start = text[: _LONGEST_READ + 1].strip()
            if start not in statements and is_memorable(start, longest, more_triggers):
                statements.append(start)
    return statements[:MAX_PER_TURN]


def is_memorable(text: str, longest: int = 500, more_triggers: Sequence[str] = ()) -> bool:
    """Whether a message is a fact worth saving, such as a preference or a decision, and nothing else."""
    shortest = _SHORTEST_UNSPACED if _UNSPACED.search(text[:_LONGEST_READ]) else _SHORTEST
    if not shortest <= len(text) <= min(longest, _LONGEST_READ):
        return False
    is_question = _ENDS_AS_QUESTION.search(text) is not None and not _REMEMBER.search(text)
    return not is_question and not is_suspicious(text) and _is_triggered(text, more_triggers) and redact(text) == text


def is_suspicious(text: str) -> bool:
    """Return whether a text resembles markup, program output, or instructions to a machine."""
    plain = unicodedata.normalize("NFKC", text)
    return (
        visible(plain) != plain
        or any(unicodedata.category(sign) in ("Co", "Cs") for sign in plain)
        or _COMMAND.match(plain) is not None
        or _MARKUP.search(plain) is not None
        or _ROLE.search(plain) is not None
        or ("**" in plain and "\n-" in plain)
        or sum(unicodedata.category(sign) == "So" for sign in plain) > _MAX_EMOJI
        or _INJECTION.search(" ".join(plain.split())) is not None
    )


def category_of(text: str) -> FactCategory:
    """Return the category of a fact, derived from its words."""
    text = text[:_LONGEST_READ]
    if _PREFERENCE.search(text):
        return "preference"
    if _DECISION.search(text):
        return "decision"
    if _ENTITY.search(text) or _ADDRESS.search(text) or _NUMBER.search(text):
        return "entity"
    return "fact" if _FACT.search(text) else "other"


def _is_triggered(text: str, more: Sequence[str]) -> bool:
    folded = text.casefold()
    return (
        category_of(text) != "other"
        or _REMEMBER.search(text) is not None
        or any(trigger.casefold() in folded for trigger in more if trigger.strip())
    )


def _texts(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    parts = content if isinstance(content, list) else []
    return [
        part["text"]
        for part in parts
        if isinstance(part, Mapping) and part.get("type", "text") == "text" and isinstance(part.get("text"), str)
    ]
