"""Examples of secrets, by the name of the pattern that masks them."""

import re
import tomllib
from pathlib import Path

_TOKEN = "4f0a9c1be07d5ca1b2c3d4e5f60718293a4b5c6d" * 8
_SHORTENED = re.compile(r"<(A?)(\d+)>")


def _complete(example: str) -> str:
    return _SHORTENED.sub(lambda match: (_TOKEN.upper() if match[1] else _TOKEN)[: int(match[2])], example)


SECRET_EXAMPLES: dict[str, tuple[str, ...]] = {
    name: tuple(map(_complete, examples))
    for name, examples in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8")).items()
}
"""The text between « and » must be masked."""
