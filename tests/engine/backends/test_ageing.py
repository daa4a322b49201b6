"""Temporal decay and diversity through the contract: off by default, and explained if enabled."""

import datetime
import json
import os
import time
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import ProviderError
from engine.settings.options import SessionSettings
from engine.settings.search_settings import MmrSettings, QuerySettings, TemporalDecaySettings

DAY = 86_400
TEXT = "# Valve\n\nThe valve of the greenhouse was repaired with a brass fitting.\n"


def query_settings(*, decay: TemporalDecaySettings | None = None, mmr: MmrSettings | None = None) -> QuerySettings:
    query = QuerySettings()
    hybrid = msgspec.structs.replace(
        query.hybrid, temporal_decay=decay or TemporalDecaySettings(), mmr=mmr or MmrSettings()
    )
    return msgspec.structs.replace(query, hybrid=hybrid)


def decay(**changes) -> QuerySettings:
    return query_settings(decay=TemporalDecaySettings(enabled=True, **changes))


def day_before(days: int) -> str:
    return (datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=days)).strftime("%Y-%m-%d")


def write(folder: Path, name: str, text: str = "") -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text or TEXT, "utf-8")


def explained(memory, query: str = "greenhouse valve", **changes):
    outcome = memory.search(query, max_results=50, explain=True, **changes)
    reasons = {reason.citation: reason for reason in outcome.explanation.results}
    return {result.path: (result, reasons[result.citation]) for result in outcome.results}, outcome


def test_results_do_not_age_by_default(open_memory, workspace: Path) -> None:
    write(workspace, "daily/2001-01-01.md")
    write(workspace, "undated.md")
    memory = open_memory(use=None)
    memory.sync()
    found, outcome = explained(memory)
    assert found["daily/2001-01-01.md"][0].score == found["undated.md"][0].score
    reason = found["daily/2001-01-01.md"][1]
    assert (reason.decay, reason.date, reason.date_origin, reason.mmr_penalty) == (1.0, None, None, 0.0)
    assert not {"age", "diversity"} & {stage.name for stage in outcome.explanation.stages}


def test_each_file_kind_ages_by_own_date(open_memory, workspace: Path, tmp_path: Path) -> None:
    old, recent = day_before(60), day_before(30)
    year, month, day = old.split("-")
    extra = tmp_path / "manuals"
    write(workspace, f"daily/{old}-brass.md")
    write(workspace, f"log/{year}/{month}/{day}.md")
    write(workspace, "meeting.md", f"---\ntitle: Meeting\ncreated: 2001-01-01\nupdated: {recent}\n---\n\n" + TEXT)
    write(workspace, "law.md", "---\ndate: 2001-01-01\nevergreen: yes\n---\n\n" + TEXT)
    write(workspace, "undated.md")
    write(extra, "valve.md")
    os.utime(extra / "valve.md", (time.time() - 90 * DAY,) * 2)
    memory = open_memory(use=None, query=decay(), extra_paths=(str(extra),))
    memory.sync()
    found, _ = explained(memory, min_score=0.0)

    def age(path: str) -> tuple[float, str | None]:
        result, reason = found[path]
        blended = reason.text_score * reason.decay
        assert result.score == pytest.approx(blended, abs=1e-5)
        return round(reason.decay, 2), reason.date_origin

    assert age(f"daily/{old}-brass.md") == (pytest.approx(0.25, abs=0.02), "name")
    assert age(f"log/{year}/{month}/{day}.md") == (pytest.approx(0.25, abs=0.02), "folder")
    assert age("meeting.md") == (pytest.approx(0.5, abs=0.02), "front-matter")
    assert age("law.md") == (1.0, "evergreen")
    assert age("undated.md") == (1.0, "evergreen")
    assert age("manuals/valve.md") == (pytest.approx(0.125, abs=0.01), "modified")
    ranks = [reason.rank for _, reason in found.values()]
    assert ranks == list(range(1, len(found) + 1))
    assert list(found)[-1] == "manuals/valve.md"
    assert found["meeting.md"][1].half_life_days == 30


def test_paths_may_have_half_lives_of_their_own_or_none(open_memory, workspace: Path) -> None:
    write(workspace, f"log/{day_before(10)}.md")
    write(workspace, f"minutes/{day_before(10)}.md")
    write(workspace, f"kept/{day_before(10)}.md")
    write(workspace, "projects/valve.md")
    os.utime(workspace / "projects/valve.md", (time.time() - 100 * DAY,) * 2)
    memory = open_memory(
        use=None,
        query=decay(evergreen=("kept/",), half_life_by_path={"log/**": 10.0, "minutes/**": 0.0, "projects/**": 100.0}),
    )
    memory.sync()
    found, _ = explained(memory, min_score=0.0)
    factors = {path.partition("/")[0]: reason.decay for path, (_, reason) in found.items() if "/" in path}
    assert factors["log"] == pytest.approx(0.5, abs=0.05)
    assert factors["minutes"] == factors["kept"] == 1.0
    assert factors["projects"] == pytest.approx(0.5, abs=0.02)


