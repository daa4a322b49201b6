"""Full questions in many languages find their note by keywords alone, among notes in all languages.

Each language has the same four notes; each question is about one of them in other word forms than the note's, with
the usual function words.
"""

from collections.abc import Iterator

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import StoreSettings
from engine.text import analyse_query
from engine.text.languages import _BY_SCRIPT, _WITHIN_SCRIPT
from engine.text.stopwords import languages_by_word
from tests.helpers.language_notes import NORTH_AND_EAST, SOUTH_AND_FAR, TOPICS, Case

LANGUAGES = {
    "english": Case(
        (
            "The timer of the drip irrigation in the greenhouse skipped Tuesday. The tomatoes were dry.",
            "The meeting with the board was moved to Thursday because the room was not free.",
            "For the rye bread the dough rests overnight in the fridge, then it bakes for an hour.",
            "We booked two train tickets to Lisbon and a hotel beside the station.",
        ),
        (
            ("Why did the irrigation in our greenhouse skip a day?", "watering"),
            ("When is the meeting with the board?", "meeting"),
            ("how long does the dough have to rest", "bread"),
            ("where are the tickets for the train", "train"),
        ),
        ("irrigation", "greenhouse", "skip", "day"),
    ),
    "german": Case(
        (
            "Die Zeitschaltuhr der Bewässerung im Gewächshaus hat den Dienstag ausgelassen. Die Tomaten waren trocken.",
            "Die Sitzung mit dem Vorstand wurde auf Donnerstag verschoben, weil der Raum nicht frei war.",
            "Für das Roggenbrot ruht der Teig über Nacht im Kühlschrank, dann backt er eine Stunde.",
            "Wir haben zwei Fahrkarten für den Zug nach Lissabon gekauft und ein Hotel am Bahnhof gebucht.",
        ),
        (
            ("Warum hat die Bewässerung in unserem Gewächshaus nicht funktioniert?", "watering"),
            ("Wann ist die nächste Sitzung mit dem Vorstand?", "meeting"),
            ("wie lange muss der Teig ruhen", "bread"),
            ("wo sind die Fahrkarten für den Zug", "train"),
        ),
        ("Bewässerung", "Gewächshaus", "funktioniert"),
    ),
    "french": Case(
        (
            "La minuterie de l’arrosage de la serre a sauté le mardi. Les tomates étaient sèches.",
            "La réunion avec le bureau est déplacée à jeudi parce que la salle n’était pas libre.",
            "Pour le pain de seigle, la pâte repose toute la nuit au frigo, puis elle cuit une heure.",
            "Nous avons acheté deux billets de train pour Lisbonne et réservé un hôtel près de la gare.",
        ),
        (
            ("Pourquoi est-ce que l'arrosage de notre serre ne marche pas ?", "watering"),
            ("À quand est la réunion avec le bureau ?", "meeting"),
            ("combien de temps la pâte doit-elle reposer", "bread"),
            ("où sont les billets du train", "train"),
        ),
        ("l'arrosage", "serre", "marche"),
    ),
    "spanish": Case(
        (
            "El temporizador del riego del invernadero se saltó el martes. Los tomates estaban secos.",
            "La reunión con la junta se movió al jueves porque la sala no estaba libre.",
            "Para el pan de centeno la masa reposa toda la noche en la nevera y luego se hornea una hora.",
            "Compramos dos billetes de tren a Lisboa y reservamos un hotel junto a la estación.",
        ),
        (
            ("¿Por qué no funcionó el riego de nuestro invernadero?", "watering"),
            ("¿Cuándo son las reuniones con la junta?", "meeting"),
            ("cuánto tiempo tiene que reposar la masa", "bread"),
            ("dónde están los billetes del tren", "train"),
        ),
        ("funcionó", "riego", "invernadero"),
    ),
    "italian": Case(
        (
            "Il timer dell'irrigazione della serra ha saltato il martedì. I pomodori erano secchi.",
            "La riunione con il consiglio è stata spostata a giovedì perché la sala non era libera.",
            "Per il pane di segale l'impasto riposa tutta la notte in frigo, poi cuoce un'ora.",
            "Abbiamo comprato due biglietti del treno per Lisbona e prenotato un albergo vicino alla stazione.",
        ),
        (
            ("Perché l'irrigazione della nostra serra non ha funzionato?", "watering"),
            ("Quando è la riunione con il consiglio?", "meeting"),
            ("per quanto tempo deve riposare l'impasto", "bread"),
            ("dove sono i biglietti del treno", "train"),
        ),
        ("l'irrigazione", "serra", "funzionato"),
    ),
    "portuguese": Case(
        (
            "O temporizador da rega da estufa falhou na terça-feira. Os tomates estavam secos.",
            "A reunião com a direção foi adiada para quinta-feira porque a sala não estava livre.",
            "Para o pão de centeio a massa descansa a noite toda no frigorífico e depois coze uma hora.",
            "Comprámos dois bilhetes de comboio para Lisboa e reservámos um hotel ao lado da estação.",
        ),
        (
            ("Por que é que a rega da nossa estufa não funcionou?", "watering"),
            ("Quando são as reuniões com a direção?", "meeting"),
            ("quanto tempo a massa tem de descansar", "bread"),
            ("onde estão os bilhetes do comboio", "train"),
        ),
        ("rega", "estufa", "funcionou"),
    ),
    "dutch": Case(
        (
            "De tijdklok van de besproeiing in de kas sloeg dinsdag over. De tomaten waren droog.",
            "De vergadering met het bestuur is verplaatst naar donderdag omdat de zaal niet vrij was.",
            "Voor het roggebrood rust het deeg een nacht in de koelkast, daarna bakt het een uur.",
            "We hebben twee treinkaartjes naar Lissabon gekocht en een hotel naast het station geboekt.",
        ),
        (
            ("Waarom werkte de besproeiing in onze kas niet?", "watering"),
            ("Wanneer is de vergadering met het bestuur?", "meeting"),
            ("hoe lang moet het deeg rusten", "bread"),
            ("waar zijn de treinkaartjes naar Lissabon", "train"),
        ),
        ("werkte", "besproeiing", "kas"),
    ),
    "russian": Case(
        (
            "Таймер полива в теплице пропустил вторник. Помидоры засохли.",
            "Встреча с правлением перенесена на четверг, потому что зал был занят.",
            "Для ржаного хлеба тесто отдыхает всю ночь в холодильнике, потом печётся час.",
            "Мы купили два билета на поезд до Лиссабона и забронировали гостиницу у вокзала.",
        ),
        (
            ("Почему в нашей теплице не было полива?", "watering"),
            ("Когда будет встреча с правлением?", "meeting"),
            ("сколько времени должно отдыхать тесто", "bread"),
            ("где лежат билеты на поезд", "train"),
        ),
        ("теплице", "полива"),
    ),
    "arabic": Case(
        (
            "مؤقت الري في البيت الزجاجي تجاوز يوم الثلاثاء وكانت الطماطم جافة.",
            "تم نقل الاجتماع مع مجلس الإدارة إلى يوم الخميس لأن القاعة كانت مشغولة.",
            "لخبز الشعير يرتاح العجين طوال الليل في الثلاجة ثم يخبز لمدة ساعة.",
            "اشترينا تذكرتين للقطار إلى لشبونة وحجزنا فندقا بجانب المحطة.",
        ),
        (
            ("لماذا لم يعمل الري في البيت الزجاجي؟", "watering"),
            ("متى الاجتماع مع مجلس الإدارة؟", "meeting"),
            ("كم من الوقت يرتاح العجين في الثلاجة", "bread"),
            ("أين حجزنا الفندق بجانب المحطة", "train"),
        ),
        ("يعمل", "الري", "البيت", "الزجاجي"),
    ),
    "korean": Case(
        (
            "온실의 물주기 타이머가 화요일을 건너뛰었다. 토마토가 말랐다.",
            "회의실이 비어 있지 않아서 이사회와의 회의를 목요일로 옮겼다.",
            "호밀빵 반죽은 냉장고에서 하룻밤 쉬게 한 다음 한 시간 동안 굽는다.",
            "리스본으로 가는 기차표 두 장을 사고 역 옆의 호텔을 예약했다.",
        ),
        (
            ("우리 온실에서 왜 물주기가 안 되었나요?", "watering"),
            ("이사회 회의는 언제인가요?", "meeting"),
            ("호밀빵 반죽을 어떻게 쉬게 하나", "bread"),
            ("리스본 기차표는 어디에 있나요", "train"),
        ),
        ("온실에서", "물주기가"),
    ),
    "japanese": Case(
        (
            "温室の水やりタイマーが火曜日に動かなかった。トマトは乾いていた。",
            "会議室が空いていなかったので、理事会との会議は木曜日に変更された。",
            "ライ麦パンの生地は冷蔵庫で一晩寝かせてから一時間焼く。",
            "リスボン行きの電車の切符を二枚買い、駅の隣のホテルを予約した。",
        ),
        (
            ("温室の水やりはなぜ動かなかったのですか？", "watering"),
            ("理事会との会議はいつですか", "meeting"),
            ("生地を冷蔵庫でどのくらい寝かせますか", "bread"),
            ("電車の切符はどこですか", "train"),
        ),
        ("温室", "水", "動"),
    ),
    "chinese": Case(
        (
            "温室的滴灌定时器星期二没有启动，番茄都干了。",
            "因为会议室没有空，和董事会的会议改到了星期四。",
            "做黑麦面包的面团要在冰箱里放一夜，然后烤一个小时。",
            "我们买了两张去里斯本的火车票，还订了车站旁边的酒店。",
        ),
        (
            ("为什么我们温室的滴灌没有启动？", "watering"),
            ("和董事会的会议是什么时候？", "meeting"),
            ("面团要在冰箱里放多久", "bread"),
            ("火车票在哪里", "train"),
        ),
        ("温室", "滴灌", "启动"),
    ),
    "thai": Case(
        (
            "ตัวตั้งเวลารดน้ำในเรือนกระจกไม่ทำงานวันอังคาร มะเขือเทศแห้งหมด",
            "เลื่อนการประชุมกับคณะกรรมการไปวันพฤหัสบดีเพราะห้องไม่ว่าง",
            "แป้งขนมปังไรย์ต้องพักไว้ในตู้เย็นหนึ่งคืนแล้วอบหนึ่งชั่วโมง",
            "เราซื้อตั๋วรถไฟไปลิสบอนสองใบและจองโรงแรมข้างสถานี",
        ),
        (
            ("ทำไมเรือนกระจกของเราไม่รดน้ำ", "watering"),
            ("การประชุมกับคณะกรรมการคือเมื่อไหร่ครับ", "meeting"),
            ("ต้องพักแป้งขนมปังอย่างไร", "bread"),
            ("ตั๋วรถไฟอยู่ที่ไหนคะ", "train"),
        ),
        ("เรื", "รือ", "อน", "นก", "กร", "ระ", "ะจ", "จก", "รดน้ำ"),
    ),
    **NORTH_AND_EAST,
    **SOUTH_AND_FAR,
}


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BuiltinMemory]:
    """Index all notes in all languages together, for keyword search."""
    home = tmp_path_factory.mktemp("languages")
    for language, case in LANGUAGES.items():
        for topic, text in zip(TOPICS, case.notes, strict=True):
            path = home / "notes" / note(language, topic)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text + "\n", "utf-8")
    opened = BuiltinMemory(
        home / "notes",
        Settings(provider="none", store=StoreSettings(path=str(home / "data"))),
        executor=None,
        background=False,
    )
    opened.sync()
    yield opened
    opened.close()


