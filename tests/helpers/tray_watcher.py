"""A minimal desktop tray on D-Bus: inspects registered icons and activates their menu entries.

It uses the public protocols (StatusNotifierItem, com.canonical.dbusmenu) through jeepney, which comes with keyring.
"""

import time
from typing import Any

from jeepney import DBusAddress, HeaderFields, Message, MessageType, new_method_call, new_method_return
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import DBusConnection, open_dbus_connection

from tests.helpers.background import LONGEST_WAIT

_WATCHER = "org.kde.StatusNotifierWatcher"
_ITEM = "org.kde.StatusNotifierItem"
_MENU = "com.canonical.dbusmenu"


class TrayWatcher:
    """Owns the bus name for trays after `appear`."""

    def __init__(self, bus: str) -> None:
        """`bus`: the address of a private one."""
        self._bus: DBusConnection = open_dbus_connection(bus)
        self._owner = ""

    def appear(self) -> None:
        self._bus.send_and_get_reply(message_bus.RequestName(_WATCHER), timeout=LONGEST_WAIT)

    def disappear(self) -> None:
        self._bus.send_and_get_reply(message_bus.ReleaseName(_WATCHER), timeout=LONGEST_WAIT)

    def close(self) -> None:
        self._bus.close()

    def wait_for_item(self) -> None:
        """Wait until an icon has registered."""
        deadline = time.monotonic() + LONGEST_WAIT
        self._owner = ""
        while not self._owner:
            self._serve(self._bus.receive(timeout=max(0.0, deadline - time.monotonic())))

    def property(self, name: str) -> Any:
        """Return a property of the icon."""
        get = DBusAddress("/StatusNotifierItem", bus_name=self._owner, interface="org.freedesktop.DBus.Properties")
        _, value = self._ask(new_method_call(get, "Get", "ss", (_ITEM, name)))[0]
        return value

    def entries(self) -> dict[str, int]:
        """Return the visible entries of the icon's menu: text and number."""
        _, (_, _, children) = self._ask(self._menu("GetLayout", "iias", (0, -1, [])))
        numbers = {}
        for _, (number, properties, _) in children:
            words = properties.get("label", ("s", ""))[1]
            if words and properties.get("visible", ("b", True))[1]:
                numbers[words.replace("_", "")] = number
        return numbers

    def press(self, words: str) -> None:
        """Activate an entry of the menu."""
        self._ask(self._menu("Event", "isvu", (self.entries()[words], "clicked", ("s", ""), 0)))

    def _menu(self, method: str, signature: str, body: tuple[Any, ...]) -> Message:
        return new_method_call(DBusAddress("/MenuBar", bus_name=self._owner, interface=_MENU), method, signature, body)

    def _ask(self, message: Message) -> Any:
        """Return the body of the reply; requests from others are answered meanwhile."""
        serial = next(self._bus.outgoing_serial)
        self._bus.send(message, serial=serial)
        deadline = time.monotonic() + LONGEST_WAIT
        while True:
            got = self._bus.receive(timeout=max(0.0, deadline - time.monotonic()))
            if got.header.fields.get(HeaderFields.reply_serial) == serial:
                if got.header.message_type == MessageType.error:
                    raise AssertionError(f"The icon refused: {got.body}")
                return got.body
            self._serve(got)

    def _serve(self, message: Message) -> None:
        if message.header.message_type != MessageType.method_call:
            return
        member = message.header.fields.get(HeaderFields.member)
        match member:
            case "RegisterStatusNotifierItem":
                self._owner = message.header.fields[HeaderFields.sender]
                self._bus.send(new_method_return(message))
            case "Get":
                self._bus.send(new_method_return(message, "v", (("b", True),)))
            case _:
                self._bus.send(new_method_return(message))
