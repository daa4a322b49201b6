"""The user's position in the sessions panel."""

from dataclasses import dataclass, field

from gui.core.session_criteria import Criteria, Role


@dataclass(frozen=True)
class SessionsViewState:
    """Equal to another one with the same criteria, whatever session is selected."""

    criteria: Criteria
    role: Role
    path: str = field(compare=False)
    """Of the session that is current; empty for none."""