def note(language: str, topic: str) -> str:
    """Return the path of a note, which is a number, since words would be searched too."""
    return f"{language}/{TOPICS.index(topic)}.md"


ASKED = [(language, *question) for language, case in LANGUAGES.items() for question in case.questions]


@pytest.mark.parametrize(("language", "question", "topic"), ASKED, ids=[f"{case[0]}-{case[2]}" for case in ASKED])
def test_whole_question_ranks_its_note_first(memory: BuiltinMemory, language: str, question: str, topic: str) -> None:
    outcome = memory.search(question)
    assert outcome.mode == "keyword"
    assert [result.path for result in outcome.results][:1] == [note(language, topic)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_function_words_of_a_question_are_not_searched(language: str) -> None:
    case = LANGUAGES[language]
    terms = analyse_query(case.questions[0][0], ("english", language)).terms
    assert tuple(term.surface for term in terms if not term.stop) == case.asked


def test_every_language_that_a_note_may_be_in_has_its_sentences() -> None:
    told_by_words = {language for owners in languages_by_word().values() for language in owners}
    told_by_letters = {*_BY_SCRIPT.values(), *(language for *_, language in _WITHIN_SCRIPT if language)}
    assert told_by_words | told_by_letters <= LANGUAGES.keys()


SHORT = [
    *(("english", "Lisbon", "train"), ("german", "Teig", "bread"), ("russian", "полив", "watering")),
    *(("chinese", "会议", "meeting"), ("chinese", "番茄", "watering"), ("chinese", "面包", "bread")),
    *(("chinese", "车站", "train"), ("chinese", "茄", "watering"), ("chinese", "API番茄", "watering")),
    *(("japanese", "会議", "meeting"), ("japanese", "生地", "bread"), ("japanese", "切符", "train")),
    *(("japanese", "トマト", "watering"), ("japanese", "パン", "bread"), ("japanese", "寝か", "bread")),
    *(("korean", "온실", "watering"), ("korean", "반죽", "bread"), ("korean", "회의", "meeting")),
    *(("korean", "역", "train"), ("thai", "น้ำ", "watering"), ("thai", "แป้ง", "bread"), ("thai", "รถไฟ", "train")),
    *(("thai", "ตั๋ว", "train"), ("arabic", "الري", "watering"), ("arabic", "عجين", "bread")),
]


@pytest.mark.parametrize(("language", "query", "topic"), SHORT, ids=[f"{row[0]}-{row[1]}" for row in SHORT])
def test_words_of_one_to_five_characters_find_their_note(
    memory: BuiltinMemory, language: str, query: str, topic: str
) -> None:
    results = memory.search(query, path_glob=f"{language}/**").results
    assert [result.path for result in results][:1] == [note(language, topic)]
    marked = results[0]
    assert any(marked.snippet[start:end] for start, end in marked.match_ranges)


def test_compound_in_short_note_is_marked(open_memory, workspace) -> None:
    (workspace / "todo.md").write_text("Stromrechnung bezahlen\n", "utf-8")
    (workspace / "haus.md").write_text("# Haus\n\nDas Dach ist nicht dicht, und der Keller ist feucht.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    [result] = memory.search("Rechnung", min_score=0.1).results
    marked = [result.snippet[start:end] for start, end in result.match_ranges]
    assert (result.path, marked) == ("todo.md", ["rechnung"])


def test_unknown_language_marks_only_words_as_typed(open_memory, workspace) -> None:
    (workspace / "книга.md").write_text("Книга — паперова книга. Друкарня друкує її, бо книги люблять усі.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    [result] = memory.search("книга", min_score=0.1, path_glob="книга.md").results
    assert {result.snippet[start:end] for start, end in result.match_ranges} == {"Книга", "книга"}


def test_undecided_short_note_counts_as_english(open_memory, workspace) -> None:
    for note in workspace.rglob("*.md"):
        note.unlink()
    (workspace / "todo.md").write_text("Stromrechnung bezahlen\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    with memory.store.read() as snapshot:
        assert snapshot.languages() == ("english",)
        assert snapshot.beginnings("english", 3) == ["Stromrechnung bezahlen"]
    (workspace / "kurs.md").write_text("Der Kurs beginnt am Montag\n", "utf-8")  # with likelier languages
    memory.sync()
    with memory.store.read() as snapshot:
        assert set(snapshot.beginnings("english", 3)) == {"Stromrechnung bezahlen", "Der Kurs beginnt am Montag"}
    assert not memory.search("Rechnung", min_score=0.1).results  # no note is in a language with compounds
    assert memory.insight.chunks_of("todo.md").language == "english"


def test_short_note_is_found_and_marked_by_likelier_language(open_memory, workspace) -> None:
    (workspace / "jardin.md").write_text("El jardín es grande y las flores no están en la casa, sino fuera.\n", "utf-8")
    (workspace / "lista.md").write_text("Pinté las mesas.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    with memory.store.read() as snapshot:
        assert "spanish" in snapshot.languages()
    [result] = memory.search("mesa vieja", min_score=0.1).results
    marked = [result.snippet[start:end] for start, end in result.match_ranges]
    assert (result.path, marked) == ("lista.md", ["mesas"])
