"""Visitors without a browser: what they see is the page's own, each sees its own numbers, and a restart breaks nothing."""

import asyncio
import sys

import pytest

from eagle_viz.commands import main
from eagle_viz.ui.visitors import Seen, Server, Visitor, counted, crowd, restarted


@pytest.fixture(scope="module")
def server():
    with Server() as running:
        yield running


def test_visitors_at_once_each_see_their_own_seed(server):
    """Five sessions, ten redraws: no error, no other's seed, and memory where the system tells it."""
    found = asyncio.run(crowd(server, 5, 2, 0.0))
    assert (found.redraws, found.errors, found.foreign) == (10, 0, 0) and 0 < found.median_s <= found.p95_s
    assert found.before_mb is None or (found.before_mb > 10 and sys.platform == "linux")


def test_a_button_is_pressed_as_a_browser_presses_it(server):
    """Redraw: another seed than the address asked for; a hostile address: a sentence, no error."""

    async def visit():
        visitor = await Visitor.open(server.port)
        first, other = await visitor.see(seed=5, budget=20), await visitor.see(press="redraw")
        odd = await visitor.see(seed="nonsense", budget=10**9)
        await visitor.close()
        return first, other, odd

    first, other, odd = asyncio.run(visit())
    assert first.seeds == {5} and len(other.seeds) == 1 and other.seeds != {5}
    assert "seed: &#x27;nonsense&#x27; given" in odd.text and not [*first.errors, *other.errors, *odd.errors]


def test_a_restarted_server_takes_open_pages_again():
    """Their address and a button of the old server."""
    assert asyncio.run(restarted(1)) == 0


def test_what_a_crowd_met_is_counted_by_hand():
    """Three redraws: one names another's seed, one ended in an exception."""
    rounds = [[(Seen(0.1, {7}), 7), (Seen(0.3, {8}, ["boom"]), 8)], [(Seen(0.2, {7}), 9)]]
    found = counted(rounds, 2, 1.0, (100.0, 104.0, 102.0))
    assert (found.redraws, found.errors, found.foreign, found.median_s) == (3, 1, 1, 0.2) and found.mb_per_session == 2.0


@pytest.mark.parametrize("options", ["--sessions 0", "--redraws 0", "--think -1"])
def test_a_crowd_that_is_none_is_refused(capsys, options):
    """One line that names the field."""
    assert main(["bench", "page", *options.split()]) == 2
    assert options.split()[0].removeprefix("--") in capsys.readouterr().err
