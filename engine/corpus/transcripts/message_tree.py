"""A conversation whose messages form a tree, since users edit and repeat questions: the branch shown last."""

from collections.abc import Mapping


def branch(parents: Mapping[str, str], times: Mapping[str, float | None], tip: str) -> list[str]:
    """The nodes from the root to `tip`, or to the newest leaf if there is no such node; no node twice, even in a
    circle.

    `parents` has every node; the parent of a root is not a node.
    """
    if tip not in parents:
        inner = set(parents.values())
        leaves = [name for name in parents if name not in inner] or list(parents)
        newest = max(((times.get(name) or 0, number) for number, name in enumerate(leaves)), default=None)
        if newest is None:
            return []
        tip = leaves[newest[1]]
    path: dict[str, None] = {}
    while tip in parents and tip not in path:
        path[tip] = None
        tip = parents[tip]
    return list(reversed(path))
