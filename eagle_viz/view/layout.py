"""Tidy drawing of rooted trees in linear time (Buchheim, Jünger, Leipert 2002, "Improving Walker's algorithm")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.tree import ROOT, Path, in_canonical_order


def tidy_layout(paths: Sequence[Path], sizes: Mapping[Path, float] | None = None) -> dict[Path, float]:
    """Breadth coordinate of each path and of the root, smallest 0; the other coordinate is the depth, ``len(path)``.

    ``paths`` an ancestor-closed set (the root may be left out), siblings drawn in order of rank. ``sizes`` the breadth a node
    takes (default 1): neighbours on a level are at least the mean of their sizes apart. Raises ``KeyError`` for an orphan.

    Laws: no overlaps; a parent sits midway between its first and last child; equal subtrees are drawn equal.

    >>> tidy_layout([(0,), (1,), (0, 0), (0, 1)])
    {(): 1.0, (0,): 0.5, (1,): 1.5, (0, 0): 0.0, (0, 1): 1.0}
    """
    ordered = in_canonical_order({ROOT, *paths})
    nodes = {path: _Node(1.0 if sizes is None else sizes.get(path, 1.0)) for path in ordered}
    for path in ordered[1:]:
        nodes[path[:-1]].adopt(nodes[path])
    _place(nodes[ROOT])
    breadth = _absolute(nodes[ROOT])
    least = min(breadth.values())
    return {path: round(breadth[id(nodes[path])] - least, 6) for path in ordered}


@dataclass(eq=False)
class _Node:
    """Buchheim's bookkeeping: ``x`` relative to the siblings, ``mod`` added to all below, contours threaded."""

    size: float
    x: float = 0.0
    mod: float = 0.0
    change: float = 0.0
    shift: float = 0.0
    number: int = 0
    parent: _Node | None = None
    thread: _Node | None = None
    children: list[_Node] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.ancestor = self

    def adopt(self, child: _Node) -> None:
        child.parent, child.number = self, len(self.children)
        self.children.append(child)

    def first(self) -> _Node | None:
        """Next node down the left contour."""
        return self.children[0] if self.children else self.thread

    def last(self) -> _Node | None:
        """Next node down the right contour."""
        return self.children[-1] if self.children else self.thread


def _place(node: _Node) -> None:
    """First walk: place the subtree's children beside each other, then the node above their middle."""
    favourite = node.children[0] if node.children else None
    for i, child in enumerate(node.children):
        _place(child)
        if i:
            before = node.children[i - 1]
            _move_right_of(child, before)
            favourite = _push_apart(child, favourite)
    _spread_shifts(node)
    if node.children:
        node.x = (node.children[0].x + node.children[-1].x) / 2


def _move_right_of(node: _Node, before: _Node) -> None:
    """Stand beside the left brother, the own subtree moving along."""
    middle = node.x
    node.x = before.x + (before.size + node.size) / 2
    node.mod = node.x - middle if node.children else 0.0


def _push_apart(node: _Node, favourite: _Node) -> _Node:
    """Compare the node's left contour with the right contour of all before it; move the subtree where they touch."""
    inner_right = outer_right = node
    inner_left, outer_left = node.parent.children[node.number - 1], node.parent.children[0]
    sums = {"ir": node.mod, "or": node.mod, "il": inner_left.mod, "ol": outer_left.mod}
    while inner_left.last() is not None and inner_right.first() is not None:
        inner_left, inner_right = inner_left.last(), inner_right.first()
        outer_left, outer_right = outer_left.first(), outer_right.last()
        outer_right.ancestor = node
        gap = inner_left.x + sums["il"] - inner_right.x - sums["ir"] + (inner_left.size + inner_right.size) / 2
        if gap > 0:
            _move_subtree(_owner(inner_left, node, favourite), node, gap)
            sums["ir"] += gap
            sums["or"] += gap
        sums["il"] += inner_left.mod
        sums["ir"] += inner_right.mod
        sums["ol"] += outer_left.mod
        sums["or"] += outer_right.mod
    if inner_left.last() is not None and outer_right.last() is None:
        outer_right.thread = inner_left.last()
        outer_right.mod += sums["il"] - sums["or"]
    if inner_right.first() is not None and outer_left.first() is None:
        outer_left.thread = inner_right.first()
        outer_left.mod += sums["ir"] - sums["ol"]
        favourite = node
    return favourite


def _owner(inner_left: _Node, node: _Node, favourite: _Node) -> _Node:
    """The brother of ``node`` whose subtree holds ``inner_left``."""
    return inner_left.ancestor if inner_left.ancestor.parent is node.parent else favourite


def _move_subtree(left: _Node, right: _Node, gap: float) -> None:
    """Move ``right`` by ``gap`` and remember to spread it over the brothers in between."""
    share = gap / (right.number - left.number)
    right.change -= share
    right.shift += gap
    left.change += share
    right.x += gap
    right.mod += gap


def _spread_shifts(node: _Node) -> None:
    shift = change = 0.0
    for child in reversed(node.children):
        child.x += shift
        child.mod += shift
        change += child.change
        shift += child.shift + change


def _absolute(root: _Node) -> dict[int, float]:
    """Second walk: add up the moves from the root down."""
    breadth: dict[int, float] = {}
    stack = [(root, 0.0)]
    while stack:
        node, moved = stack.pop()
        breadth[id(node)] = node.x + moved
        stack.extend((child, moved + node.mod) for child in node.children)
    return breadth
