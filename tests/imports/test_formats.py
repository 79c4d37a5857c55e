"""Each engine's file, written as that engine writes it, opens with the tau and rates worked out by hand."""

import json

import pytest

from eagle_viz.imports import read_acceptance

VLLM_RESPONSE = {
    "id": "cmpl-1",
    "choices": [{"index": 0, "text": "...", "finish_reason": "length"}],
    "usage": {"prompt_tokens": 9, "completion_tokens": 54},
    "metrics": {
        "speculative_decoding": {
            "mean_acceptance_length": 1.2325581395348837,
            "draft_acceptance_rate": 0.07751937984496124,
            "acceptance_histogram": [39, 1, 0, 3],
            "acceptance_histogram_by_draft_length": {"3": [39, 1, 0, 3]},
            "num_spec_steps": 43,
            "num_accepted_draft_tokens": 10,
            "num_draft_tokens": 129,
            "num_spec_tokens": 3,
        }
    },
}
VLLM_METRICS = """# HELP vllm:spec_decode_num_drafts_total Number of spec decoding drafts.
# TYPE vllm:spec_decode_num_drafts_total counter
vllm:spec_decode_num_drafts_total{engine="0",model_name="m"} 489.0
vllm:spec_decode_num_drafts_created{engine="0",model_name="m"} 1.7e+09
vllm:spec_decode_num_draft_tokens_total{engine="0",model_name="m"} 1467.0
vllm:spec_decode_num_accepted_tokens_total{engine="0",model_name="m"} 641.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="0"} 298.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="1"} 203.0
vllm:spec_decode_num_accepted_tokens_per_pos_total{engine="0",model_name="m",position="2"} 140.0
"""
VLLM_LOG = (
    "(APIServer pid=347228) INFO 08-04 20:51:08 [metrics.py:120] SpecDecoding metrics: Mean acceptance length: 3.49, Accepted "
    "throughput: 0.12 tokens/s, Drafted throughput: 0.34 tokens/s, Accepted: 92 tokens, Drafted: 259 tokens, Per-position "
    "acceptance rate: 0.757, 0.622, 0.432, 0.324, 0.189, 0.108, 0.054, Avg Draft acceptance rate: 35.5%\n"
)
SGLANG_NEW = {
    "text": "...",
    "meta_info": {
        "completion_tokens": 8,
        "spec_accept_rate": 0.5,
        "spec_accept_length": 2.0,
        "spec_num_correct_drafts": 3,
        "spec_num_proposed_drafts": 12,
        "spec_verify_ct": 4,
        "spec_accepted_drafts": 3,
        "spec_correct_drafts_histogram": [2, 1, 1],
        "spec_accept_histogram": [2, 1, 1],
    },
}
SGLANG_OLD = {
    "meta_info": {
        "completion_tokens": 8,
        "spec_accept_token_num": 3,
        "spec_draft_token_num": 12,
        "spec_verify_ct": 4,
        "spec_accept_histogram": [2, 1, 1],
    }
}
SGLANG_OPENAI = {
    "choices": [{"meta_info": SGLANG_NEW["meta_info"]}],
    "sglext": {"spec_tokens_details": {"spec_verify_ct": 4, "spec_num_correct_drafts": 3}},
}
SGLANG_OLDEST = {"meta_info": {"completion_tokens": 9, "spec_verify_ct": 4}}
SERVER_INFO = {
    "speculative_num_steps": 3,
    "speculative_eagle_topk": 1,
    "speculative_num_draft_tokens": 4,
    "internal_states": [{"avg_spec_accept_length": 2.75, "last_gen_throughput": 90.1}],
}
BENCH = {"batch_size": 1, "steps": 3, "topk": 1, "num_draft_tokens": 4, "acc_length": 2.125, "step_time": 0.01, "speed": 212.5}
BENCH_SERVING = {"backend": "sglang", "dataset_name": "sharegpt", "completed": 8, "accept_length": 2.5}
AIPERF = {
    "metadata": {"benchmark_phase": "profiling"},
    "metrics": {"spec_decode_steps": {"value": 128}},
    "spec_decode_acceptance": {
        "engine": "vllm",
        "mean_acceptance_length": 3.1796875,
        "acceptance_histogram": {"0": 34, "1": 22, "2": 19, "3": 15, "4": 16, "5": 22},
        "num_accepted_draft_tokens": 279,
        "num_draft_tokens": 640,
        "num_spec_steps": 128,
        "num_spec_tokens": 5,
    },
}
TENSORRT = {
    "index": 0,
    "avg_decoded_tokens_per_iter": 2.5,
    "speculative_decoding": {
        "acceptance_rate": 0.5,
        "total_accepted_draft_tokens": 30,
        "total_draft_tokens": 60,
        "num_spec_steps": 20,
        "acceptance_histogram": [8, 0, 6, 6],
        "num_spec_tokens": 3,
    },
}
TENSORRT_COUNTS = [
    {
        "request_id": 1,
        "perf_metrics": {
            "first_iter": 1,
            "last_iter": 20,
            "speculative_decoding": {"acceptance_rate": 0.5, "total_accepted_draft_tokens": 30, "total_draft_tokens": 60},
        },
    }
]
LLAMA = {"content": "...", "timings": {"predicted_n": 16, "predicted_ms": 4.0, "draft_n": 12, "draft_n_accepted": 9}}
LLAMA_LOG = """slot print_timing: id  3 | task 0 |
prompt eval time =     648.99 ms /   133 tokens (    4.88 ms per token,   204.94 tokens per second)
       eval time =   30387.12 ms /  2048 tokens (   14.84 ms per token,    67.40 tokens per second)
      total time =   31036.11 ms /  2181 tokens
draft acceptance rate = 0.98260 ( 1186 accepted /  1207 generated)
"""
LLAMA_LOG_NEW = """0.11 I slot print_timing: id 0 | draft acceptance = 0.84783 (   39 accepted /    46 generated), mean len =  2.70
0.11 T slot print_timing: id  0 | task 0 |      acc per pos = (0.913, 0.783)
"""
EAGLE = {"question_id": 81, "choices": [{"index": 0, "turns": ["a", "b"], "idxs": [9, 4], "new_tokens": [31, 14]}]}
SPEC_BENCH = {"choices": [{"turns": "a", "decoding_steps": [4], "new_tokens": [9], "accept_lengths": [1, 3, 4, 1]}]}


