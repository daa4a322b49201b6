"""Notes that have the words of a query in another form or spelling are found, below those with the exact form.

All pairs are in one index of notes in many languages. Each query has a note with the exact form, which gives the
looser one the least weight. Where folding makes both forms the same word, the exact note comes first as the shorter
one.
"""

from collections.abc import Iterator

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings

_FORMS = {
    "Korean particles and verbs": [
        ("논의", "어제 회의에서 논의한 내용을 정리했다."),
        ("검토", "계약서를 검토했다."),
        ("배포", "서버를 배포했습니다."),
        ("테스트", "기능을 테스트했다."),
        ("도입", "새 시스템을 도입하였다."),
        ("결정", "날짜를 결정했어요."),
        ("확인", "결과를 확인했다."),
    ],
    "Korean verbs and compounds": [
        ("바꾸기", "비밀번호를 바꿨다."),
        ("지우려면", "오래된 사진을 지웠습니다."),
        ("찾기", "열쇠를 찾아 서랍을 열었다."),
        ("가상호스트", "아파치에 가상 호스트 이름을 넣었다."),
    ],
    "half-typed Korean syllables": [
        ("달력드", "책상 위에 달력들이 있다."),
        ("커피자", "커피잔을 씻었다."),
    ],
    "Latin words with Korean particles": [
        ("swagger", "swagger를 호출한다."),
        ("GitHub", "GitHub에서 이슈를 열었다."),
    ],
    "simplified and traditional Chinese": [
        ("数据库", "我們把數據庫搬到新主機。"),
        ("資料夾", "请打开这个资料夹。"),
        ("后台", "程式在後台運行。"),
        ("头发", "她的頭髮很長。"),
        ("家里", "鑰匙在家裡。"),
        ("看著", "她看着窗外。"),
        ("圖書館・開門", "图书馆开门很早。"),
    ],
    "Hiragana and Katakana": [
        ("ノゾミ", "のぞみは東海道新幹線の列車です。"),
        ("ひかり", "次の電車はヒカリです。"),
        ("らーめん", "昼にラーメンを食べた。"),
    ],
    "Japanese okurigana": [
        ("設定変更", "昨日、設定を変更した。"),
        ("打ち合わせ", "午後に打合せがある。"),
        ("申込", "オンラインで申し込みをする。"),
        ("引越", "来月、新しい家に引っ越しする。"),
        ("取り消し", "予約の取消は明日まで。"),
    ],
    "German compounds": [
        ("Versicherung", "Die Krankenversicherung ist teuer geworden und wird jedes Jahr erhöht."),
        ("Rechnung", "Die Stromrechnung kam heute mit der Post an und ist hoch."),
        ("Wohnung", "Die Ferienwohnungen liegen direkt am Meer und sind alle schon vergeben."),
        ("Zeitung", "Die Tageszeitung liegt schon am Morgen auf dem Tisch im Flur."),
        ("Sitzung", "Die Vorstandssitzung wurde auf den nächsten Montag verschoben."),
        ("Lösung", "Eine gute Problemlösung ist für den Betrieb nicht immer einfach."),
        ("Übung", "Die Rückenübung sollte man jeden Tag am Morgen machen."),
        ("Technik", "Die Haustechnik ist veraltet und muss bald ersetzt werden."),
        ("Krankheit", "Viele Kinderkrankheiten sind heute nicht mehr so gefährlich."),
        ("Räder", "Die Winterräder sind noch im Keller und müssen auf das Auto."),
        ("Bäume", "Der Obstbaum im Garten wird nach dem Winter geschnitten."),
        ("Haus", "Das Krankenhaus liegt am Rand der Stadt und ist groß."),
        ("Vertrag", "Der Mietvertrag wurde gestern unterschrieben und abgelegt."),
    ],
    "compounds in short notes": [
        ("Schule", "Grundschule anmelden."),
        ("Buch", "Kochbuch zurückgeben."),
        ("Termin", "Zahnarzttermin Montag."),
        ("Schlüssel", "Das Kellerschloss, zwei Ersatzschlüssel."),
        ("Lampe", "Stehlampe kaputt."),
        ("Kiste", "Im Schuppen stehen Werkzeugkisten."),
        ("Reifen", "Am Montag kommen die Sommerreifen an."),
    ],
    "ae, oe, ue and ß": [
        ("Mueller", "Herr Müller kam gestern zu uns."),
        ("Schröder", "Herr Schroeder kam gestern zu uns."),
        ("Schlossstrasse", "Die Schloßstraße ist lang und sehr schön."),
        ("Groesse", "Die Größe passt dem Kind noch nicht."),
    ],
    "Hebrew prefixes": [
        ("ספר", "קראתי את הספר אתמול"),
        ("ירושלים", "נסעתי לירושלים"),
        ("עבודה", "חזרתי מהעבודה"),
        ("פגישה", "ובפגישה דיברנו"),
        ("חופשה", "כשהחופשה נגמרה"),
    ],
    "nukta and anusvara": [
        ("हिंदी", "मैं हिन्दी सीखता हूँ"),
        ("पंजाब", "हम पञ्जाब में बहुत दिन तक रहे"),
        ("फ़ोन", "मेरा फोन खो गया"),
        ("लडका", "वह लड़का आया और फिर चला गया"),
    ],
    "suffixes after an apostrophe": [
        ("Ankara", "Ankara'da toplantı yaptık."),
        ("İstanbul", "İstanbul’un köprüleri."),
        ("Google", "Шукали в Google'і вчора."),
        ("комп'ютер", "Мій комп’ютер зламався."),
    ],
    "aa and å": [
        ("Aalborg", "Vi tog til Ålborg med toget i går."),
        ("blåbær", "Vi plukkede blaabær i skoven i går."),
    ],
    "French verbs": [
        ("parler", "Ils parlent trop dans la salle avec les autres."),
        ("manger", "Les enfants mangent dans la cour avec les autres."),
        ("jouer", "Elles jouent dans la rue avec les voisins."),
        ("finir", "Nous finissons le travail avec les autres dans la salle."),
        ("choisir", "Elles choisissent un livre pour les autres."),
        ("vendre", "Ils vendent la maison avec le jardin."),
        ("attendre", "Elle attend le bus avec les autres."),
        ("vendre", "Il partit en vendant sa maison."),
        ("perdre", "Les autres perdirent la balle."),
        ("mangeons", "Il mangeait une pomme dans la cuisine avec nous."),
        ("réserver", "Elle a réservé une table pour la famille."),
        ("boire", "Il boit un café."),
        ("recevoir", "Nous avons reçu la lettre."),
        ("tenir", "Elle tenait la corde."),
    ],
    "Spanish verbs": [
        ("vivir", "Vivimos en la casa con los amigos."),
        ("salir", "Salíamos de la casa por la mañana."),
        ("abrir", "¿Abriste la caja?"),
        ("comer", "Comimos pan en la cocina."),
        ("beber", "Bebías agua de la fuente."),
        ("cenar", "Cenábamos con los amigos."),
        ("pedir", "Pide una mesa para los amigos de la casa."),
        ("encontrar", "Encuentra la llave de la casa de los amigos."),
        ("jugar", "Los niños juegan en la casa con los amigos."),
        ("dormir", "El perro duerme en la cocina de la casa."),
        ("empezar", "La clase empieza a las nueve con los otros."),
        ("comprar", "Compramos pan en la tienda con los amigos."),
        ("alquilar", "Alquilé una bicicleta."),
        ("aparcar", "Aparqué el coche."),
        ("apagar", "Apagué la luz."),
        ("rezar", "Recé una hora."),
        ("traducir", "Traduzco la carta."),
        ("traer", "Trajo una caja."),
    ],
    "words derived from one another": [
        ("vytvoření", "Tento příkaz umí vytvořit nový adresář."),
        ("міркування", "Вони люблять міркувати про погоду й життя."),
        ("megőrzése", "A parancs megőrzi a könyvtárat és a fájlt."),
        ("wyświetlanie", "To polecenie wyświetla wszystkie pliki, które są w katalogu."),
    ],
    "flag emoji": [
        ("🇩🇪", "Trip to 🇩🇪🇫🇷 in May."),
    ],
    "units": [
        ("5 µs", "It took 5µs only."),
        ("7µs", "It took 7 µs only."),
        ("9μs", "It took 9 µs only."),
        ("12 kg", "Weight 12㎏ total"),
        ("14㎏", "Weight 14 kg in total"),
        ("16㎡", "A balcony of 16 m² in total"),
        ("17 m²", "A room of 17㎡ in total"),
    ],
    "invisible characters": [
        ("passphrase", "pass\u200bphrase rules of the other office"),
        ("hyphenation", "hyphen\u00adation rules of the printer"),
        ("zero\u200bwidth", "zerowidth is a word here as well"),
    ],
    "dates, numbers and acronyms": [
        ("2019-05-12", "Dentist on 12.05.2019 at noon."),
        ("13.05.2019", "Dentist on 2019-05-13 at noon."),
        ("14.5.2019", "Dentist on 2019_05_14 at noon."),
        ("2019-05-15", "Dentist on 5/15/2019 at noon."),
        ("17 March 2019", "Dentist on 17.03.2019 at noon."),
        ("2019-04-18", "Dentist on 18. April 2019 at noon."),
        ("2019-06-03", "Dentist on June 3rd 2019 at noon."),
        ("2019-06-21", "Dentist on 21st June 2019 at noon."),
        ("19.4.2019", "Dentist on Apr 19, 2019 at noon."),
        ("20190516", "Dentist on 2019-05-16 at noon."),
        ("30.09 dentist", "Dentist on 30 September at noon."),
        ("29.9. dentist", "Dentist on September 29 at noon."),
        ("28 September", "Dentist on 28.09. at noon."),
        ("August 2031", "The passport expires in 08/2031 again."),
        ("09/2032", "The passport expires in September 2032 again."),
        ("0170 9876543", "Call the plumber: 01709876543."),
        ("NATO", "A member of the N.A.T.O. since then."),
        ("U.N.O.", "A member of the UNO since then."),
    ],
    "amounts": [
        ("1299", "The bicycle cost 1,299.00 in all."),
        ("1398", "The bicycle cost 1.398,00 in all."),
        ("1497", "The bicycle cost 1 497 in all."),
        ("1,596.00", "The bicycle cost 1596 in all."),
        ("1.695,50", "The bicycle cost 1,695.50 in all."),
        ("2450000", "The house cost 2,450,000 in all."),
        ("36 511", "The car cost 36511 in all."),
        ("15k", "The car cost 15,000 in all."),
        ("2600", "The bicycle cost 2.6k in all."),
        ("7M", "The house cost 7 million in all."),
        ("8,000,000", "The house cost 8 million in all."),
    ],
    "times of day": [
        ("0605", "The alarm rings at 06:05 each day."),
        ("21.06. solstice", "Am 21.6. ist solstice."),
        ("17:45", "The train leaves at 5:45 pm from here."),
        ("16:44 train", "The train leaves at 16.44 Uhr from here."),
        ("15:43", "The train leaves at 15h43 from here."),
        ("4:42 pm", "The train leaves at 16:42 from here."),
        ("3:41pm", "The train leaves at 15.41 Uhr from here."),
        ("14h40", "The train leaves at 2:40 p.m. from here."),
        ("8:39", "The train leaves at 08:39 from here."),
        ("20 Uhr", "The train leaves at 8 pm from here."),
        ("0:10", "The train leaves at 12:10 am from here."),
    ],
    "percentages, currencies and sizes": [
        ("83 percent", "It was 83% of them."),
        ("84 Prozent", "It was 84 percent of them."),
        ("86 per cent", "It was 86% of them."),
        ("87 percent", "It was 87 per cent of them."),
        ("88 pour cent", "It was 88 percent of them."),
        ("67 dollars", "It was $67 for all of them."),
        ("1268 euros", "It was 1.268 € for all of them."),
        ("71 EUR", "It was 71 euros for all of them."),
        ("62 gigabytes", "It was 62 GB for all of them."),
        ("73h", "It was 73 hours for all of them."),
        ("74 minutes", "It was 74min for all of them."),
        ("1920x1080", "It was 1920 × 1080 for all of them."),
    ],
    "numbers in groups": [
        ("DE89370400440532013000", "Paid from DE89 3704 0044 0532 0130 00 today."),
        ("DE12 5001 0517 0648 4898 90", "Paid from DE12500105170648489890 today."),
        ("9783161484100", "Ordered 978-3-16-148410-0 for her."),
        ("978 0 306 40615 7", "Ordered 9780306406157 for her."),
        ("080442957X", "Ordered 0-8044-2957-X for her."),
        ("4012888888881881", "Paid with 4012 8888 8888 1881 for her."),
        ("01709876544", "Call the plumber: 0170 987 65 44."),
        ("5558695309", "Call the plumber: (555) 869-5309."),
        ("+49 171 9876545", "Call the plumber: 01719876545."),
        ("+48225674000", "Call the plumber: +48 22 567 40 00."),
        ("WX7719K", "The number plate is WX 7719K on it."),
        ("kr8820m", "The number plate is KR-8820-M on it."),
        ("HH44719920", "The contract has the number HH-4471-9920 on it."),
    ],
    "abbreviations": [
        ("phd", "She has a Ph.D. since then."),
        ("M.Sc.", "She has a MSc since then."),
        ("mp3s", "She has an mp3 since then."),
        ("DVD player", "She has a player for DVDs since then."),
        ("GPUs", "She has a GPU since then."),
        ("menu", "She has menus since then."),
    ],
    "ordinals, versions and Roman numerals": [
        ("23rd", "It is the twenty-third time that they came."),
        ("eleventh", "It is the 11th time that they came."),
        ("fourteenth floor", "They live on the 14th floor of it."),
        ("sixteenth edition", "They read the 16th edition of it."),
        ("twenty seventh place", "They were in 27th place at last."),
        ("v51", "They installed version 51 of it."),
        ("version 52", "They installed 52.0 of it."),
        ("53.0", "They installed v53 of it."),
        ("chapter 34", "They read chapter XXXIV of it."),
        ("volume XXXVI", "They read volume 36 of it."),
    ],
    "decimals and decades": [
        ("6.1", "[6, 1, 6, 1, 6, 1, 6, 1] are in the list."),
        ("8.85", "Es kostet 8,85 im Laden."),
        ("60s", "Music of the 1960s was on."),
        ("1970s", "Music of the '70s was on."),
        ("zwölfter Anlauf", "Erst der 12. Anlauf gelang."),
        ("14. Kapitel", "Im vierzehnten Kapitel geht es weiter."),
        ("80er", "Die Musik der 1980er war gut."),
    ],
    "code": [
        ("email", "Send me an e-mail."),
        ("e-mails", "Send me emails."),
        ("setup", "The set-up is done."),
        ("set-ups", "The setups are done."),
        ("nodejs", "We use node.js here."),
        ("vue.js", "We use vuejs here."),
        ("three.js scene", "The scene of threejs is here."),
        ("username", "Call getUserName() before the others."),
        ("file name", "Call getFileName() before the others."),
        ("host_name", "Call getHostName()."),
        ("3.11", "Runs python3.11 now."),
        ("python 3.12", "Runs python3.12 now."),
        ("urllib proxies", "The proxies of urllib3 are set."),
        ("Sqlite", "Runs sqlite3 today."),
        ("freetype", "Needs freetype2b today."),
        ("4711234", "Order AB4711234 came."),
        ("a1b2", "commit a1b2c3d fixed"),
        ("f0e1d2c", "commit f0e1d2c4e5f60718293a4b5c6d7e8f9012345678 fixed"),
    ],
}
_UNRELATED = [
    ("91cent", "It was 91% of them."),
    ("Zeit", "Im Laden gibt es heute keine Tageszeitung mehr."),
    ("Lösung", "Der Umzug verlief am Ende ganz problemlos."),
    ("timer", "Many times there is no time at all."),
    ("coffer", "A coffee in the morning on the balcony."),
    ("solar", "Un café solo en la plaza con los amigos."),
    ("letter", "Ein Platz am Fenster, bitte."),
    ("4,55", "There were 4 of them and 55 of the others."),
]
_PAIRS = [(kind, query, text) for kind, pairs in _FORMS.items() for query, text in pairs]
_DIARY = {
    "en": "Note number {} about gardening, cooking and the weather of the day.",
    "fr": "Le jardin est beau et nous avons vu {} oiseaux dans la cour avec les enfants de la voisine.",
    "es": "El tren llega tarde y no sé si vamos a estar en la oficina a las {}.",
    "de": "Heute ist es kalt und ich weiß nicht, ob der Bus um {} pünktlich ist.",
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltinMemory]:
    folder = tmp_path_factory.mktemp("looser-forms")
    notes = folder / "notes"
    notes.mkdir()
    for number, (_, query, text) in enumerate(_PAIRS):
        (notes / f"looser-{number}.md").write_text(f"{text}\n", "utf-8")
        (notes / f"exact-{number}.md").write_text(f"Wrote {query} again.\n", "utf-8")
    for number, (query, text) in enumerate(_UNRELATED):
        (notes / f"unrelated-{number}.md").write_text(f"{text}\n", "utf-8")
        (notes / f"named-{number}.md").write_text(f"{query} again.\n", "utf-8")
    (notes / "parts.md").write_text("Of the 17 lines, the last is about zq.\n", "utf-8")
    for language, text in _DIARY.items():
        for day in range(10):
            (notes / f"diary-{language}-{day}.md").write_text(f"{text.format(day)}\n", "utf-8")
    settings = Settings()
    store = msgspec.structs.replace(settings.store, path=str(folder / "data"))
    memory = BuiltinMemory(notes, msgspec.structs.replace(settings, store=store), executor=None, background=False)
    memory.sync()
    yield memory
    memory.close()


