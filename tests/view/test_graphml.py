"""GraphML read back by networkx is the tree."""

import io

import networkx as nx

from eagle_viz import POLICIES, SyntheticLandscape
from eagle_viz.core.tree import path_name
from eagle_viz.view.graphml import graphml


def test_the_document_reads_back_to_the_same_tree():
    tree = POLICIES["eagle2"]()(SyntheticLandscape(seed=3), 25).tree
    graph = nx.read_graphml(io.BytesIO(graphml(tree, lambda token: "a\x00<b>&\n").encode()))
    assert nx.is_arborescence(graph) and len(graph) == 26
    for i, path in enumerate(tree.paths):
        node = graph.nodes[path_name(path)]
        assert (node["confidence"], node["value"], node["depth"]) == (tree.confidences[i], tree.values[i], len(path))
        assert node["text"] == "a\\x00<b>&\n"
    assert graph.graph["expected_accepted"] == tree.expected_accepted
