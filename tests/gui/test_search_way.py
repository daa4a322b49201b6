"""What is kept of a workspace: the ranking of its results."""

import engine
from gui.search.ranking import Ranking


def test_the_settings_rank_until_a_person_chooses_otherwise(qtbot, window, memory, user_home):
    engine.save_settings(
        {"query.hybrid.temporal_decay.enabled": True, "query.hybrid.mmr.enabled": True}, workspace=memory.folder
    )
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: window.workspace.current is not None)
    assert window.search.ranking.ranking == Ranking(30.0, diverse=True)


def test_a_ranking_is_kept_for_this_workspace(qtbot, opened, memory, tmp_path):
    opened.search.ranking.default_wanted.emit(Ranking(90.0, diverse=True))
    qtbot.waitUntil(lambda: "90 days" in opened.banner.text)
    hybrid = engine.load_settings(memory.folder).query.hybrid
    assert (hybrid.temporal_decay.days_in_force, hybrid.mmr.enabled) == (90.0, True)
    assert not engine.load_settings(tmp_path).query.hybrid.mmr.enabled
    opened.search.ranking.default_wanted.emit(Ranking())
    qtbot.waitUntil(lambda: "Neither" in opened.banner.text)
    hybrid = engine.load_settings(memory.folder).query.hybrid
    assert (hybrid.temporal_decay.days_in_force, hybrid.mmr.enabled) == (0.0, False)


def test_a_demo_keeps_no_ranking(qtbot, opened, monkeypatch, user_home):
    monkeypatch.setattr(opened.search_way, "_remembers", False)
    opened.search.ranking.default_wanted.emit(Ranking(90.0))
    assert "A demo keeps nothing" in opened.banner.text
