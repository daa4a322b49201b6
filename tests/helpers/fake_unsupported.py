"""A memory with unsupported features; using one raises the reason."""

from collections.abc import Callable
from typing import Any, get_args

from engine import Feature, Passage, SearchOutcome, Unsupported
from tests.helpers.fake_memory import FakeMemory

FEATURES: tuple[Feature, ...] = get_args(Feature)

ASKING: dict[Feature, tuple[str, ...]] = {
    "sessions": ("sessions", "read_session", "raw_lines", "session_image"),
    "similar": ("search_like", "similar_sessions"),
    "completion": ("query_values",),
    "path-states": ("explain_path",),
    "models": ("estimate_embedding", "stored_models", "purge_model"),
}
"""Methods of each feature, if it has any."""
_OPTIONS: dict[Feature, tuple[str, ...]] = {
    "filters": ("sources", "path_glob", "since", "until"),
    "within": ("within",),
    "ordering": ("half_life_days", "diverse"),
    "explanation": ("explain",),
}


def reason(feature: Feature) -> str:
    """Return a backend's reason for an unsupported feature; in a tooltip, some break at the hyphen."""
    return (
        f"This engine has no {feature}, whatever one may ask it for, but the built-in one has: choose it to have them."
    )


class LimitedMemory(FakeMemory):
    """A fake memory; `requests` lists the unsupported features that were used despite the missing support."""

    def __init__(self, *features: Feature, **options: Any) -> None:
        super().__init__(**options)
        self.requests: list[Feature] = []
        self.lack(*features)

    def lack(self, *features: Feature) -> None:
        """Set the unsupported features and notify the listeners, as after a fallback."""
        self.unsupported = {feature: reason(feature) for feature in features}
        self.set_status(unsupported=self.unsupported)

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        feature = next((feature for feature, names in ASKING.items() if name in names), None)
        return found if feature is None else self._guarded(feature, found)

    def _guarded(self, feature: Feature, method: Callable[..., Any]) -> Callable[..., Any]:
        def ask(*arguments: Any, **options: Any) -> Any:
            self._refuse(feature)
            return method(*arguments, **options)

        return ask

    def _refuse(self, feature: Feature) -> None:
        if feature in self.unsupported:
            self.requests.append(feature)
            raise Unsupported(self.unsupported[feature])

    def search(self, query: str, **options: Any) -> SearchOutcome:
        for feature, names in _OPTIONS.items():
            if any(options.get(name) not in (None, False, ()) for name in names):
                self._refuse(feature)
        return super().search(query, **options)

    def search_like(self, passage: Passage, **options: Any) -> SearchOutcome:
        self._refuse("similar")
        return super().search_like(passage, **options)

    @property
    def insight(self) -> Any:
        return None if "insight" in self.unsupported else self._insight

    @insight.setter
    def insight(self, insight: Any) -> None:
        self._insight = insight
