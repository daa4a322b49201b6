"""What a value must be beyond its type: no secret, an address, a name of this program and not of the reference's."""

import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from engine.base.language import marked
from engine.logs import redact
from engine.settings.lancedb_options import MACHINE_NAME, TABLE_NAME, uri_problem
from engine.settings.problem import LOGIN, SECRET, Problem
from engine.settings.qmd_options import SCOPE_RULE

_SECRET_ENDINGS = ("apikey", "accesskey", "secretkey", "token", "secret", "password", "passwd", "authorization")
_SECRET_NAMES = {"key", "auth", "bearer", "cookie", "xgoogapikey"}
_SECRET_HEADERS = re.compile(r"auth(?!ors?$)|cookie|key|token|secret|passw|credential", re.IGNORECASE)
_SECRET_OPTIONS = re.compile(r"access_?key|secret|token|passw|credential|api_?key|sas|authorization", re.IGNORECASE)
_SECRET_VALUES = re.compile(r"(?:bearer|basic|token)\s+\S", re.IGNORECASE)
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
COMPATIBLE = {
    "ollama": "http://127.0.0.1:11434/v1",
    "lm-studio": "http://127.0.0.1:1234/v1",
    "openrouter": "https://openrouter.ai/api/v1",
    "llama-server": "http://127.0.0.1:8080/v1",
    "mistral": "https://api.mistral.ai/v1",
}
"""Services that the reference or habit names as a provider, and the address under which openai's way reaches them."""


def looks_secret(name: str) -> bool:
    """Whether a key with this name is meant to hold a secret."""
    bare = name.lower().replace("_", "").replace("-", "")
    return bare in _SECRET_NAMES or bare.endswith(_SECRET_ENDINGS)


def problem_of(path: tuple[str, ...], value: Any) -> tuple[tuple[str, ...], Problem] | None:
    """What is wrong with the value of the option at `path` (inside its layer), and at which key; None if nothing is.

    The value has the right type. The problem never repeats a secret.
    """
    rule = _RULES.get(path)
    found = rule(value) if rule is not None else None
    return None if found is None else ((*path, *found[0]), found[1])


def other_name(path: tuple[str, ...], value: Any) -> Problem | None:
    """What to write instead of a provider's name that is none here; None where nothing is known about it."""
    if path not in {("provider",), ("fallback",)} or not isinstance(value, str):
        return None
    name = value.strip().lower()
    if name in {"local", "llama-cpp", "node-llama-cpp"}:
        return Problem(marked('{it} is called "gguf" here.'))
    if name.startswith("hf:") or name.endswith(".gguf"):
        if redact(value) != value:
            return Problem(marked('{it} must be "gguf".'))
        return Problem(marked('{it} must be "gguf", with local.model_path = "{path}".'), {"path": value})
    if name in {"google", "google-genai"}:
        return Problem(marked('{it} is called "gemini" here.'))
    if name in {"voyageai", "voyage-ai"}:
        return Problem(marked('{it} is called "voyage" here.'))
    if address := COMPATIBLE.get("lm-studio" if name == "lmstudio" else name.replace("_", "-")):
        return Problem(marked('{it} is reached as "openai" with remote.base_url = "{address}".'), {"address": address})
    return None


Found = tuple[tuple[str, ...], Problem] | None


def _base_url(value: str) -> Found:
    try:
        parts = urlsplit(value.strip())
        parts.port  # noqa: B018 - raises for what is no number
    except ValueError:
        parts = urlsplit("")
    if not value:
        return None
    if parts.username is not None or parts.password is not None or "@" in parts.netloc:
        return (), LOGIN
    if parts.query or parts.fragment:
        return (), Problem(marked("{it} must end before the ? or #: an address such as https://host/v1."))
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        return (), Problem(marked("{it} must be an address such as https://host/v1 or http://localhost:11434/v1."))
    return ((), SECRET) if _is_secret(value) else None


