"""Numbers as a sentence says them."""


def plural(count: int, word: str) -> str:
    """`1 file`, `2,000 files`."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def size(count: int) -> str:
    """Bytes for a person: 870 B, 1.2 MB."""
    amount = float(count)
    for unit in ("B", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
