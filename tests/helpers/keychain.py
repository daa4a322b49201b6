"""An in-memory keychain that replaces the system's, and can hang or refuse."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import PasswordDeleteError


class FakeKeychain(KeyringBackend):
    """`secrets` by (service, account); `answers` cleared makes it hang; `fails` is raised by every call."""

    priority = 1  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.secrets: dict[tuple[str, str], str] = {}
        self.asked: list[str] = []
        self.answers = threading.Event()
        self.answers.set()
        self.fails: Exception | None = None

    def get_password(self, service: str, username: str) -> str | None:
        self._turn(username)
        return self.secrets.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._turn(username)
        self.secrets[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._turn(username)
        if (service, username) not in self.secrets:
            raise PasswordDeleteError("Password not found")
        del self.secrets[service, username]

    def _turn(self, account: str) -> None:
        self.asked.append(account)
        self.answers.wait()
        if self.fails is not None:
            raise self.fails


@contextmanager
def keychain_in_use() -> Iterator[FakeKeychain]:
    """Replace the system's keychain by one of this kind; hanging calls are released at the end."""
    before = keyring.get_keyring()
    fake = FakeKeychain()
    keyring.set_keyring(fake)
    try:
        yield fake
    finally:
        fake.answers.set()
        keyring.set_keyring(before)