def test_openclaw_memory_never_ages_but_dated_names_do(open_memory, workspace) -> None:
    old = day_before(30)
    for name in ("MEMORY.md", "memory/valves.md", f"memory/{old}-valves.md", f"memory/deep/er/{old}.md"):
        write(workspace, name)
    memory = open_memory(use=None, query=decay())
    memory.sync()
    found, _ = explained(memory)
    factors = {path: round(reason.decay, 1) for path, (_, reason) in found.items()}
    assert factors == {
        "MEMORY.md": 1.0,
        "memory/valves.md": 1.0,
        f"memory/{old}-valves.md": 0.5,
        f"memory/deep/er/{old}.md": 0.5,
    }


def test_aged_results_reported_and_words_still_found(open_memory, workspace: Path) -> None:
    write(workspace, "daily/2020-02-02.md", "# Sunday\n\nTomatoes limp in the glasshouse, water them.\n")
    memory = open_memory(query=decay())
    memory.sync()
    found, outcome = explained(memory, "limp tomatoes")
    assert found["daily/2020-02-02.md"][0].score == 0.35  # the minimum: its keywords alone let it pass
    assert found["daily/2020-02-02.md"][1].text_score >= 0.35
    stages = {stage.name: stage for stage in outcome.explanation.stages}
    assert list(stages)[-3:] == ["age", "threshold", "results"]
    assert stages["threshold"].before == stages["age"].after


FADED = "the of the was quagga"
"""Words that keyword search hardly matches, but that the fake model has vectors for."""


def test_aged_result_below_minimum_is_removed_in_its_stage(open_memory, workspace: Path) -> None:
    write(workspace, "daily/2020-02-02.md", "# Sunday\n\nThe watering clock of the hothouse was the one of the shed.\n")
    question = {"path_glob": "daily/2020*", "min_score": 0.2, "explain": True}
    fresh = open_memory()
    fresh.sync()
    (result,) = fresh.search(FADED, **question).results
    assert result.text_score < 0.2 < result.score
    fresh.close()
    outcome = open_memory(query=decay()).search(FADED, **question)
    stages = {stage.name: stage for stage in outcome.explanation.stages}
    assert outcome.results == ()
    assert (stages["age"].before, stages["age"].after, stages["threshold"].before) == (1, 0, 0)
    best = f"The best score was {result.score:.2f}."
    assert stages["age"].note == f"Passages whose score fell below 0.2 with age: 1. {best}"


def test_sessions_age_from_their_end(open_memory, tmp_path: Path) -> None:
    store = tmp_path / "agents/main/sessions"
    store.mkdir(parents=True)
    head = json.dumps({"type": "session", "id": "s1", "cwd": "/boat", "timestamp": "2026-03-01T10:00:00.000Z"})
    message = {"role": "user", "content": [{"type": "text", "text": "The greenhouse valve drips."}]}
    line = json.dumps({"type": "message", "id": "m1", "timestamp": "2026-03-02T10:00:00.000Z", "message": message})
    (store / "valve.jsonl").write_text(f"{head}\n{line}\n")
    memory = open_memory(use=None, query=decay(), sessions=SessionSettings(folders=(str(store),)))
    memory.sync()
    found, _ = explained(memory, min_score=0.0)
    reason = found["sessions/main/valve.jsonl"][1]
    assert reason.date_origin == "session"
    assert reason.date == datetime.datetime(2026, 3, 2, 10, tzinfo=datetime.UTC).timestamp()


COPIES = {
    "copies/a.md": "# Valve\n\nThe brass valve of the greenhouse was repaired with a new brass fitting on Sunday.\n",
    "copies/b.md": "# Valve\n\nThe brass valve of the greenhouse was repaired with a new brass fitting on Monday.\n",
    "copies/other.md": "# Rain\n\nGreenhouse, barrel: one brass valve each, shut off as tanks fill.\n",
    "copies/weak.md": "# Seed swap\n\nInes brings beans, Oskar brings kale and Wei brings a greenhouse plan.\n",
}


@pytest.mark.parametrize("by_vectors", [True, False])
def test_copies_move_down_for_variety(open_memory, workspace, provider, by_vectors: bool) -> None:
    for name, text in COPIES.items():
        write(workspace, name, text)
    use = provider if by_vectors else None
    question = {"query": "brass greenhouse valve", "path_glob": "copies/**", "min_score": 0.0}
    plain = open_memory(use=use)
    plain.sync()
    before, _ = explained(plain, **question)
    assert list(before)[2:] == ["copies/other.md", "copies/weak.md"]
    plain.close()
    found, outcome = explained(open_memory(use=use, query=query_settings(mmr=MmrSettings(enabled=True))), **question)
    first, second, third, _ = found
    assert second == "copies/other.md"
    assert {path: result.score for path, (result, _) in found.items()} == {
        path: result.score for path, (result, _) in before.items()
    }
    reason = found[third][1]
    assert (reason.rank, reason.score_rank, reason.mmr_similar_to) == (3, 2, found[first][0].citation)
    assert 0.15 < reason.mmr_penalty <= 0.3
    assert (found[first][1].mmr_penalty, found[first][1].mmr_similar_to) == (0.0, "")
    stage = outcome.explanation.stages[-2]
    assert (stage.name, stage.before, stage.after) == ("diversity", 4, 4)
    assert stage.note == "Passages moved for more variety: 2 of the first 4."


