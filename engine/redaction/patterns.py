"""The secrets that are recognised, as data: what redaction looks for, and what the table in the docs says.

Rules for the expressions, which keep redaction linear: they are matched where one of the anchors stands, never searched
for; a run without a limit is possessive and nothing that can fail follows it; the secret is the last group that is not
empty, and has no line end in it.
"""

from engine.redaction.context_patterns import TOLD_BY_SURROUNDINGS
from engine.redaction.pattern import SecretPattern
from engine.redaction.services import SERVICES
from engine.redaction.syntax_patterns import TOLD_BY_SYNTAX
from engine.redaction.token_patterns import TOLD_BY_FORM

PATTERNS: tuple[SecretPattern, ...] = (*TOLD_BY_SURROUNDINGS, *TOLD_BY_SYNTAX, *TOLD_BY_FORM, *SERVICES)
