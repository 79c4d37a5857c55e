"""A policy of one's own, registered before the page and the command line are loaded; prints what both make of it."""

import json
import sys
from dataclasses import dataclass

import numpy as np
from streamlit.testing.v1 import AppTest

from eagle_viz.core.policies import POLICIES
from eagle_viz.core.policies.base import Parameter, Policy, PoolTooSmallError, Scout, check_budget
from eagle_viz.core.tree import ROOT

FLOOR = Parameter("floor", float, "keep what is worth more", "floor: least value kept", 0.05, 0.01, 0.5, 0.01)


@dataclass(frozen=True)
class WorthMore(Policy):
    """Keep what is worth more than the floor."""

    name, title, reason = "worth_more", "Worth more", "one of the nodes above the floor"
    parameters, expands_first = (FLOOR,), True
    floor: float = 0.05

    def __call__(self, landscape, budget):
        budget = check_budget(budget)
        scout, frontier = Scout(landscape), [ROOT]
        while frontier:
            frontier = [path for path in scout.expand(frontier) if scout.values[path] > self.floor]
        worth = [path for path in scout.by_value(scout.nodes) if scout.values[path] > self.floor]
        if len(worth) < budget:
            raise PoolTooSmallError(self.name, budget, len(worth), "lower the floor")
        return scout.draft(self, worth[:budget])


POLICIES[WorthMore.name] = WorthMore


def page(app_file, **query):
    """The page with these settings, its drawer of further settings open."""

    app = AppTest.from_file(app_file, default_timeout=120)
    app.session_state["more"] = True
    for name, value in query.items():
        app.query_params[name] = value
    return app.run()


def recorded(key):
    """Draft passes at every budget as Budget & speed takes them, and each context's own."""
    from eagle_viz.core.readout import draft_up_to
    from eagle_viz.ui import library, replays

    name = library.recordings()[0]
    alone = [draft_up_to(key.policy(), cycle.landscape, 8)[0].passes for cycle in library.read_recording(name).cycles]
    return {"passes": replays.tokens_at_every_budget((name,), key, False).passes[1:].tolist(), "alone": float(np.mean(alone))}


def main(app_file):
    """One document with what the page says; the command line has printed its own before."""
    from eagle_viz import commands
    from eagle_viz.ui import world

    commands.main(["tree", "--policy", "worth_more", "--floor", "0.2", "--confidences", "0.6,0.3", "--budget", "9", "--json"])
    app = page(app_file, source="levels", levels="0.6 0.3", dynamic="worth_more", floor="0.2", budget="9")
    settings = app.session_state["page"].settings
    key, here = world.sides(settings)[1], world.LandscapeKey.of(settings)
    side = world.trace(here, *world.sides(settings), 32, 9, 32)["sides"]["dynamic"]
    said = {"exceptions": len(app.exception), "drafters": [box.options for box in app.selectbox], "notice": side["notice"]}
    said |= {"sliders": [slider.label for slider in app.slider], "title": side["name"], "keeping": side["keeping"]}
    print(json.dumps(said | {"expected": world.draft(here, key, 9).tree.expected_accepted} | recorded(key)))


if __name__ == "__main__":
    main(sys.argv[1])
