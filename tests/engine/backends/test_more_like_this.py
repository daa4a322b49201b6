"""Similar passages: by vectors and by distinctive words, for a chunk, lines and a selection."""

from pathlib import Path

import pytest

from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PassageMissing
from engine.records import LAST_LINE, Passage
from engine.search.more_like_this import LONGEST
from tests.helpers.fake_provider import FakeProvider, PaidProvider

SIMILAR = {
    "pump.md": "# Pump\n\nThe pump lost pressure, so the drip irrigation skipped Tuesday. The timer was fine.\n",
    "cake.md": "# Cake\n\nButter, sugar, eggs, flour; forty minutes at 180 degrees.\n",
    "zh1.md": "# 温室\n\n滴灌定时器跳过了星期二的浇水，阀门卡住了。\n",
    "zh2.md": "# 笔记\n\n阀门又卡住了，滴灌没有运行。\n",
    "th1.md": "# สวน\n\nเครื่องตั้งเวลาระบบน้ำหยดไม่ทำงานในวันอังคาร\n",
    "th2.md": "# บันทึก\n\nระบบน้ำหยดเสีย ต้องเปลี่ยนเครื่องตั้งเวลา\n",
    "ru1.md": "# Теплица\n\nТаймер капельного полива пропустил вторник.\n",
    "ru2.md": "# Заметка\n\nКапельный полив снова не включился, таймер сломан.\n",
}


@pytest.fixture
def workspace(workspace: Path) -> Path:
    for name, text in SIMILAR.items():
        (workspace / name).write_text(text, "utf-8")
    return workspace


def whole(path: str, text: str = "") -> Passage:
    return Passage(path=path, start_line=1, end_line=LAST_LINE, text=text)


def paths(outcome) -> list[str]:
    return [result.path for result in outcome.results]


@pytest.fixture
def by_words(open_memory) -> BuiltinMemory:
    memory = open_memory(use=None)
    memory.sync()
    return memory


def test_own_vector_used_without_provider(memory, provider: FakeProvider) -> None:
    best = memory.search("drip irrigation timer").results[0]
    provider.questions.clear()
    outcome = memory.search_like(Passage(path=best.path, start_line=best.start_line, end_line=best.end_line))
    assert provider.questions == []
    assert (outcome.mode, outcome.notice) == ("hybrid", "")
    assert outcome.results[0].path in {"pump.md", "greenhouse.md"}
    assert best.path not in paths(outcome), "the passage itself is not a result"
    assert outcome.results[0].match_ranges, "shared words are highlighted"
    assert set(outcome.passage_words) >= {"drip", "irrigation"}


@pytest.mark.parametrize(
    ("path", "other", "word"),
    [
        ("greenhouse.md", "pump.md", "irrigation"),
        ("zh1.md", "zh2.md", "阀门"),
        ("th1.md", "th2.md", ""),
        ("ru1.md", "ru2.md", "капельного"),
    ],
)
def test_without_vectors_distinctive_words_are_searched(by_words, path: str, other: str, word: str) -> None:
    outcome = by_words.search_like(whole(path))
    assert outcome.mode == "keyword"
    assert paths(outcome)[:1] == [other]
    assert path not in paths(outcome)
    assert "cake.md" not in paths(outcome)
    assert not word or word in outcome.passage_words


def test_words_only_in_this_passage_are_not_searched(by_words) -> None:
    assert by_words.search_like(whole("cake.md")).passage_words == ()
    assert paths(by_words.search_like(whole("cake.md"))) == []


def test_selection_is_embedded_once_like_a_query(memory, provider: FakeProvider) -> None:
    provider.questions.clear()
    selection = Passage(path="pump.md", start_line=3, end_line=3, text="drip irrigation skipped Tuesday")
    outcome = memory.search_like(selection)
    assert provider.questions == ["drip irrigation skipped Tuesday"]
    assert paths(outcome)[0] == "greenhouse.md"
    assert "pump.md" not in paths(outcome)
    memory.search_like(selection, min_score=0.1)
    assert len(provider.questions) == 1, "the same text is not sent twice"


def test_selection_of_most_of_a_chunk_searches_like_chunk(memory, provider: FakeProvider) -> None:
    provider.questions.clear()
    memory.search_like(whole("pump.md", SIMILAR["pump.md"].replace("# ", "")))
    assert provider.questions == []


def test_rendered_selection_excludes_only_its_part(open_memory, workspace: Path) -> None:
    parts = [f"## Part {n}\n\n" + f"The **valve** number {n} of the [[irrigation]] sticks. " * 30 for n in range(4)]
    (workspace / "long.md").write_text("# Long\n\n" + "\n\n".join(parts), "utf-8")
    memory = open_memory()
    memory.sync()
    page = whole("long.md", "valve number 2 of the irrigation")
    found = memory.search_like(page, path_glob="long.md", max_results=20, min_score=0.0)
    assert found.results
    assert all("valve number 2 of the" not in result.snippet.replace("*", "") for result in found.results)


def test_secrets_in_a_selection_are_never_sent(memory, provider: FakeProvider) -> None:
    key = "sk-proj-" + "Ab1" * 16
    memory.search_like(Passage(path="pump.md", start_line=3, end_line=3, text=f"the pump key is {key} for the timer"))
    assert key not in provider.questions[-1]
    assert "the pump key is" in provider.questions[-1]


