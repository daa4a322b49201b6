from collections.abc import Iterator

import pytest

from tests.helpers.keychain import FakeKeychain, keychain_in_use


@pytest.fixture
def keychain() -> Iterator[FakeKeychain]:
    with keychain_in_use() as fake:
        yield fake
