"""Pauses after failures: a minute, doubled each time, up to an hour."""

from engine.backends.qmd.query_runner import RetryPause


def test_pauses_grow_to_an_hour_and_end_with_a_success():
    now = [0.0]
    rest = RetryPause(lambda: now[0])
    assert not rest.resting
    lengths = []
    for _ in range(20):
        rest.failed()
        begun = now[0]
        while rest.resting:
            now[0] += 30
        lengths.append(now[0] - begun)
    assert lengths[:6] == [60, 120, 240, 480, 960, 1920]
    assert set(lengths[6:]) == {3600}
    rest.failed()
    rest.worked()
    assert not rest.resting