def _headers(value: Mapping[str, str]) -> Found:
    for name, content in value.items():
        if _SECRET_HEADERS.search(name) or _SECRET_VALUES.match(content) or _is_secret(content):
            return (name,), SECRET
    return None


def _full_path(value: str) -> Found:
    # Any other would depend on where the program was started, also one that begins with the name of no user.
    if value and not os.path.isabs(os.path.expanduser(value)):
        return (), Problem(marked("{it} must be a full path."))
    return None


def _variable(value: str) -> Found:
    if value and (_is_secret(value) or not _VARIABLE.fullmatch(value)):
        return (), Problem(
            marked(
                "{it} must be the name of an environment variable, such as OPENAI_API_KEY, and never the key itself."
            )
        )
    return None


def _model(value: str) -> Found:
    if _is_secret(value):
        return (), SECRET
    if value.lower().startswith("hf:"):
        return (), Problem(
            marked('{it} names a model file: write provider = "gguf" and local.model_path = "{path}".'),
            {"path": value},
        )
    return None


def _chat_model(value: str) -> Found:
    return ((), SECRET) if _is_secret(value) else None


def _prices(value: Mapping[str, float]) -> Found:
    for name, price in value.items():
        if not math.isfinite(price) or price < 0:
            return (name,), Problem(marked("{it} must be a price in US dollars, 0 or more."))
        if "/" not in name.strip("/"):
            return (name,), Problem(
                marked('{it} must name provider and model, such as "openai/text-embedding-3-small".')
            )
    return None


def _half_lives(value: Mapping[str, float]) -> Found:
    wrong = (pattern for pattern, days in value.items() if not math.isfinite(days) or days < 0)
    problem = Problem(marked("{it} must be a number of days, 0 for what never ages."))
    return next((((pattern,), problem) for pattern in wrong), None)


def _scope(value: Sequence[str]) -> Found:
    wrong = next((rule for rule in value if not SCOPE_RULE.fullmatch(rule.strip().lower())), None)
    if wrong is None:
        return None
    return (), Problem(
        marked('{it} holds "{rule}": rules are such as "allow direct", "deny group" or "allow discord/channel".'),
        {"rule": wrong},
    )


def _storage_options(value: Mapping[str, str]) -> Found:
    for name, content in value.items():
        if _SECRET_OPTIONS.search(name) or _is_secret(content) or "@" in urlsplit(content).netloc:
            return (name,), SECRET
    return None


def _table_uri(value: str) -> Found:
    if "@" in urlsplit(value).netloc or _is_secret(value):
        return (), LOGIN
    problem = uri_problem(value)
    return None if problem is None else ((), problem)


def _table_name(value: str) -> Found:
    if not value or TABLE_NAME.fullmatch(value):
        return None
    return (), Problem(marked("{it} must be a name of letters, digits, dots, hyphens and underscores."))


def _machine_name(value: str) -> Found:
    if not value or MACHINE_NAME.fullmatch(value):
        return None
    return (), Problem(marked("{it} must be a name of letters, digits, dots and hyphens."))


def _is_secret(value: str) -> bool:
    return redact(value) != value


_RULES: dict[tuple[str, ...], Callable[[Any], Found]] = {
    ("lancedb", "machine"): _machine_name,
    ("lancedb", "storage_options"): _storage_options,
    ("lancedb", "table"): _table_name,
    ("lancedb", "uri"): _table_uri,
    ("model",): _model,
    ("prices",): _prices,
    ("qmd", "scope", "rules"): _scope,
    ("query", "hybrid", "temporal_decay", "half_life_by_path"): _half_lives,
    ("remember", "slug", "model"): _chat_model,
    ("remember", "slug", "base_url"): _base_url,
    ("remember", "slug", "api_key_env"): _variable,
    ("local", "model_cache_dir"): _full_path,
    ("remote", "base_url"): _base_url,
    ("remote", "headers"): _headers,
    ("remote", "api_key_env"): _variable,
    ("store", "path"): _full_path,
}