@pytest.mark.parametrize("of", _FORMS)
def test_looser_form_is_found_below_the_exact_one(memory: BuiltinMemory, of: str) -> None:
    numbers = [number for number, (kind, *_) in enumerate(_PAIRS) if kind == of]
    for number in numbers:
        query = _PAIRS[number][1]
        for mode in ("keyword", "auto") if number == numbers[0] else ("keyword",):
            outcome = memory.search(query, mode=mode, max_results=100)
            found = [result.path for result in outcome.results]
            exact, looser = f"exact-{number}.md", f"looser-{number}.md"
            assert exact in found, query
            assert looser in found, query
            assert found.index(exact) < found.index(looser), query


@pytest.mark.parametrize("number", range(len(_UNRELATED)), ids=[query for query, _ in _UNRELATED])
def test_unrelated_word_with_a_similar_form_is_not_found(memory: BuiltinMemory, number: int) -> None:
    results = memory.search(_UNRELATED[number][0], mode="keyword", max_results=100, min_score=0.0).results
    assert f"unrelated-{number}.md" not in {result.path for result in results}


@pytest.mark.parametrize("word", ["17zq", "LinesZq"])
def test_word_is_nowhere_if_only_its_parts_are(memory: BuiltinMemory, word: str) -> None:
    outcome = memory.search(word, mode="keyword", explain=True)
    assert not outcome.results
    assert outcome.explanation is not None
    assert outcome.explanation.emptied_by == "words"
