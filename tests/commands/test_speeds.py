"""The speeds that `bench` prints: decoding each way, predicted against measured, and pass times."""

import json

from eagle_viz.commands import main
from eagle_viz.core.cost import parse_times
from eagle_viz.core.predicted import read_predicted
from eagle_viz.engine.predict import SETTINGS
from eagle_viz.ui import predicted


def test_bench_decode_measures_each_way_and_all_are_lossless(capsys, folder, head):
    options = f"--target {folder} --head {head} --limit 1 --max-new-tokens 6 --dtypes float32 --json"
    assert main(["bench", "decode", *options.split()]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"plain", "prompt_lookup", "chain", "eagle1", "eagle2"} <= {row["name"] for row in rows}
    assert all(row["identical"] == row["prompts"] == 1 or row["widest_gap"] < 1e-4 for row in rows)


def test_bench_predict_prints_the_table_that_the_page_reads(capsys, folder, head, tmp_path):
    """From the command to the file to the rows of the page, with how it was made."""
    options = f"--target {folder} --head {head} --limit 1 --max-new-tokens 6 --dtypes float32 --rounds 1 --json"
    assert main(["bench", "predict", *options.split()]) == 0
    path = tmp_path / "predicted.json"
    path.write_text(capsys.readouterr().out)
    found = read_predicted(path)
    assert (found.source, found.prompts, found.max_new_tokens, found.rounds) == ("shipped prompts", 1, 6, 1) and found.cores >= 1
    assert len(found.report.rows) == len(SETTINGS) == predicted.rows(found).count("<tr><td>")


def test_bench_passes_prints_times_that_the_page_reads(capsys, folder, head):
    options = f"--target {folder} --head {head} --dtypes float32 --repeats 3"
    assert main(["bench", "passes", *options.split()]) == 0
    cost = parse_times("mine", capsys.readouterr().out.split("\n")[1])
    assert cost.sizes[0] == 1 and cost.sizes[-1] >= 60 and cost.draft_ms > 0
