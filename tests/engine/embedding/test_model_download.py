import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import filelock
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding import model_download as hub_module
from engine.embedding.gguf_file import DEFAULT_MODEL, missing_model, model_on_disk, model_path
from engine.embedding.model_download import fetch_model
from engine.records import ModelFetchProgress
from engine.settings import Settings
from engine.settings.options import LocalSettings
from tests.helpers.embedding_servers.server import Drop, Fault, Hang, Say, Truncate
from tests.helpers.hub_server import MODEL, HubServer

CONTENT = bytes(range(256)) * 4000
SETTINGS = Settings(provider="gguf", local=LocalSettings(model_path=MODEL))


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # The test is about attempts, not the time between them.
    for module in ("service_errors", "model_download"):
        monkeypatch.setattr(f"engine.embedding.{module}.pause", lambda seconds, cancel: None)
    with HubServer(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.origin)
        yield server


def parts() -> list[Path]:
    return list(model_path(SETTINGS).path.parent.glob("*.part"))


def test_model_is_downloaded_once(hub: HubServer) -> None:
    assert missing_model(SETTINGS) == MODEL
    assert not model_on_disk(SETTINGS)
    seen: list[ModelFetchProgress] = []
    path = fetch_model(SETTINGS, progress=seen.append)
    assert path.read_bytes() == CONTENT
    assert path == model_path(SETTINGS).path
    assert seen[-1] == ModelFetchProgress(MODEL, len(CONTENT), len(CONTENT))
    assert [step.received for step in seen] == sorted(step.received for step in seen)
    assert not parts()
    requests = len(hub.requests)
    assert fetch_model(SETTINGS) == path
    assert len(hub.requests) == requests
    assert missing_model(SETTINGS) == ""
    assert model_on_disk(SETTINGS)


def test_the_folder_of_the_settings_is_used(hub: HubServer, tmp_path: Path) -> None:
    local = LocalSettings(model_path=MODEL, model_cache_dir=str(tmp_path / "models"))
    path = fetch_model(Settings(local=local))
    assert path == tmp_path / "models" / "owner" / "some-model-GGUF" / "some-model-Q8_0.gguf"


@pytest.mark.parametrize("ranges", [True, False])
def test_cancelled_download_resumes(hub: HubServer, ranges: bool) -> None:
    hub.faults.extend([Fault(), Fault(), Truncate(announced=True), *[Say(503)] * 12])
    with pytest.raises(ProviderError):
        fetch_model(SETTINGS)
    (part,) = parts()
    assert part.stat().st_size == len(CONTENT) // 2
    hub.faults.clear()
    hub.requests.clear()
    hub.ranges = ranges
    assert fetch_model(SETTINGS).read_bytes() == CONTENT
    assert hub.fetched == [f"bytes={len(CONTENT) // 2}-"]


def test_broken_connection_is_resumed(hub: HubServer) -> None:
    hub.faults.extend([Fault(), Fault(), Truncate(announced=True), Fault(), Truncate(announced=True), Drop(), Say(500)])
    assert fetch_model(SETTINGS).read_bytes() == CONTENT
    assert hub.fetched[:2] == ["", f"bytes={len(CONTENT) // 2}-"]


def test_silently_truncated_download_resumes(hub: HubServer) -> None:
    hub.faults.extend([Fault(), Fault(), Truncate(announced=False)])
    assert fetch_model(SETTINGS).read_bytes() == CONTENT


def test_part_of_other_version_is_not_resumed(hub: HubServer) -> None:
    target = model_path(SETTINGS).path
    target.parent.mkdir(parents=True)
    other = target.with_name(f"{target.name}.0123456789ab.part")
    other.write_bytes(b"other")
    assert fetch_model(SETTINGS).read_bytes() == CONTENT
    assert hub.fetched == [""]


def test_complete_part_is_only_verified(hub: HubServer) -> None:
    target = model_path(SETTINGS).path
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.{hub.sha256[:12]}.part").write_bytes(CONTENT)
    assert fetch_model(SETTINGS).read_bytes() == CONTENT
    assert hub.fetched == []


def test_download_with_wrong_checksum_is_deleted(hub: HubServer) -> None:
    target = model_path(SETTINGS).path
    target.parent.mkdir(parents=True)
    target.with_name(f"{target.name}.{hub.sha256[:12]}.part").write_bytes(b"x" * 1000)  # damaged meanwhile
    with pytest.raises(ProviderError, match="doesn't match: download it again"):
        fetch_model(SETTINGS)
    assert not target.exists()
    assert not parts()
    assert fetch_model(SETTINGS).read_bytes() == CONTENT


def test_more_than_announced_is_refused(hub: HubServer) -> None:
    hub.faults.extend([Fault(), Fault(), Say(200, CONTENT + b"more")])
    with pytest.raises(ProviderError, match="more data than announced"):
        fetch_model(SETTINGS)


def test_cancel_ends_a_hanging_fetch(hub: HubServer) -> None:
    hang, token = Hang(), CancelToken()
    hub.faults.extend([Fault(), Fault(), hang])
    with ThreadPoolExecutor(1) as pool:
        fetching = pool.submit(fetch_model, SETTINGS, cancel=token)
        assert hang.reached.wait(60)
        token.cancel()
        with pytest.raises(Cancelled):
            fetching.result(60)
    assert not model_path(SETTINGS).path.exists()


def test_cancel_during_download_saves_part(hub: HubServer) -> None:
    token = CancelToken()
    with pytest.raises(Cancelled):
        fetch_model(SETTINGS, progress=lambda _: token.cancel(), cancel=token)
    assert parts()
    assert fetch_model(SETTINGS).read_bytes() == CONTENT


