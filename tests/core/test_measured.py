"""The shipped table of live contexts: what `calibrate --json` prints is read back, and broken files are named."""

import json

import pytest

from eagle_viz.core.calibration import Context, standings_of
from eagle_viz.core.measured import MeasuredError, read_measured
from eagle_viz.core.policies import Chain, Eagle2

CONTEST = {"eagle2:4": (Eagle2(), 4), "chain:2": (Chain(), 2)}
PROMPTS = (("1", "verse"), ("2", "code"), ("2", "code"))
CONTEXTS = {
    "eagle2:4": [
        Context(*of, 4, *rest) for of, rest in zip(PROMPTS, ((0.8, 0.7, 1, 2), (1.5, 1.4, 2, 3), (1, 1, 0, 1)), strict=True)
    ],
    "chain:2": [
        Context(*of, 2, *rest) for of, rest in zip(PROMPTS, ((0.5, 0.4, 1, 2), (1.2, 1.1, 0, 1), (1, 1, 0, 1)), strict=True)
    ],
}
BIN = {"count": 3, "confidence": 0.5, "target": 0.4, "accepted": 0.6, "low": 0.2, "high": 0.9}


def document():
    """What `calibrate --policies ... --json` prints, as far as a table needs it."""
    reliability = {"count": 3, "ece": 0.1, "ece_accepted": 0.1, "bins": [BIN]}
    return {
        "version": 1,
        "run": {"prompts": "mt_bench", "count": 2, "max_new_tokens": 8, "dtype": "bfloat16"},
        **{"drafter": "head", "reading": "greedy", "contexts": 3, "top": 0.4, "reliability": reliability, "greedy": reliability},
        "standings": [one.to_json() for one in standings_of(CONTEST, CONTEXTS)],
    }


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "measured.json"
    file.write_text(json.dumps(document()))
    return file


def test_a_table_comes_back(path):
    """Standings, leads and bins are those that were written."""
    found = read_measured(path)
    assert found.standings == standings_of(CONTEST, CONTEXTS)
    assert (found.source, found.prompts, found.contexts, found.reading) == ("mt_bench", 2, 3, "greedy")
    assert found.top == 0.4
    assert found.greedy.bins[0].accepted == 0.6 and found.standing("chain:2").whole.tau == pytest.approx(4 / 3)


def test_a_lead_is_a_paired_difference():
    """Of passes that wrote 2, 3, 1 against 2, 1, 1 the mean lead is 2/3, and the other way it is the same with its sign changed."""
    ahead, behind = standings_of(CONTEST, CONTEXTS)
    lead, lag = ahead.over["chain:2"], behind.over["eagle2:4"]
    assert lead.mean == pytest.approx(2 / 3) and (lag.mean, lag.low, lag.high) == pytest.approx((-lead.mean, -lead.high, -lead.low))


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.pop("run"),
        lambda found: found.update(version=2),
        lambda found: found["standings"][0].pop("tau"),
        lambda found: found["standings"][0]["by_kind"]["code"].update(extra=1),
        lambda found: found.update(standings=3),
        lambda found: found["reliability"].pop("bins"),
    ],
)
def test_a_broken_table_is_one_sentence(tmp_path, change):
    """A table that lacks something or has another version is refused by name."""
    found = document()
    change(found)
    file = tmp_path / "broken.json"
    file.write_text(json.dumps(found))
    with pytest.raises(MeasuredError, match="^measured: broken.json "):
        read_measured(file)


def test_what_is_no_json_and_what_is_not_there_is_named(tmp_path):
    """The same sentence for a file that cannot be read at all, and for a policy that the table lacks."""
    (tmp_path / "text.json").write_text("{")
    for name in ("text.json", "none.json"):
        with pytest.raises(MeasuredError, match=f"^measured: {name} "):
            read_measured(tmp_path / name)


def test_a_policy_that_the_table_lacks_is_named(path):
    """The policies that it has are listed."""
    with pytest.raises(MeasuredError, match="'eagle9:1' given, the table has eagle2:4, chain:2"):
        read_measured(path).standing("eagle9:1")


def test_the_shipped_table_speaks_of_thousands_of_passes():
    """At one budget EAGLE-2 is ahead of EAGLE-1's shape by more than chance, and the greedy reading promises what comes."""
    found = read_measured()
    assert found.contexts > 2500 and found.reading == "greedy"
    assert found.standing("eagle2:25").over["eagle1:25"].low > 0
    for one in found.standings:
        assert one.whole.low < one.whole.tau < one.whole.high
        assert abs(one.whole.expected - one.whole.accepted) < abs(one.whole.sampled - one.whole.accepted)
