import logging
import re
import threading
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import msgspec
import pytest

from engine import Settings, base, logs, open_memory
from engine.base import prepare_logging
from engine.logs import configure_logging, hide, redact
from tests.helpers.secret_examples import SECRET_EXAMPLES

log = logging.getLogger("engine.tests")


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr("engine.logs.user_folder", lambda _: tmp_path / "logs")
    before = logging.getLogger().handlers[:]
    yield
    for handler in logging.getLogger().handlers[:]:
        if handler not in before:
            logging.getLogger().removeHandler(handler)
            handler.close()


def test_messages_logged_once_despite_reconfigure() -> None:
    path = configure_logging()
    assert configure_logging() == path
    log.info("indexed %d files", 7)
    log.debug("left out")
    text = path.read_text()
    assert text.count("indexed 7 files") == 1
    assert "INFO engine.tests" in text
    assert "left out" not in text


def test_threads_wait_until_logging_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    began, may_end, ready = threading.Event(), threading.Event(), []

    def set_up() -> None:
        began.set()
        assert may_end.wait(60)
        ready.append(True)

    monkeypatch.setattr(base, "before_first_message", [set_up])
    first, second = threading.Thread(target=prepare_logging), threading.Thread(target=prepare_logging)
    first.start()
    assert began.wait(60)
    second.start()
    second.join(0.05)  # it must wait, too
    assert (second.is_alive(), ready) == (True, [])
    may_end.set()
    for thread in (first, second):
        thread.join()
    assert ready == [True]


def test_logging_is_set_up_before_other_packages_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notes").mkdir()
    set_up = list[bool]()
    monkeypatch.setattr(base, "before_first_message", [lambda: set_up.append(True)])
    store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
    open_memory(tmp_path / "notes", msgspec.structs.replace(Settings(), store=store)).close()
    assert set_up == [True]


def test_modules_of_the_engine_make_their_loggers_late() -> None:
    folder = Path(logs.__file__).parents[1]
    assert [path for path in folder.rglob("*.py") if "getLogger(__name__)" in path.read_text("utf-8")] == []


def test_other_packages_log_only_warnings() -> None:
    path = configure_logging()
    log.info("detail")
    logging.getLogger("watchdog.x").info("chatter")
    logging.getLogger("watchdog.x").warning("trouble")
    text = path.read_text()
    assert "detail" in text
    assert "trouble" in text
    assert "chatter" not in text


def test_requests_that_another_package_logs_are_left_out() -> None:
    path = configure_logging()
    chatty = logging.getLogger("openai")
    chatty.setLevel(logging.DEBUG)
    try:
        chatty.debug("Request options: %s", {"json_data": {"input": ["a note"]}})
        chatty.warning("deprecated")
    finally:
        chatty.setLevel(logging.NOTSET)
    text = path.read_text()
    assert "a note" not in text
    assert "deprecated" in text


def test_key_in_use_is_masked_in_any_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_hidden", {})
    hide("correcthorsebattery")
    hide("ollama")
    assert redact("sent correcthorsebattery to ollama") == "sent *** to ollama"


def test_secrets_are_masked_in_messages_and_tracebacks() -> None:
    path = configure_logging()
    try:
        raise ValueError("refused: api_key=hunter2hunter2")
    except ValueError:
        log.exception("could not ask with %s", "sk-abcdefgh12345678")
    text = path.read_text()
    assert "hunter2" not in text
    assert "abcdefgh" not in text
    assert "Traceback" in text


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("OPENAI_API_KEY=abcd1234", "OPENAI_API_KEY=***"),
        ('{"accessToken": "abcd1234", "n": 1}', '{"accessToken": "***", "n": 1}'),
        ("run --password hunter2 now", "run --password *** now"),
        ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
        ("sent Bearer abcdefgh12345", "sent Bearer ***"),
        ("https://ann:hunter2@host/x", "https://ann:***@host/x"),
        ("ghp_" + "a" * 36, "***"),
        ("AKIAIOSFODNN7EXAMPLE", "***"),
        ("AIza" + "b" * 35, "***"),
        ("Incorrect API key provided: sk-pr***************wxyz.", "Incorrect API key provided: ***."),
        ("al-" + "c" * 40, "***"),
        ("indexed notes/2024-05-01.md in 3.2 s", "indexed notes/2024-05-01.md in 3.2 s"),
        ("a key thing to know", "a key thing to know"),
        ("400 tokens: 80 overlap", "400 tokens: 80 overlap"),
    ],
)
def test_secret_lookalikes_masked(given: str, left: str) -> None:
    assert redact(given) == left


def test_session_secrets_masked_in_log() -> None:
    for example in chain.from_iterable(SECRET_EXAMPLES.values()):
        left = redact(example.replace("«", "").replace("»", ""))
        assert not [secret for secret in re.findall("«(.*?)»", example, re.DOTALL) if secret in left], example


@pytest.mark.parametrize(("before", "known"), [("", True), ("https://ada:", False), ("password is ", False)])
def test_secret_cut_in_message_masked(monkeypatch: pytest.MonkeyPatch, before: str, known: bool) -> None:
    monkeypatch.setattr(logs, "_hidden", {})
    secret = "zebra-giraffe-lion-tiger"
    if known:
        hide(secret)
    path = configure_logging()
    for offset in range(1, 30):
        log.info("%s %s%s@example.org", "x" * (999 - len(before) - offset), before, secret)
    assert "…" in path.read_text()
    assert "z" not in path.read_text()


def test_log_message_is_one_line_of_limited_length() -> None:
    path = configure_logging()
    log.info("name %s", "a\nb\r\ud800" + "x" * 5000)
    [line] = path.read_text().splitlines()
    assert "a\\nb\\r\\ud800" in line
    assert len(line) < 1200


def test_runs_that_log_one_message_rotate_the_log() -> None:
    path = configure_logging()
    path.parent.mkdir()
    path.write_bytes(b"x" * 1_000_000)
    log.info("late")
    assert path.with_name(f"{path.name}.1").stat().st_size == 1_000_000
    assert path.read_text().endswith("late\n")


def test_log_has_three_files_of_at_most_1_mb() -> None:
    path = configure_logging()
    for number in range(4200):
        log.info("%d %s", number, "y" * 900)
    files = list(path.parent.iterdir())
    assert len(files) == 3
    assert all(file.stat().st_size <= 1_000_000 for file in files)


def test_unwritable_log_is_harmless(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "logs").write_text("in the way")
    configure_logging()
    log.info("lost")
    assert capsys.readouterr().err == ""
