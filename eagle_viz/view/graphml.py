"""A draft tree as GraphML, for Gephi, yEd, R and the rest."""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx

from ..core.tree import DraftTree, path_name


def graph_of(tree: DraftTree, text: Callable[[int], str | None] = lambda token: None) -> nx.DiGraph:
    """The tree as a directed graph, parent to child; nodes are named by rank path and carry depth, confidence, value and token."""
    graph = nx.DiGraph(expected_accepted=tree.expected_accepted, budget=tree.budget)
    for i, path in enumerate(tree.paths):
        facts = {"depth": len(path), "confidence": float(tree.confidences[i]), "value": float(tree.values[i])}
        words = text(int(tree.tokens[i]))
        graph.add_node(path_name(path), **facts, **({} if words is None else {"text": _printable(words)}))
        if path:
            graph.add_edge(path_name(path[:-1]), path_name(path))
    return graph


def graphml(tree: DraftTree, text: Callable[[int], str | None] = lambda token: None) -> str:
    """The GraphML document. Law: read back by networkx it has the same nodes, edges and numbers."""
    return "\n".join(nx.generate_graphml(graph_of(tree, text)))


def _printable(words: str) -> str:
    """XML has no place for control characters other than tab and newline."""
    return "".join(sign if sign.isprintable() or sign in "\t\n" else f"\\x{ord(sign):02x}" for sign in words)