CASES = [
    ("vllm-response", VLLM_RESPONSE, 1 + 10 / 43, 43, [4 / 43, 3 / 4, 1.0]),
    ("vllm-metrics", VLLM_METRICS, 1 + 641 / 489, 489, [298 / 489, 203 / 298, 140 / 203]),
    ("vllm-log", VLLM_LOG, 1 + 92 / 37, 37, [28 / 37, 23 / 28, 16 / 23, 12 / 16, 7 / 12, 4 / 7, 2 / 4]),
    ("sglang-response", SGLANG_NEW, 1.75, 4, [0.5, 0.5]),
    ("sglang-response", SGLANG_OLD, 1.75, 4, [0.5, 0.5]),
    ("sglang-response", SGLANG_OPENAI, 1.75, 4, []),
    ("sglang-response", SGLANG_OLDEST, 2.0, 4, []),
    ("sglang-server-info", SERVER_INFO, 2.75, None, []),
    ("sglang-bench", BENCH, 2.125, None, []),
    ("sglang-bench", BENCH_SERVING, 2.5, None, []),
    ("aiperf", AIPERF, 1 + 279 / 128, 128, [94 / 128, 72 / 94, 53 / 72, 38 / 53, 22 / 38]),
    ("tensorrt-llm", TENSORRT, 2.5, 20, [12 / 20, 1.0, 0.5]),
    ("tensorrt-llm", TENSORRT_COUNTS, None, None, []),
    ("llama.cpp-timings", LLAMA, 2.5, 6, []),
    ("llama.cpp-log", LLAMA_LOG, 2047 / 861, 861, []),
    ("llama.cpp-log", LLAMA_LOG_NEW, 1 + 39 / 23, 23, [21 / 23, 18 / 21]),
    ("eagle-answers", EAGLE, 45 / 15, 15, []),
    ("eagle-answers", SPEC_BENCH, 9 / 4, 4, [0.5, 1.0, 0.5]),
]