def test_nothing_sent_without_consent(open_memory, workspace: Path) -> None:
    (workspace / "long.md").write_text("# Long\n\n" + " ".join(f"word{number}" for number in range(3000)), "utf-8")
    paid = PaidProvider()
    memory = open_memory(use=paid)
    assert memory.sync().awaiting_approval is not None
    outcome = memory.search_like(whole("pump.md", "drip irrigation timer"))
    assert paid.questions == []
    assert outcome.mode == "keyword"
    assert "has not been approved" in outcome.notice
    assert paths(outcome)


def test_failing_provider_leaves_keyword_results(memory, provider: FakeProvider) -> None:
    provider.fails_queries = "The quota is used up."
    outcome = memory.search_like(whole("pump.md", "drip irrigation timer"))
    assert outcome.mode == "keyword"
    assert "The quota is used up." in outcome.notice
    assert "greenhouse.md" in paths(outcome)


def test_similar_search_applies_filters(memory) -> None:
    like = whole("greenhouse.md")
    assert paths(memory.search_like(like, path_glob="daily/**", min_score=0.0)) == ["daily/2026-02-08.md"]
    assert paths(memory.search_like(like, sources=["sessions"], min_score=0.0)) == []
    assert len(memory.search_like(like, max_results=1, min_score=0.0).results) == 1
    assert paths(memory.search_like(like, until=1.0)) == []


def test_passage_without_distinctive_words_has_no_words_stage(memory, workspace: Path) -> None:
    (workspace / "short.md").write_text("The of and.\n", "utf-8")
    memory.sync()
    outcome = memory.search_like(whole("short.md"), min_score=0.0, explain=True)
    names = [stage.name for stage in outcome.explanation.stages]
    assert outcome.passage_words == ()
    assert "words" not in names
    assert "vectors" in names


def test_similar_search_explains_result_and_stages(memory) -> None:
    explanation = memory.search_like(whole("greenhouse.md"), explain=True).explanation
    stages = {stage.name: stage for stage in explanation.stages}
    assert stages["passage"].before - stages["passage"].after == 1
    assert "irrigation" in stages["words"].note
    assert explanation.results[0].cosine is not None
    assert explanation.results[0].terms


def test_similar_to_lines_excludes_only_those_lines(open_memory, workspace: Path) -> None:
    parts = [f"## Part {n}\n\n" + f"Valve number {n} of the irrigation sticks. " * 30 for n in range(6)]
    (workspace / "long.md").write_text("# Long\n\n" + "\n\n".join(parts), "utf-8")
    memory = open_memory()
    memory.sync()
    chunk = next(r for r in memory.search("valve irrigation", path_glob="long.md", max_results=20).results)
    found = memory.search_like(
        Passage(path="long.md", start_line=chunk.start_line, end_line=chunk.end_line), path_glob="long.md"
    )
    lines = {(result.start_line, result.end_line) for result in found.results}
    assert lines
    assert (chunk.start_line, chunk.end_line) not in lines


def test_missing_passage_raises(memory, workspace: Path) -> None:
    (workspace / "pump.md").unlink()
    memory.sync()
    with pytest.raises(PassageMissing, match=r"No passage of pump\.md is indexed"):
        memory.search_like(whole("pump.md"))
    with pytest.raises(PassageMissing, match="lines 900 to 910"):
        memory.search_like(Passage(path="cake.md", start_line=900, end_line=910))
    assert "greenhouse.md" in paths(memory.search_like(whole("pump.md", "drip irrigation timer")))


def test_hidden_files_not_reachable_by_similarity(open_memory, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Mine\n\nThe drip irrigation timer code is 4711.\n", "utf-8")
    (workspace / "memory").mkdir()
    (workspace / "memory" / "pump.md").write_text(SIMILAR["pump.md"], "utf-8")
    memory = open_memory()
    memory.sync()
    assert memory.search_like(whole("MEMORY.md")).results
    with pytest.raises(PassageMissing):
        memory.search_like(whole("MEMORY.md"), session_key="agent:main:discord:group:1")
    with pytest.raises(PassageMissing):
        open_memory(exclude=("MEMORY.md",)).search_like(whole("MEMORY.md"))


def test_cancelled_search_raises(memory) -> None:
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.search_like(whole("pump.md"), cancel=token)


def test_similar_search_for_impossible_name_raises(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    with pytest.raises(PassageMissing):
        memory.search_like(whole("\udcff.md"))


def test_similar_search_does_not_send_a_cut_secret(memory, provider: FakeProvider) -> None:
    block = "-----BEGIN RSA PRIVATE KEY-----\n" + ("A1b2" * 16 + "\n") * 45 + "-----END RSA PRIVATE KEY-----\n"
    text = f"A pump of brass.\n{block}{block}"
    text += "word " * ((2 * LONGEST - len(text) - 12) // 5) + "ghp_" + "aB3dE6gH9j" * 4
    memory.search_like(Passage(path="gone.md", start_line=1, end_line=3, text=text))
    [sent] = provider.questions
    assert "A pump of brass." in sent
    assert "ghp_" not in sent
