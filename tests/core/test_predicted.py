"""The table of predicted against measured speeds: what `bench predict --json` prints is read back, broken files are named."""

import json

import pytest

from eagle_viz.core.predicted import read_predicted
from eagle_viz.core.prediction import Predicted, PredictionReport

ROWS = (
    Predicted("chain 3", "float32", 27.7, 27.2, 1.6, 1.7),
    Predicted("priced", "float32", 36.6, 34.9, 1.9, 1.9),
    Predicted("priced", "bfloat16", 51.0, 48.6, 1.9, 1.8),
)
RUN = {"prompts": "mt_bench", "count": 3, "max_new_tokens": 40, "rounds": 2, "cores": 2}


def document():
    """What the command prints."""
    return json.loads(json.dumps({"version": 1, "run": RUN} | PredictionReport(ROWS).to_json()))


def written(folder, found):
    path = folder / "predicted.json"
    path.write_text(json.dumps(found))
    return path


def test_a_table_comes_back(tmp_path):
    """Every row and how it was made; the recommended one is worked out anew."""
    found = read_predicted(written(tmp_path, document()))
    assert found.report.rows == ROWS and found.report.recommended is found.report.rows[2]
    assert (found.source, found.prompts, found.max_new_tokens, found.rounds, found.cores) == ("mt_bench", 3, 40, 2, 2)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda found: found.pop("run"), "run"),
        (lambda found: found.update(version=2), "version 2"),
        (lambda found: found.update(rows=[]), "rows: none given"),
        (lambda found: found["rows"][0].pop("predicted_tau"), "predicted_tau"),
        (lambda found: found["rows"][1].update(measured=0), "measured: 0 given for priced, allowed is a number above 0"),
        (lambda found: found["rows"][1].update(predicted="fast"), "not supported"),
        (lambda found: found["run"].update(rounds="two"), "two"),
    ],
)
def test_a_broken_table_is_one_sentence(tmp_path, change, named):
    """The file and what is wrong with it are named."""
    found = document()
    change(found)
    with pytest.raises(ValueError, match=f"^predicted: predicted.json is not what .*{named}"):
        read_predicted(written(tmp_path, found))


@pytest.mark.parametrize("text", ["{", "[]", "3"])
def test_what_is_no_table_at_all_is_named(tmp_path, text):
    """No JSON, no object, no file."""
    path = tmp_path / "other.json"
    path.write_text(text)
    for one in (path, tmp_path / "none.json"):
        with pytest.raises(ValueError, match=f"^predicted: {one.name} is not what"):
            read_predicted(one)
