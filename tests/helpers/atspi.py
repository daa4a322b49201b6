"""Control a program as a screen reader does: over AT-SPI, on the accessibility D-Bus, from another process.

The client is jeepney, which keyring brings on Linux. Names as in the AT-SPI2 specification (at-spi2-core/xml).
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import DBusConnection, open_dbus_connection
from jeepney.wrappers import DBusErrorResponse, unwrap_msg

_ACCESSIBLE = "org.a11y.atspi.Accessible"
_SHOWING = 1 << 25
"""A bit of the first word of the state set."""


@dataclass(frozen=True)
class AccessibleObject:
    """An accessible object: the bus name of its program and its object path."""

    bus: "Bus"
    owner: str
    path: str

    def call(self, interface: str, method: str, signature: str = "", *arguments: Any) -> Any:
        return self.bus.call(self.owner, self.path, interface, method, signature, *arguments)

    @property
    def name(self) -> str:
        return self._get(_ACCESSIBLE, "Name")

    @property
    def description(self) -> str:
        return self._get(_ACCESSIBLE, "Description")

    @property
    def role(self) -> str:
        return self.call(_ACCESSIBLE, "GetRoleName")[0]

    @property
    def showing(self) -> bool:
        return bool(self.call(_ACCESSIBLE, "GetState")[0][0] & _SHOWING)

    def children(self) -> list["AccessibleObject"]:
        return [AccessibleObject(self.bus, owner, path) for owner, path in self.call(_ACCESSIBLE, "GetChildren")[0]]

    def walk(self) -> Iterator["AccessibleObject"]:
        yield self
        for child in self.children():
            yield from child.walk()

    def find(self, role: str, name: str) -> "AccessibleObject":
        """Return the first visible object with this role and a name that starts with this text."""
        found = (one for one in self.walk() if one.role == role and one.name.startswith(name) and one.showing)
        one = next(found, None)
        if one is None:
            raise LookupError(
                f"no {role} {name!r}, but {[one.role for one in self.walk() if one.name.startswith(name)]}"
            )
        return one

    def press(self) -> None:
        """Perform the object's first action, as a screen reader's key does."""
        assert self.call("org.a11y.atspi.Action", "DoAction", "i", 0)[0]

    def write(self, text: str) -> None:
        assert self.call("org.a11y.atspi.EditableText", "SetTextContents", "s", text)[0]

    def _get(self, interface: str, name: str) -> str:
        return self.call("org.freedesktop.DBus.Properties", "Get", "ss", interface, name)[0][1]


class Bus:
    """The accessibility bus of the session in the environment."""

    def __init__(self) -> None:
        session = open_dbus_connection("SESSION")
        try:
            request = new_method_call(DBusAddress("/org/a11y/bus", "org.a11y.Bus", "org.a11y.Bus"), "GetAddress")
            address = unwrap_msg(session.send_and_get_reply(request, timeout=20))[0]
        finally:
            session.close()
        self._connection: DBusConnection = open_dbus_connection(address)

    def call(self, owner: str, path: str, interface: str, method: str, signature: str, *arguments: Any) -> Any:
        message = new_method_call(DBusAddress(path, owner, interface), method, signature, arguments)
        try:
            return unwrap_msg(self._connection.send_and_get_reply(message, timeout=20))
        except DBusErrorResponse as error:
            # NoReply: the registry was replaced by another one while both started.
            if error.name in ("org.freedesktop.DBus.Error.UnknownObject", "org.freedesktop.DBus.Error.NoReply"):
                raise LookupError(f"{path} was deleted after it was listed") from error
            raise

    def program(self, name: str) -> AccessibleObject:
        root = AccessibleObject(self, "org.a11y.atspi.Registry", "/org/a11y/atspi/accessible/root")
        return next(one for one in root.children() if one.name == name)

    def close(self) -> None:
        self._connection.close()


def until(look: Callable[[], Any], seconds: float = 60) -> Any:
    """Poll `look` until it returns a true value and return that; raise the last problem on timeout."""
    end = time.monotonic() + seconds
    while True:
        try:
            if found := look():
                return found
            problem: Exception = AssertionError(f"nothing came within {seconds} s")
        except (LookupError, StopIteration) as error:
            problem = error
        if time.monotonic() > end:
            raise problem
        time.sleep(0.2)
