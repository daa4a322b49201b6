"""The operating system's keychain, accessed with a timeout.

A locked keychain waits indefinitely for its prompt, and a call over a dead D-Bus never returns; neither can be
interrupted. Therefore the call is abandoned after the timeout, and no other access waits until it has returned.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from engine.base.cancellation import CancelToken, on_cancel, start_call
from engine.base.errors import Cancelled, ProviderError
from engine.base.language import tr

SERVICE = "mnemoscope"
ANSWER_SECONDS = 15.0
"""Long enough to type a password into the prompt of a locked keychain."""
_EMPTY = ("keyring.backends.fail", "keyring.backends.null")
"""Backends that keyring uses if there is no keychain."""


class KeychainError(ProviderError):
    """Access to the keychain failed; the message says how to fix it."""


class NoKeychain(KeychainError):
    """The operating system has no keychain that can be used."""

    def __init__(self) -> None:
        super().__init__(tr("This system has no keychain that Mnemoscope can use."))


def read(account: str, *, cancel: CancelToken | None = None) -> str | None:
    """Return the secret of an account, None if there is none. Raises `KeychainError`, `Cancelled`."""
    password = _call(lambda keychain: keychain.get_password(SERVICE, account), cancel)
    return None if password is None else str(password)


def write(account: str, secret: str) -> None:
    """Save a secret, replacing an earlier one. Raises `KeychainError`."""
    _call(lambda keychain: keychain.set_password(SERVICE, account, secret))


def remove(account: str) -> None:
    """Remove the secret of an account, if there is one. Raises `KeychainError`."""

    def forget(keychain: Any) -> None:
        if keychain.get_password(SERVICE, account) is not None:
            keychain.delete_password(SERVICE, account)

    _call(forget)


_lock = threading.Lock()
_abandoned: "Future[Any] | None" = None


def _call(work: Callable[[Any], Any], cancel: CancelToken | None = None) -> Any:
    global _abandoned  # noqa: PLW0603 - there is one keychain per process
    with _lock:
        if _abandoned is not None and not _abandoned.done():
            raise KeychainError(_no_answer())
        _abandoned = None
    call = start_call(lambda: work(_keychain()), "mnemoscope-keychain")
    woken = threading.Event()
    call.add_done_callback(lambda _: woken.set())
    with on_cancel(woken.set, cancel):
        woken.wait(ANSWER_SECONDS)
    if cancel is not None and cancel.cancelled:
        call.cancel()
        raise Cancelled
    if call.cancel() or not call.done():
        with _lock:
            _abandoned = call
        raise KeychainError(_no_answer())
    error = call.exception()
    if isinstance(error, Exception):
        raise _as_keychain_error(error) from error
    return call.result()


def _keychain() -> Any:
    """Return the keychain in use. Selecting it loads some 100 ms of modules and queries D-Bus."""
    import keyring

    chosen = keyring.get_keyring()
    if type(chosen).__module__ in _EMPTY:
        raise NoKeychain
    return chosen


def _no_answer() -> str:
    return tr(
        "The keychain did not answer within {seconds:.0f} seconds: unlock it, then try again.", seconds=ANSWER_SECONDS
    )


def _as_keychain_error(error: Exception) -> KeychainError:
    from keyring.errors import KeyringLocked, NoKeyringError

    if isinstance(error, KeychainError):
        return error
    if isinstance(error, NoKeyringError):
        return NoKeychain()
    if isinstance(error, KeyringLocked):
        return KeychainError(tr("The keychain is locked: unlock it, then try again."))
    return KeychainError(
        tr("The keychain failed ({kind}): open it in the system's own program once.", kind=type(error).__name__)
    )