def as_bytes(sample):
    return (sample if isinstance(sample, str) else json.dumps(sample)).encode()


@pytest.mark.parametrize(("format", "sample", "tau", "passes", "rates"), CASES)
def test_a_sample_opens_with_the_numbers_worked_out_by_hand(format, sample, tau, passes, rates):
    """tau counts the bonus token, rates are conditional, and what the file does not tell is None."""
    found = read_acceptance(as_bytes(sample))
    assert (found.format, found.passes) == (format, passes)
    assert found.tau == (None if tau is None else pytest.approx(tau))
    assert [position.rate for position in found.positions] == pytest.approx(rates)
    assert all(position.low <= position.rate <= position.high for position in found.positions)


@pytest.mark.parametrize("sample", [VLLM_RESPONSE, SGLANG_NEW, AIPERF, TENSORRT, LLAMA, EAGLE, SPEC_BENCH])
def test_many_requests_are_their_counts_added(sample):
    """Two equal records, as JSON lines, have the passes of both and the tau of one."""
    one, two = read_acceptance(as_bytes(sample)), read_acceptance(b"\n".join([as_bytes(sample)] * 2))
    assert two.passes == 2 * one.passes and two.tau == pytest.approx(one.tau)
    assert [position.rate for position in two.positions] == [position.rate for position in one.positions]


def test_lines_of_a_log_are_pooled_by_their_passes():
    """The line of 37 passes twice is 74 passes at the same tau."""
    found = read_acceptance(VLLM_LOG.encode() * 2)
    assert found.passes == 74 and found.tau == pytest.approx(1 + 92 / 37)


def test_a_log_line_that_fits_many_numbers_of_passes_shows_none():
    """Mean 2.00 of 50,000 accepted fits hundreds of numbers of passes: none is shown, and rates come without an interval."""
    line = VLLM_LOG.replace("3.49", "1.31").replace("92 tokens", "50000 tokens").replace("259 tokens", "160321 tokens")
    head, _ = line.split("rate: 0.757")
    found = read_acceptance(f"{head}rate: 0.310, Avg Draft acceptance rate: 31.2%".encode())
    assert found.passes is None and found.tau == pytest.approx(1.31, abs=1e-6)
    assert found.positions[0].rate == pytest.approx(0.31) and found.positions[0].low is None


