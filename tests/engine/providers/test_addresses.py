import pytest

from engine.base.errors import ProviderError
from engine.providers.registry import host_of, is_loopback, owner_of


@pytest.mark.parametrize(
    ("base_url", "host"),
    [
        ("https://API.OpenAI.com/v1", "api.openai.com"),
        ("http://localhost:11434/v1/", "localhost:11434"),
        ("https://host:443", "host"),
        ("http://host:443", "host:443"),
        ("http://[::1]:8080/v1", "[::1]:8080"),
        (" https://ann:secret@host/v1 ", "host"),
    ],
)
def test_host_matches_request_target(base_url: str, host: str) -> None:
    assert host_of(base_url) == host


@pytest.mark.parametrize(
    "base_url",
    ["", "localhost:11434", "ftp://me:secret@host", "https:///secret", "https://host:secret/", "http://[secret"],
)
def test_invalid_address_refused_without_repeating(base_url: str) -> None:
    with pytest.raises(ProviderError, match=r"remote\.base_url is not a URL") as caught:
        host_of(base_url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("base_url", "here"),
    [
        ("http://localhost:11434/v1", True),
        ("http://127.0.0.1:1234", True),
        ("http://127.8.8.8", True),
        ("http://[::1]:8080", True),
        ("http://ollama.localhost", True),
        ("http://localhost.example.org", False),
        ("http://127.0.0.1.example.org", False),
        ("http://192.168.1.2:11434", False),
        ("http://0.0.0.0:11434", False),
    ],
)
def test_only_this_machine_is_loopback(base_url: str, here: bool) -> None:
    assert is_loopback(base_url) is here


def test_each_provider_owns_its_servers() -> None:
    assert owner_of("https://api.openai.com/v1") == "openai"
    assert owner_of("https://generativelanguage.googleapis.com/v1beta") == "gemini"
    assert owner_of("https://ai.mongodb.com/v1") == "voyage"
    assert owner_of("https://api.openai.com.example.org/v1") is None
    assert owner_of("https://openrouter.ai/api/v1") is None
