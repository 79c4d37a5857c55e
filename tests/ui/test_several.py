"""The card on contexts that differ shows what the core computes."""

from eagle_viz.core.forest import batches, mean_tau, share
from eagle_viz.core.recording import read, shipped
from tests.ui.test_times import html_of, page


def test_the_gain_of_one_order_over_equal_parts_stands_in_the_table():
    """Eight requests of the shipped head's contexts: tau and gain at 8 nodes each; more requests than contexts is a sentence."""
    files = [path for name, path in shipped().items() if name.startswith("smollm2")]
    contexts = [cycle.landscape for path in files for cycle in read(path).for_greedy().cycles]
    equal, shared = mean_tau([share(batch, 8, 12) for batch in batches(contexts, 8)])
    app = page(batch="8", budget="8")
    assert not app.exception
    assert f"<td>8</td><td>{equal:.2f}</td><td>{shared:.2f}</td><td>{shared / equal - 1:+.1%}</td>" in html_of(app)
    app.select_slider[0].set_value(256).run()
    assert not app.exception and f"requests: 256 given, allowed are at most the {len(contexts)} contexts" in html_of(app)
