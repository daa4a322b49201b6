"""Estimated tokens compared with counts of OpenAI's tokenizer (cl100k), taken once with gpt-tokenizer 4.0.0."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.embedding.remote_provider import estimate

COUNTED = {
    "English": (
        51,
        "The timer on the drip irrigation skipped Tuesday again, so I watered the tomatoes by hand "
        "before breakfast. Ines thinks that the valve sticks when the pressure drops below two bars; "
        "she lent us her gauge, and we will measure every morning this week.",
    ),
    "code": (
        92,
        'def backoff(tries: int) -> float:\n    """Seconds to wait after that many failed tries."""\n    '
        "seconds = min(0.5 * 2.0 ** (tries - 1), 8.0)\n    return seconds * (1 + random.uniform(0, "
        "0.2))\n\nfor number, line in enumerate(lines):\n    if not line.strip():\n        continue\n    "
        'print(f"{number}: {line!r}")\n',
    ),
    "German": (
        61,
        "Die Schläuche im Gewächshaus sind undicht, und die Zeitschaltuhr überspringt seit Dienstag "
        "jede zweite Bewässerung. Am Wochenende wollen wir die Anschlüsse erneuern, bevor die Gurken "
        "vertrocknen.",
    ),
    "French": (
        59,
        "Le chapeau était resté sur le banc toute la nuit, et personne ne l'avait remarqué. À l'aube, "
        "le gardien l'a posé délicatement sur la fontaine, comme s'il attendait que quelqu'un vienne le "
        "réclamer.",
    ),
    "Russian": (
        65,
        "Вчера мы снова проверяли теплицу: насос работает, но давление падает, как только открывается "
        "второй кран. Завтра надо заменить прокладку и записать показания.",
    ),
    "Chinese": (
        93,
        "温室的滴灌定时器又漏掉了星期二，所以早饭前我用手浇了番茄。伊内斯认为压力低于两巴时阀门会卡住，她借给我们压力表，这个星期每天早上都要测量。",
    ),
    "Japanese": (
        77,
        "やっと京都に着いた。飛行機で十二時間、それから電車。宿は鴨川の近くの古い町家で、床がきしむ。お風呂は小さいけれど、庭が見える。",
    ),
    "Korean": (
        71,
        "우리 집 아래에서 가게를 하시는 서 아주머니가 김치 담그는 방법을 가르쳐 주셨다. "
        "배추를 반으로 갈라 소금물에 여덟 시간 절인다.",
    ),
    "Thai": (84, "เครื่องตั้งเวลารดน้ำในเรือนกระจกข้ามวันอังคารอีกแล้ว ฉันจึงรดน้ำมะเขือเทศด้วยมือก่อนอาหารเช้า"),
    "Hindi": (96, "ग्रीनहाउस का टाइमर फिर से मंगलवार को छोड़ गया, इसलिए मैंने नाश्ते से पहले टमाटर को हाथ से पानी दिया।"),
    "Arabic": (55, "تخطى مؤقت الري يوم الثلاثاء مرة أخرى، لذلك سقيت الطماطم بيدي قبل الإفطار."),
    "Greek": (87, "Ο χρονοδιακόπτης του ποτίσματος παρέλειψε πάλι την Τρίτη, γι' αυτό πότισα τις ντομάτες με το χέρι."),
    "emoji": (56, "🍅🌱💧😀🎉🚀👍🏽🔥💡📅🧠🦀🇩🇪❤️✨🙏🤖🥑"),
    "base64": (
        74,
        "SGVyZSBpcyBzb21lIHRleHQgdGhhdCB3YXMgcGFja2VkIGZvciBhIG1haWwsIGFuZCB0aGVuIGZvcmdvdHRlbiBpbiBhIG5"
        "vdGUu0J/RgNC40LLQtdGC",
    ),
    "numbers": (56, "2026-02-08,17431,88.21\n2026-02-09,18310,87.94\n2026-02-10,17002,91.50\n2026-02-11,16875,90.07\n"),
    "identifiers": (
        55,
        "4f9c2a1e-77b0-4d15-9a3e-0c5d8e21b7f6 E0432 os.replace foo_bar-baz HTTP_PROXY XMLHttpRequest 0x7f3a66083990",
    ),
}


@pytest.mark.parametrize("kind", COUNTED)
def test_token_estimate_is_close_and_at_most_5_percent_too_low(kind: str) -> None:
    tokens, text = COUNTED[kind]
    assert 0.95 * tokens <= estimate(text) <= (2.3 if kind == "Russian" else 1.5) * tokens


@given(st.text(), st.text())
def test_more_text_has_no_fewer_tokens(first: str, second: str) -> None:
    together = estimate(first + second)
    assert together >= max(estimate(first), estimate(second)) - 1
    assert together <= estimate(first) + estimate(second)


@given(st.text())
def test_token_estimate_bounded(text: str) -> None:
    assert 1 <= estimate(text) <= 2 + 3 * len(text)


def test_an_unpaired_surrogate_is_counted() -> None:
    assert estimate("\ud800") >= 1
