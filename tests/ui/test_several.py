"""The card on contexts that differ shows what the core computes."""

from eagle_viz.core.forest import batches, mean_tau, share
from eagle_viz.core.recording import read, shipped
from tests.ui.conftest import SHORT
from tests.ui.pages import said


def test_the_gain_of_one_order_over_equal_parts_stands_in_the_table(speed_page):
    """Eight requests of a recording's contexts: tau and gain at 8 nodes each; more requests than contexts is a sentence."""
    contexts = [cycle.landscape for cycle in read(shipped()[SHORT]).for_greedy().cycles]
    equal, shared = mean_tau([share(batch, 8, 12) for batch in batches(contexts, 8)])
    app = speed_page(batch="8", budget="8")
    assert not app.exception
    assert f"<td>8</td><td>{equal:.2f}</td><td>{shared:.2f}</td><td>{shared / equal - 1:+.1%}</td>" in said(app)
    app.select_slider[0].set_value(256).run()
    assert not app.exception and f"requests: 256 given, allowed are at most the {len(contexts)} contexts" in said(app)