def test_a_stream_that_counts_as_it_goes_is_counted_once():
    """llama.cpp's timings a token and verbose copies, SGLang's chunks: the last of each id is the answer's."""
    early, late = ({"predicted_n": n, "draft_n": d, "draft_n_accepted": a} for n, d, a in ((6, 4, 3), (16, 12, 9)))
    chunks = [{"id": "c1", "timings": early}, {"id": "c1", "timings": late, "__verbose": {"timings": late}}]
    assert read_acceptance("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks).encode()).passes == 6
    plain = [{"stop": False, "timings": early}, {"stop": True, "timings": late}]
    assert read_acceptance("\n".join(map(json.dumps, plain)).encode()).passes == 6
    metas = [{"meta_info": {"id": "r", "spec_verify_ct": n, "spec_num_correct_drafts": n}} for n in (2, 5)]
    assert read_acceptance("\n".join(map(json.dumps, metas)).encode()).passes == 5


def test_drafts_of_different_length_are_said_with_their_own_rates():
    """Four passes of one token, three accepted, and four of two with histogram 1, 1, 2: 6 of 8, then 2 of 3."""
    record = {
        "mean_acceptance_length": 2.0,
        "acceptance_histogram": [2, 4, 2],
        "acceptance_histogram_by_draft_length": {"1": [1, 3], "2": [1, 1, 2]},
    }
    found = read_acceptance(as_bytes({"metrics": {"speculative_decoding": record}}))
    assert "1 to 2 tokens" in found.remarks[0] and "0.750, 0.667" in found.remarks[0]
    assert found.positions[1].rate == pytest.approx(2 / 6)


def test_llama_cpps_counters_are_read_too():
    """They have no position: 1 + 34 / 17."""
    text = "llamacpp:spec_decode_num_drafts_total 17\nllamacpp:spec_decode_num_accepted_tokens_total 34\n"
    found = read_acceptance(text.encode())
    assert (found.format, found.tau, found.passes, found.positions) == ("llama.cpp-metrics", 3.0, 17, ())


def test_a_line_without_an_accepted_token_is_all_passes_at_tau_one():
    """Drafted 9 in drafts of three, nothing accepted: three passes, and the sentence that full length was taken."""
    text = VLLM_LOG.split("rate:")[0].replace("3.49", "1.00").replace("92 tokens", "0 tokens").replace("259", "9")
    found = read_acceptance(f"{text}rate: 0.000, 0.000, 0.000, Avg Draft acceptance rate: 0.0%".encode())
    assert (found.tau, found.passes, found.histogram) == (1.0, 3, (3, 0, 0, 0)) and "full length" in found.remarks[0]


def test_per_step_counts_make_the_histogram():
    """vLLM's detailed records tell the accepted tokens of each pass in order."""
    record = {"mean_acceptance_length": 2.0, "per_step_accepted": [0, 2, 1], "per_step_drafted": [3, 3, 3]}
    assert read_acceptance(as_bytes({"metrics": {"speculative_decoding": record}})).histogram == (1, 1, 1)


def test_an_event_stream_is_read_where_its_last_chunk_has_the_numbers():
    """A streamed answer carries vLLM's record on its usage chunk."""
    stream = f"data: {json.dumps({'choices': []})}\n\ndata: {json.dumps(VLLM_RESPONSE)}\n\ndata: [DONE]\n"
    assert read_acceptance(stream.encode()).passes == 43


def changed(field, value):
    inner = VLLM_RESPONSE["metrics"]["speculative_decoding"] | {field: value}
    return as_bytes({"metrics": {"speculative_decoding": inner}})


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no acceptance numbers"),
        (b"hello", "no acceptance numbers"),
        (b"{}", "no acceptance numbers"),
        (b"[" * 100_000, "no acceptance numbers"),
        (b"\xff\xfe\x00", "no text"),
        (changed("num_spec_steps", -1), "num_spec_steps: -1 given"),
        (changed("num_spec_steps", "many"), "num_spec_steps: 'many' given"),
        (changed("num_spec_steps", 0), "passes: 0 counted"),
        (changed("acceptance_histogram", [1, 0.5]), "acceptance_histogram: 0.5 given"),
        (changed("acceptance_histogram", {"x": 1}), "acceptance_histogram: keys"),
        (changed("acceptance_histogram", {"9999999": 1}), "acceptance_histogram: keys up to 9999999"),
        (changed("acceptance_histogram", "39"), "acceptance_histogram: '39' given"),
        (changed("mean_acceptance_length", -1), "mean_acceptance_length: -1 given"),
        ((VLLM_METRICS * 2).encode(), "twice in the file"),
        (VLLM_METRICS.replace("489.0", "0.0").encode(), "passes: 0 counted"),
        (VLLM_METRICS.replace("489.0", "NaN").encode(), "num_drafts: 'NaN' given"),
        (as_bytes({"internal_states": [{"avg_spec_accept_length": None}]}), "has not drafted"),
        (as_bytes(BENCH | {"steps": 0}), "none of these runs drafted"),
        (as_bytes(BENCH_SERVING | {"accept_length": None}), "did not draft"),
        (as_bytes({"choices": [{"idxs": [1], "new_tokens": [1, 2]}]}), "new_tokens: 2 turns"),
        (VLLM_LOG.replace("3.49", "3.4.9").encode(), "Mean acceptance length: '3.4.9' given"),
        (VLLM_LOG.replace("0.622", "0..2").encode(), "Per-position acceptance rate: "),
        (as_bytes({"choices": [{"idxs": None, "new_tokens": [3]}]}), "new_tokens: 1 turns"),
        (as_bytes({"choices": [{"idxs": [9], "new_tokens": [3]}]}), "new_tokens: 3 in 10 passes"),
    ],
)
def test_a_broken_file_gets_one_sentence(content, words):
    """Whatever is wrong is one ``ValueError`` that names the field and the value."""
    with pytest.raises(ValueError, match="^[a-zA-Z:_ -]+: ") as caught:
        read_acceptance(content)
    assert words in str(caught.value) and "\n" not in str(caught.value)
