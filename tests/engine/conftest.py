from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.gguf_files import write_minilm
from tests.helpers.keychain import FakeKeychain, keychain_in_use


@pytest.fixture
def keychain() -> Iterator[FakeKeychain]:
    with keychain_in_use() as fake:
        yield fake


@pytest.fixture(scope="session")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a real model as a GGUF file."""
    return write_minilm(tmp_path_factory.mktemp("models") / "all-MiniLM-L6-v2-F16.gguf")