def test_single_query_overrides_ageing(open_memory, workspace: Path) -> None:
    write(workspace, f"daily/{day_before(60)}.md")
    write(workspace, f"log/{day_before(60)}.md")
    write(workspace, f"law/{day_before(60)}.md")
    rules = {"evergreen": ("law",), "half_life_by_path": {"log": 60.0}}

    def factors(memory, **options) -> list[float]:
        found, _ = explained(memory, min_score=0.0, **options)
        return [round(found[f"{name}/{day_before(60)}.md"][1].decay, 2) for name in ("daily", "log", "law")]

    off = open_memory(use=None, query=query_settings(decay=TemporalDecaySettings(**rules)))
    off.sync()
    assert factors(off) == [1, 1, 1]
    assert factors(off, half_life_days=30) == pytest.approx([0.25, 0.5, 1], abs=0.02)
    off.close()
    on = open_memory(use=None, query=decay(**rules))
    assert factors(on) == pytest.approx([0.25, 0.5, 1], abs=0.02)
    assert factors(on, half_life_days=60) == pytest.approx([0.5, 0.5, 1], abs=0.02)
    assert factors(on, half_life_days=0) == factors(on, half_life_days=-1) == [1, 1, 1]


def test_single_query_overrides_diversity(open_memory, workspace: Path) -> None:
    for name, text in COPIES.items():
        write(workspace, name, text)
    question = {"query": "brass greenhouse valve", "path_glob": "copies/**", "min_score": 0.0}
    plain = open_memory(use=None)
    plain.sync()
    by_score = list(explained(plain, **question)[0])
    varied = list(explained(plain, **question, diverse=True)[0])
    assert by_score != varied
    plain.close()
    always = open_memory(use=None, query=query_settings(mmr=MmrSettings(enabled=True)))
    assert list(explained(always, **question)[0]) == varied
    assert list(explained(always, **question, diverse=False)[0]) == by_score


SCRIPTS = {
    "chinese": ("番茄在温室里需要每天浇水", "番茄在温室里需要每天浇灌", "我们把番茄送给了邻居做汤"),
    "japanese": ("温室のトマトに毎日水をやる", "温室のトマトに毎日水をあげる", "トマトを隣の人に渡してスープにした"),
    "thai": ("รดน้ำมะเขือเทศในเรือนกระจกทุกวัน", "รดน้ำมะเขือเทศในเรือนกระจกทุกเช้า", "มะเขือเทศลูกใหญ่เอาไปทำซุปให้เพื่อนบ้าน"),
    "russian": ("томат в теплице поливаем каждый день", "томат в теплице поливаем каждое утро", "томат отдали соседям"),
    "arabic": ("طماطم الدفيئة تسقى كل يوم", "طماطم الدفيئة تسقى كل صباح", "طماطم كثيرة أعطيناها للجيران لأجل الحساء"),
}
WORDS = {"chinese": "番茄", "japanese": "トマト", "thai": "มะเขือเทศ", "russian": "томат", "arabic": "طماطم"}


@pytest.mark.parametrize("language", SCRIPTS)
def test_keyword_similarity_works_in_every_script(open_memory, workspace: Path, language: str) -> None:
    for name, text in zip(("a", "b", "other"), SCRIPTS[language], strict=True):
        write(workspace, f"copies/{name}.md", text + "\n")
    memory = open_memory(use=None, query=query_settings(mmr=MmrSettings(enabled=True, lambda_=0.3)))
    memory.sync()
    found, _ = explained(memory, WORDS[language], path_glob="copies/**", min_score=0.0)
    assert set(list(found)[:2]) != {"copies/a.md", "copies/b.md"}
    last = list(found.values())[-1][1]
    assert last.mmr_penalty > 0.2


def test_copy_without_vector_is_compared_by_keywords(open_memory, workspace: Path, provider) -> None:
    for name, text in COPIES.items():
        if name != "copies/b.md":
            write(workspace, name, text)
    memory = open_memory(query=query_settings(mmr=MmrSettings(enabled=True)))
    memory.sync()
    write(workspace, "copies/b.md", COPIES["copies/b.md"])

    def refuse(_texts) -> None:
        raise ProviderError("No answer.")

    provider.before = refuse
    memory.sync()
    found, _ = explained(memory, "brass greenhouse valve", path_glob="copies/**", min_score=0.0)
    reasons = [reason for _, reason in found.values()]
    assert [found[path][1].vector_score is None for path in ("copies/a.md", "copies/b.md")] == [False, True]
    later = max(reasons, key=lambda reason: reason.mmr_penalty)
    assert {later.citation, later.mmr_similar_to} == {"copies/a.md#L1-L3", "copies/b.md#L1-L3"}
