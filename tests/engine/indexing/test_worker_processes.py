"""Work is shared with other processes: results are complete and in order, whatever happens to these."""

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.indexing.worker_processes import run_in_processes
from tests.helpers.background import LONGEST_WAIT

PARTS = range(10**6)
Result = tuple[int, str]


@pytest.fixture(autouse=True)
def cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    before = multiprocessing.active_children()
    yield
    assert multiprocessing.active_children() == before


def here(part: int) -> Result:
    time.sleep(0.001)
    return part, "here"


def there(message: bytes) -> bytes:
    return msgspec.msgpack.encode((msgspec.msgpack.decode(message), "there"))


def fail(message: bytes) -> bytes:
    raise KeyError(message)


def die(message: bytes) -> bytes:
    os._exit(len(message))


def hang(message: bytes) -> bytes:
    Path(msgspec.msgpack.decode(message, type=str)).touch()
    time.sleep(20)
    return msgspec.msgpack.encode((0, "there"))


def decoded(message: bytes) -> Result:
    return msgspec.msgpack.decode(message, type=Result)


def results(other: Callable[[bytes], bytes], enough: Callable[[Result], bool]) -> list[Result]:
    """Return results until one is `enough`, and 20 more."""
    found: list[Result] = []
    end, more = time.monotonic() + LONGEST_WAIT, 20
    for result in run_in_processes(PARTS, here, other, decoded, CancelToken()):
        found.append(result)
        more -= more < 20 or enough(result)
        if not more:
            break
        assert time.monotonic() < end
    return found


def test_results_of_processes_are_in_order() -> None:
    found = results(there, lambda result: result[1] == "there")
    assert [part for part, _ in found] == list(range(len(found)))
    assert {by for _, by in found} == {"here", "there"}


def test_work_of_processes_that_die_is_done_here() -> None:
    found = results(die, lambda _: not multiprocessing.active_children())
    assert found == [(part, "here") for part in range(len(found))]


def test_work_that_fails_in_other_processes_is_done_here() -> None:
    failed: list[int] = []

    def seen(part: int) -> Result:
        failed.append(part)
        return here(part)

    work = run_in_processes(PARTS, seen, fail, decoded, CancelToken())
    for number, result in enumerate(work):
        assert result == (number, "here")
        if failed != sorted(failed):  # a later part was done here before one that failed in another process
            break
    work.close()


def test_cancelled_work_ends_the_processes() -> None:
    token = CancelToken()

    def cancelled(part: int) -> Result:
        token.checkpoint()
        return here(part)

    def cancel_after_first(result: Result) -> bool:
        if result[1] == "there":
            token.cancel()
        return False

    with pytest.raises(Cancelled):
        any(map(cancel_after_first, run_in_processes(PARTS, cancelled, there, decoded, token)))


def test_waiting_for_another_process_is_cancelled(tmp_path: Path) -> None:
    token, busy = CancelToken(), tmp_path / "busy"

    def cancel_if_busy(path: str) -> Result:
        if busy.exists():
            token.cancel()
        else:
            time.sleep(0.01)
        return 0, path

    with pytest.raises(Cancelled):
        list(run_in_processes([str(busy)] * 6_000, cancel_if_busy, hang, decoded, token))


def test_one_core_shares_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert list(run_in_processes(range(9), here, die, decoded, CancelToken())) == [(part, "here") for part in range(9)]
