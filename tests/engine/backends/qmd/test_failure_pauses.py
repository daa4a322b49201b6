"""Pauses after failures: a minute, doubled each time, up to an hour."""

from engine.backends.qmd.query_runner import RetryPause


def test_pauses_grow_to_an_hour_and_end_with_a_success():
    now = [0.0]
    pause = RetryPause(lambda: now[0])
    assert not pause.active
    lengths = []
    for _ in range(20):
        pause.begin()
        begun = now[0]
        while pause.active:
            now[0] += 30
        lengths.append(now[0] - begun)
    assert lengths[:6] == [60, 120, 240, 480, 960, 1920]
    assert set(lengths[6:]) == {3600}
    pause.begin()
    pause.end()
    assert not pause.active