def test_full_disk_reported_before_download(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_module.shutil, "disk_usage", lambda _: SimpleNamespace(free=100_000_100))
    with pytest.raises(ProviderError, match=r"The model needs 1 MB, but .* has only 100 MB left: free some space"):
        fetch_model(SETTINGS)
    assert hub.fetched == []


def test_uncreatable_folder_is_one_sentence(hub: HubServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    local = LocalSettings(model_path=MODEL, model_cache_dir=str(tmp_path / "file"))
    with pytest.raises(ProviderError, match=r"can't be saved in .*file.*: Not a directory|File exists"):
        fetch_model(Settings(local=local))


@pytest.mark.parametrize(
    "location",
    [
        "https://evil.example/blob",
        "https://huggingface.co.evil.example/blob",
        "https://evilhf.co/blob",
        "http://cdn-lfs.hf.co/blob",
        "file:///etc/passwd",
        "https://",
        "http://[",
    ],
)
def test_redirects_to_other_hosts_are_not_followed(hub: HubServer, location: str) -> None:
    hub.location = location
    with pytest.raises(ProviderError, match="the model hub redirects to"):
        fetch_model(SETTINGS)
    assert not parts() or not parts()[0].stat().st_size


def test_moved_repository_is_followed(hub: HubServer) -> None:
    hub.faults.append(Say(307, b"", {"Location": "/owner/some-model-GGUF/resolve/main/some-model-Q8_0.gguf"}))
    assert fetch_model(SETTINGS).read_bytes() == CONTENT


def test_only_hub_metadata_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer(CONTENT) as hub, HubServer(b"evil") as other:
        monkeypatch.setenv("HF_ENDPOINT", hub.origin)
        path = "/owner/some-model-GGUF/resolve/main/some-model-Q8_0.gguf"
        hub.faults.append(Say(307, b"", {"Location": f"{other.origin}{path}"}))
        with pytest.raises(ProviderError, match="no checksum"):
            fetch_model(SETTINGS)


def test_redirects_in_a_circle_end(hub: HubServer) -> None:
    hub.location = f"{hub.origin}/circle"
    with pytest.raises(ProviderError, match="redirects too often"):
        fetch_model(SETTINGS)


def test_token_sent_only_to_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    with HubServer(CONTENT, token="hf_secret") as hub, HubServer(CONTENT) as host:
        monkeypatch.setenv("HF_ENDPOINT", hub.origin)
        monkeypatch.delenv("HF_TOKEN", raising=False)
        hub.location = f"{host.origin}/cdn/blob"
        with pytest.raises(ProviderError, match="agree to its terms on the model hub and set HF_TOKEN"):
            fetch_model(SETTINGS)
        monkeypatch.setenv("HF_TOKEN", "hf_secret")
        assert fetch_model(SETTINGS).read_bytes() == CONTENT
        assert host.fetched == [""]


@pytest.mark.parametrize("missing", ["X-Linked-Etag", "X-Linked-Size"])
def test_a_file_without_a_checksum_is_not_fetched(hub: HubServer, missing: str) -> None:
    headers = {"X-Linked-Etag": hub.sha256, "X-Linked-Size": "5", "Location": hub.location} | {missing: "none"}
    hub.faults.append(Say(302, b"", headers))
    with pytest.raises(ProviderError, match="no checksum"):
        fetch_model(SETTINGS)


def test_unknown_hub_name_is_reported(hub: HubServer) -> None:
    settings = Settings(local=LocalSettings(model_path="hf:owner/other/x.gguf"))
    with pytest.raises(ProviderError, match=r"does not provide hf:owner/other/x\.gguf: check its name"):
        fetch_model(settings)


def test_unreachable_hub_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.embedding.model_download.pause", lambda seconds, cancel: None)
    monkeypatch.setattr("engine.embedding.service_errors.pause", lambda seconds, cancel: None)
    with HubServer(CONTENT) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.origin)
    with pytest.raises(ProviderError, match="cannot be reached"):
        fetch_model(SETTINGS)


@pytest.mark.parametrize(
    "endpoint", ["http://mirror.example", "ftp://mirror.example", "mirror", "https://", "http://["]
)
def test_an_endpoint_must_be_https(monkeypatch: pytest.MonkeyPatch, endpoint: str) -> None:
    monkeypatch.setenv("HF_ENDPOINT", endpoint)
    with pytest.raises(ProviderError):
        fetch_model(SETTINGS)


def test_two_programs_do_not_fetch_the_same(hub: HubServer) -> None:
    path = model_path(SETTINGS).path
    path.parent.mkdir(parents=True)
    held = threading.Event()
    done = threading.Event()

    def hold() -> None:
        with filelock.FileLock(f"{path}.lock"):
            held.set()
            assert done.wait(60)

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(hold)
        assert held.wait(60)
        with pytest.raises(ProviderError, match="Another program is downloading"):
            fetch_model(SETTINGS)
        done.set()
        other.result(60)
    assert hub.requests == []


def test_without_the_package_no_model_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert missing_model(SETTINGS) == MODEL
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    assert missing_model(SETTINGS) == ""


def test_only_a_model_of_the_hub_is_missing(tmp_path: Path) -> None:
    assert missing_model(Settings(provider="gguf", local=LocalSettings(model_path="hf:nobody"))) == ""
    assert missing_model(Settings(provider="gguf")) == DEFAULT_MODEL
    assert missing_model(Settings(provider="auto", local=LocalSettings(model_path=MODEL))) == ""
    own = Settings(provider="gguf", local=LocalSettings(model_path=str(tmp_path / "gone.gguf")))
    assert missing_model(own) == ""
    with pytest.raises(ProviderError, match=r"There is no file .*gone.gguf"):
        fetch_model(own)
