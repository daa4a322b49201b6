"""Sessions of an agent, made of the Cranfield abstracts.

Every ten of them, in random order, make a session: the user asks for an abstract by its title and the agent answers
with the abstract. After every other answer, they exchange a few words that occur in no question.
"""

import json
import random
from pathlib import Path

from tests.benchmarks.labelled.cranfield import documents

_EXCHANGES = 10
_ASIDES = (
    ("Thanks, hold on.", "Sure."),
    ("Okay, carry on please.", "Gladly."),
    ("Lovely!", "Anything else?"),
    ("Hmm, wait.", "Waiting."),
)


def write_cranfield_sessions(collection: Path, folder: Path) -> dict[tuple[str, int], int]:
    """Write the sessions; return the abstract of each line, by the session's name and the line."""
    folder.mkdir(parents=True)
    rng = random.Random(1)
    order = [(number, *parts) for number, parts in documents(collection).items() if parts[1]]
    rng.shuffle(order)
    lines_of: dict[tuple[str, int], int] = {}
    for start in range(0, len(order), _EXCHANGES):
        name = f"{start:05}.jsonl"
        lines = [{"type": "session", "id": name, "cwd": "/"}]
        for at, (number, title, text) in enumerate(order[start : start + _EXCHANGES]):
            spoken = [("user", f"What do we know about {title.rstrip(' .')}?"), ("assistant", text)]
            for role, words in spoken:
                lines.append(_line(role, words))
                lines_of[f"sessions/sessions/{name}", len(lines)] = number
            if at % 2:
                for role, words in zip(("user", "assistant"), rng.choice(_ASIDES), strict=True):
                    lines.append(_line(role, words))
        (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    return lines_of


def _line(role: str, text: str) -> dict[str, object]:
    return {"type": "message", "id": "m", "message": {"role": role, "content": text}}
