"""The speeds that `bench` prints: decoding each way, predicted against measured, and pass times."""

import json

from eagle_viz.commands import main
from eagle_viz.core.cost import parse_times


def test_bench_decode_measures_each_way_and_all_are_lossless(capsys, folder, head):
    options = f"--target {folder} --head {head} --limit 1 --max-new-tokens 6 --dtypes float32 --json"
    assert main(["bench", "decode", *options.split()]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert {"plain", "prompt_lookup", "chain", "eagle1", "eagle2"} <= {row["name"] for row in rows}
    assert all(row["identical"] == row["prompts"] == 1 or row["widest_gap"] < 1e-4 for row in rows)


def test_bench_passes_prints_times_that_the_page_reads(capsys, folder, head):
    options = f"--target {folder} --head {head} --dtypes float32 --repeats 3"
    assert main(["bench", "passes", *options.split()]) == 0
    cost = parse_times("mine", capsys.readouterr().out.split("\n")[1])
    assert cost.sizes[0] == 1 and cost.sizes[-1] >= 60 and cost.draft_ms > 0
