"""`sample`: a random part of the rows has every type in proportion, and the precision said."""

import json
import re
import shlex
import shutil
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import metadata
from itertools import combinations
from math import sqrt
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.special import ndtri

from tests.answers import write
from tests.conftest import EXAMPLES, PACK, ROOT
from tests.logs import sample
from tests.warm_python import run_module
from utils import stats
from utils.__main__ import main
from utils.core.documents import documents, documents_of
from utils.core.errors import ToolError
from utils.core.files import read_jsonl
from utils.core.task_scorers import benchmarks, leaf_tasks, scorer
from utils.figures import score_rows
from utils.packs import random_sample
from utils.packs.random_sample import draw_rows, interleave
from utils.verdicts.tally import Counted, Document, Tally, rows_remark


pytestmark = pytest.mark.usefixtures("judged_here")


TYPES = {"a": 350, "b": 50, "c": 7, "d": 1}  # rows by type


def draw(seed: int, rows_by_type: dict[str, list[int]]) -> list[int]:
    """Return rows as `draw_rows` orders those of real documents."""
    shuffled = {
        name: random_sample.shuffled(rows, f"{seed} {name}")
        for name, rows in rows_by_type.items()
    }
    return interleave(shuffled, len, f"{seed}")


@pytest.fixture
def call_sample(tmp_path, capsys):
    """Call `sample`; return the exit status, the rows, what it printed and said."""

    def called(*arguments: object) -> tuple[int, dict, str, str]:
        output = tmp_path / "samples.json"
        options = "--include_path", EXAMPLES, "--output", output
        status = main(["sample", *map(str, (*arguments, *options))])
        rows = json.loads(output.read_text()) if output.exists() else {}
        return status, rows, *capsys.readouterr()

    return called


@pytest.mark.parametrize("size", [1, 10, 100, 400])
def test_any_beginning_of_a_draw_has_types_in_proportion(size):
    names = {name: [name] * count for name, count in TYPES.items()}
    drawn = Counter(interleave(names, len, "7")[:size])
    for name, count in TYPES.items():
        assert abs(drawn[name] - size * count / sum(TYPES.values())) < 2


def test_the_same_seed_draws_the_same_rows_on_every_machine():
    assert draw_rows("tot_arithmetic", 7, EXAMPLES)[:8] == GOLDEN[7]
    assert draw_rows("tot_arithmetic", 8, EXAMPLES)[:8] == GOLDEN[8]


GOLDEN = {
    7: (16, 3, 11, 21, 31, 26, 6, 12),
    8: (17, 23, 27, 2, 36, 12, 24, 5),
}


@pytest.mark.parametrize("tasks", ["tot", "timebench", "tcp,tot_arithmetic,timebench"])
def test_a_larger_part_contains_a_smaller_one(tasks, call_sample):
    earlier_rows: dict[str, list[int]] = {}
    for size in (15, 22, 38):
        _, rows, *_ = call_sample(tasks, "--documents", size)
        assert sum(map(len, rows.values())) == size
        assert all(
            {*earlier} <= {*rows[task]} for task, earlier in earlier_rows.items()
        )
        earlier_rows = rows


def test_row_numbers_rise_since_the_harness_logs_others_wrongly(call_sample):
    _, rows, *_ = call_sample("temporal_reasoning", "--documents", 60)
    assert all(numbers == sorted({*numbers}) for numbers in rows.values())


def test_tasks_that_count_alike_give_as_many_rows(call_sample):
    _, rows, *_ = call_sample("timebench", "--documents", 47)
    assert {len(rows[task]) for task in leaf_tasks("timebench")} == {3, 4}
    _, rows, *_ = call_sample("tot", "--documents", 27)
    shares = [
        len(numbers) / len(documents(task, EXAMPLES)) for task, numbers in rows.items()
    ]
    assert shares == pytest.approx([0.5, 0.5], abs=0.05)


def test_small_tasks_that_count_alike_give_as_many_rows_as_large_ones(monkeypatch):
    (benchmark,) = benchmarks(["timebench_tracie"])
    sizes = {task: 5 + 40 * number for number, task in enumerate(benchmark.tasks)}
    monkeypatch.setattr(random_sample, "draw_rows", lambda task, *_: range(sizes[task]))
    draw_of_tasks = random_sample.Draw(benchmark, [*sizes], 7, EXAMPLES)
    rows = draw_of_tasks.rows_by_task(4 * len(sizes))
    assert {len(numbers) for numbers in rows.values()} == {4}


def test_the_larger_the_part_the_narrower_the_interval_of_the_whole():
    sums = np.repeat([0.0, 1.0], 200)
    widths = [
        np.subtract(*stats.wilson_interval(np.ones(400), sums, drawn_share))
        for drawn_share in (0, 0.75, 0.9999)
    ]
    assert widths[1] / widths[0] == pytest.approx(0.5, rel=0.01)
    assert widths[2] / widths[0] == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("aim", [("--half_width", 20), ("--difference", 34)])
def test_the_fewest_rows_that_reach_a_precision_are_drawn(aim, call_sample):
    option, points = aim
    column = "±" if option == "--half_width" else "|"
    _, rows, printed, _ = call_sample("tot", option, points)
    size = sum(map(len, rows.values()))
    figures = [
        float(
            re.findall(r"[0-9]+\.[0-9]", call_sample("tot", "--documents", n)[2])[
                column == "|"
            ]
        )
        for n in (size - 1, size)
    ]
    assert figures[1] <= points < figures[0] + 0.05


FAULTS = [
    ("tot --documents 55", "--documents 55: there are 54 rows; ask for fewer"),
    ("tot --difference 1", "1 points are too few: all 54 rows of Test of Time give"),
    ("tot --documents 0", "argument --documents: '0' is not a whole number from 1 on"),
    ("tot --half_width 0", "'0' is not a number of percentage points between 0 and"),
    ("tot --half_width 100", "'100' is not a number of percentage points between 0"),
    ("tot --difference nan", "'nan' is not a number of percentage points between"),
    ("tot --difference 5 --documents 2", "not allowed with argument"),
    ("tott --documents 2", "task 'tott' is unknown; did you mean tot?"),
    ("tot", "one of the arguments --documents --half_width --difference is required"),
]


@pytest.mark.parametrize(("command", "fault"), FAULTS)
def test_a_part_that_cannot_be_drawn_is_one_line(command, fault, call_sample):
    status, rows, printed, said = call_sample(*shlex.split(command))
    assert (status > 0, rows, printed, said.count("\n")) == (True, {}, "", 1)
    assert fault in said


def test_a_file_that_is_no_sample_is_not_replaced(tmp_path, call_sample):
    (tmp_path / "samples.json").write_text('{"tot": "mine"}')
    status, rows, _, said = call_sample("tot", "--documents", 5)
    assert (status, rows) == (1, {"tot": "mine"})
    assert "was not made by temporal-eval sample; move it elsewhere" in said


@pytest.fixture(scope="module")
def recorded(shared) -> dict:
    """Real answers of six models to the same documents: types, clusters, and scores."""
    answers = [
        *sorted(shared.glob("responses/*.jsonl")),
        *sorted(shared.glob("responses_more/*.jsonl")),
    ]
    scores, explain = [], scorer("tot_arithmetic").explain
    for path in answers:
        rows = read_jsonl(path)
        docs = documents_of("tot_arithmetic", rows)
        verdicts = [
            explain(doc, row["response"]).scores for doc, row in zip(docs, rows)
        ]
        scores += [
            [v[m] for v in verdicts] for m in scorer("tot_arithmetic").headline.values()
        ]
    rows_by_type: dict[str, list[int]] = {}
    for number, row in enumerate(rows):
        rows_by_type.setdefault(row["question_type"], []).append(number)
    clusters = [*map(scorer("tot_arithmetic").utils.cluster, docs)]
    return {"types": rows_by_type, "clusters": clusters, "scores": np.array(scores)}


def test_draws_have_no_bias_and_their_intervals_hold_the_score_of_the_whole(recorded):
    scores, size, times = recorded["scores"], 200, 2000
    whole, biases = scores.mean(axis=1), []
    draws = np.array([draw(seed, recorded["types"])[:size] for seed in range(times)])
    for values, true_score in zip(scores, whole):
        drawn = values[draws]
        errors = drawn.mean(axis=1) - true_score
        biases.append(errors.mean())
        assert abs(biases[-1]) < 3 * errors.std() / np.sqrt(times)
        simple = true_score * (1 - true_score) / size * (1 - size / len(values))
        assert np.sqrt((errors**2).mean()) < np.sqrt(simple) * 1.01
        low, high = stats.wilson_interval(np.ones(size), drawn, size / len(values))
        assert 0.93 <= ((low <= true_score) & (true_score <= high)).mean() <= 0.99
        expected = stats.expected_half_width([size], [1.0], size / len(values))
        expected *= 2 * np.sqrt(true_score * (1 - true_score))  # that is of 50 %
        assert ((high - low) / 2).mean() == pytest.approx(expected, rel=0.15)
    assert abs(np.mean(biases)) < 0.001  # below a tenth of a point


def test_what_is_expected_of_two_models_is_what_six_models_show(recorded):
    number_by_cluster = {name: n for n, name in enumerate({*recorded["clusters"]})}
    clusters = np.array([number_by_cluster[name] for name in recorded["clusters"]])
    correlations, within = [], []
    flexible = recorded["scores"][1::2]
    for a, b in combinations(flexible, 2):
        correlations.append(np.corrcoef(a, b)[0, 1])
        rest = (b - a) - (b - a).mean()
        sums, sizes = np.bincount(clusters, weights=rest), np.bincount(clusters)
        pairs = (sums**2).sum() - (rest**2).sum()
        within.append(pairs / (sizes * (sizes - 1)).sum() / rest.var())
    assert np.mean(correlations) == pytest.approx(stats.MODEL_CORRELATION, abs=0.005)
    assert np.mean(within) == pytest.approx(stats.DIFFERENCE_CORRELATION, abs=0.005)


# Latent variances that two models share by cluster and by document, and of each model by
# cluster, which give the correlations that `stats` expects.
BY_CLUSTER, BY_DOCUMENT, OWN_BY_CLUSTER = 0.43, 0.13, 0.11


@pytest.mark.parametrize("sizes", [[1] * 100, [1] * 50 + [5] * 30, [3] * 150])
def test_the_difference_that_is_expected_is_shown_in_four_of_five_tests(sizes):
    times, rng = 3000, np.random.default_rng(3)
    gap = stats.expected_difference([sizes], [1.0])
    by_document = np.repeat(np.arange(len(sizes)), sizes)

    def noise(variance: float, numbers: np.ndarray) -> np.ndarray:
        return rng.normal(0, variance**0.5, (times, numbers.max() + 1))[:, numbers]

    documents_apart = np.arange(sum(sizes))
    shared = noise(BY_CLUSTER, by_document) + noise(BY_DOCUMENT, documents_apart)
    rest = 1 - BY_CLUSTER - BY_DOCUMENT - OWN_BY_CLUSTER
    a, b = (
        shared + noise(OWN_BY_CLUSTER, by_document) + noise(rest, documents_apart)
        < ndtri(accuracy)
        for accuracy in (0.5 - gap / 2, 0.5 + gap / 2)
    )
    starts = np.append(0, np.cumsum(sizes)[:-1])
    sums = np.add.reduceat(b.astype(float) - a, starts, axis=1)
    paired = stats.spread(np.array(sizes), sums, stats.DIFFERENCES)
    assert 0.75 <= (paired.p_value < 0.05).mean() <= 0.85


@contextmanager
def api() -> Iterator[tuple[str, list[bytes]]]:
    """Give the URL of an API that answers each request, and the bodies that it got."""
    bodies: list[bytes] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            is_semantic = b"JSON = {" not in bodies[-1]
            answer = "No idea." if is_semantic else '{"answer": "1307"}'
            message = {"role": "assistant", "content": answer}
            self.send_response(200)
            self.end_headers()
            choices = [{"index": 0, "message": message, "finish_reason": "stop"}]
            self.wfile.write(json.dumps({"choices": choices}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/v1/chat/completions", bodies
        server.shutdown()


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> SimpleNamespace:
    """The folders of a run of 6 rows and of its extension to 12, and how many each asked."""
    if metadata.version("lm-eval") == "0.5.0.dev1":
        pytest.skip("lm-eval 0.5.0.dev1 looks the numbers of rows up twice")
    folder = tmp_path_factory.mktemp("runs")
    outputs, request_counts = [], []
    with api() as (url, bodies):
        for size in (6, 12):
            arguments = ["sample", "tot", "--documents", str(size), "--seed", "7"]
            arguments += ["--include_path", str(EXAMPLES)]
            arguments += ["--output", str(folder / "samples.json")]
            drawn = run_module("utils", *arguments, cwd=ROOT)
            line = drawn.stdout.rstrip().rpartition("\n")[2]
            _, *words = shlex.split(line.replace("--model …", ""))
            words[words.index("output")] = str(folder / f"output-{size}")
            done = run_module(
                *("tests.harness_cli", *words, "--model", "local-chat-completions"),
                *("--model_args", f"model=served,base_url={url},max_retries=1"),
                *("--apply_chat_template", "--use_cache", folder / "answers"),
                cwd=folder,
            )
            assert done.returncode == 0, done.stderr
            outputs += (folder / f"output-{size}").iterdir()
            request_counts.append(len(bodies))
    return SimpleNamespace(outputs=outputs, request_counts=request_counts)


def test_an_extended_run_asks_for_the_new_rows_alone(runs):
    assert runs.request_counts == [6, 12]


@pytest.mark.parametrize(("number", "size"), [(0, 6), (1, 12)])
def test_a_run_over_drawn_rows_is_recognised(runs, number, size, call):
    status, rows, _ = call(runs.outputs[number])
    (benchmark,) = (row for row in rows if row["task"] == "tot")
    assert (status, benchmark["n"]) == (0, size)
    by_task = {row["task"]: row["rows"] for row in rows if row.get("rows")}
    assert set(by_task) == {"tot_arithmetic", "tot_semantic"}
    for task, described in by_task.items():
        n = len(read_jsonl(*runs.outputs[number].glob(f"samples_{task}_*.jsonl")))
        total = len(documents(task, EXAMPLES))
        assert described == f"a random sample of seed 7, {n} of {total} rows"


def test_the_score_of_drawn_rows_weighs_tasks_by_all_their_rows(runs, call):
    _, rows, _ = call(runs.outputs[1])
    row_by_task = {row["task"]: row for row in rows if row["by"] is None}
    sizes = {task: len(documents(task, EXAMPLES)) for task in leaf_tasks("tot")}
    weighted = sum(row_by_task[task]["extracted"] * n for task, n in sizes.items())
    mean = weighted / sum(sizes.values())
    assert [row_by_task[task]["extracted"] for task in sizes] == [1, 0]
    assert row_by_task["tot"]["extracted"] == pytest.approx(mean)


def test_the_error_of_a_part_is_less_by_what_it_leaves_unknown():
    """By the finite population correction (Cochran, Sampling Techniques, 1977)."""
    part, whole = (stats.estimate_whole_score([0.0, 1.0] * 15, x) for x in (0.75, 0))
    assert part.error == pytest.approx(whole.error * sqrt(1 - 0.75))


WHOLE_ESTIMATE = partial(stats.estimate_whole_score, [0.0, 1.0] * 9)
SHARES = [  # of two tasks that were drawn, if they were; and the estimate of their mean
    ((0.2, 0.9), lambda: WHOLE_ESTIMATE(0.2)),
    ((0.9, 0.2), lambda: WHOLE_ESTIMATE(0.2)),
    ((0.2, None), lambda: stats.estimate_score([0.0, 1.0] * 9, ["a"] * 18)),
]


@pytest.mark.parametrize(("shares", "expected"), SHARES)
def test_of_tasks_in_other_shares_the_smallest_share_counts(
    monkeypatch, shares, expected
):
    """Where one was not drawn, the benchmark is no random part."""
    tasks = ("timebench_tracie", "timebench_timedial")
    drawn = {
        task: SimpleNamespace(drawn_share=share) for task, share in zip(tasks, shares)
    }
    monkeypatch.setattr(
        score_rows, "headline_scores", lambda *_: ([0.0, 1.0] * 9, ["a"] * 18)
    )
    [timebench] = benchmarks([*tasks])
    estimate = score_rows.estimate_headline(
        timebench, dict.fromkeys(tasks, [1]), "published", drawn
    )
    assert estimate == expected()


DRAWN = [  # seed, rows and whether they were drawn again, of two tasks; what is said
    ([(7, 20, True), (7, 30, True)], "a random sample of seed 7, 10 of 50 rows"),
    ([(7, 20, True), (7, 30, False)], "seed 7, 10 of 50 rows, not drawn again"),
    ([(7, 20, True), (8, 30, True)], "10 rows instead of 600"),
    ([(7, 20, True), None], "10 rows instead of 600"),
]


@pytest.mark.parametrize(("cells", "expected"), DRAWN)
def test_a_sample_of_several_tasks_is_as_well_known_as_its_least_known_part(
    cells, expected
):
    tallies = [
        SimpleNamespace(task=task, drawn=cell and random_sample.Drawn(*cell))
        for task, cell in zip(("tcp_short", "tcp_long"), cells)
    ]
    assert rows_remark(tallies, 10).endswith(expected)


ROWS = "the benchmark's"
UNDRAWN = [  # what the rows of TCP's tasks are, and their number; what is said of them
    ([ROWS, ROWS], 600, None),
    ([ROWS, ROWS], 1_599, "1,599 rows instead of 600"),
    ([ROWS, f"not {ROWS}"], 600, f"other rows than {ROWS}"),
    ([ROWS, f"as many as {ROWS}"], 600, None),
    ([ROWS, ROWS, "made from a seed"], 700, None),
]


@pytest.mark.parametrize(("rows", "count", "expected"), UNDRAWN)
def test_rows_that_no_seed_drew_are_told_by_number_and_fingerprint(
    rows, count, expected
):
    tasks = ("tcp_short", "tcp_long", "fresh_tcp_long")
    tallies = [
        SimpleNamespace(task=task, drawn=None, describe_rows=lambda text=text: text)
        for task, text in zip(tasks, rows)
    ]
    assert rows_remark(tallies, count) == expected


def test_the_smallest_share_of_a_task_is_promised():
    tasks = {"timebench_tracie": 8, "timebench_date_arithmetic": 10}  # rows of examples
    [timebench] = benchmarks([*tasks])
    part = random_sample.Draw(timebench, {*tasks}, 7, EXAMPLES)
    assert part.half_width(16) == stats.expected_half_width([8, 8], [0.5, 0.5], 0.8)


def test_a_benchmark_s_drawn_rows_are_cited_as_one_part(runs, call_score):
    cited = call_score("--cite", runs.outputs[1])[1]
    total = sum(len(documents(task, EXAMPLES)) for task in leaf_tasks("tot"))
    assert f"a random sample of seed 7, 12 of {total} rows" in " ".join(cited.split())


def test_rows_that_are_not_at_hand_are_said_not_to_be_drawn_again(runs, call):
    _, unsampled_rows, _ = call("--include_path", PACK, runs.outputs[1])
    described = {row["rows"] for row in unsampled_rows if row.get("rows")}
    assert all(text.endswith("rows, not drawn again") for text in described)


def test_other_rows_than_the_seed_s_are_no_sample(runs, tmp_path, call):
    output = shutil.copytree(runs.outputs[0], tmp_path / "output")
    (path,) = output.glob("samples_tot_arithmetic_*.jsonl")
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    _, rows, _ = call(output)
    described = {row["task"]: row["rows"] for row in rows if row.get("rows")}
    kept = len(read_jsonl(path))
    drawn = draw_rows("tot_arithmetic", 7, EXAMPLES)[:kept]
    logged = {line["doc_id"] for line in read_jsonl(path)}
    is_part = logged == {*drawn}
    assert described["tot_arithmetic"].startswith("a random sample") == is_part
    (results,) = output.glob("results_*.json")
    results.write_text(
        results.read_text().replace('"sample_seed": 7', '"sample_seed": 8')
    )
    _, rows, _ = call(output)
    assert {row["rows"] for row in rows if row.get("rows")} == {
        "fewer than the benchmark's 1850",
        "fewer than the benchmark's 2800",
    }


def test_a_board_verifies_and_ranks_samples_of_one_seed(runs, tmp_path, capsys):
    other = shutil.copytree(runs.outputs[1], tmp_path / "other")
    board = tmp_path / "board.json"
    arguments = [f"a={runs.outputs[1]}", f"b={other}", "--json", str(board)]
    assert main(["leaderboard", *arguments, "--include_path", str(EXAMPLES)]) == 0
    rows = [row for row in json.loads(board.read_text()) if row["scope"] == "tot"]
    assert {
        row["model"]: row["published_rank"] for row in rows if row["by"] is None
    } == {
        "a": "1-2",
        "b": "1-2",
    }
    assert {row["status"] for row in rows} == {"verified"}
    assert all("a random sample of seed 7, " in row["remarks"] for row in rows)


@pytest.mark.parametrize(("count", "is_part"), [(299, True), (300, False)])
def test_all_rows_of_a_benchmark_are_no_part_of_it(count, is_part):
    digests = Counter({f"{number}": 1 for number in range(count)})
    drawn = random_sample.recognise("tcp_long", 1, digests, PACK)
    assert (drawn is not None) == is_part


def test_a_part_of_many_rows_is_reported_by_its_size_and_tasks(monkeypatch):
    monkeypatch.setattr(random_sample, "draw_rows", lambda *_: range(1500))
    tasks = ["timebench_tracie", "timebench_timedial"]
    [timebench] = benchmarks(tasks)
    one, two = (
        random_sample.Draw(timebench, tasks[:count], 7, EXAMPLES) for count in (1, 2)
    )
    assert one.report(1) == {"benchmark": "timebench_tracie", "rows": "1 of 1,500"}
    assert two.name == "TimeBench (2 of 15 tasks)"
    assert two.fewest(lambda size: 1 / size, 1 / 3000) == 3000
    said = "12.5 points are too few: all 3,000 rows of TimeBench (2 of 15 tasks) give"
    with pytest.raises(ToolError, match=re.escape(f"{said} 50.0 points; ask for more")):
        two.fewest(lambda _: 0.5, 0.125)
    assert random_sample._share_out(3000, [two], 7) == [3000]
    with pytest.raises(ToolError, match="3001: there are 3,000 rows; ask for fewer"):
        random_sample._share_out(3001, [two], 7)
    drawn = random_sample.Drawn(7, 3000, True)
    assert drawn.describe(1500) == "a random sample of seed 7, 1,500 of 3,000 rows"


def test_the_command_that_is_printed_names_the_drawn_tasks_and_is_one_for_a_shell():
    options = SimpleNamespace(include_path="a pack", output="b c.json", seed=8)
    options.tasks = "tcp"
    words = shlex.split(random_sample._command_line({"tcp_long": [1]}, options))
    assert words[words.index("--tasks") + 1] == "tcp_long"
    assert words[words.index("--include_path") + 1] == "a pack"
    assert words[words.index("--samples") + 1] == "b c.json"
    assert words[words.index("--metadata") + 1] == '{"sample_seed": 8}'


def test_all_rows_of_a_pack_and_rows_of_no_pack_are_no_part(tmp_path):
    docs, digest = documents("tcp_long", EXAMPLES), scorer("tcp_long").utils.digest
    order = draw_rows("tcp_long", 3, EXAMPLES)
    for count in (len(docs) - 1, len(docs)):
        digests = Counter(digest(docs[row]).hex() for row in order[:count])
        drawn = random_sample.recognise("tcp_long", 3, digests, EXAMPLES)
        is_part = count < len(docs)
        assert drawn == (random_sample.Drawn(3, len(docs), True) if is_part else None)
    assert random_sample.recognise("tcp_long", 3, Counter(["00"]), tmp_path) is None


def test_the_share_that_is_drawn_is_of_documents_not_of_answers():
    tally = Tally("tcp_long", drawn=random_sample.Drawn(7, 20, True))
    rest = {}, "right", True, [], None, None, "", 9, 0, 1
    for number in range(5):
        answers = [Counted(f"{sample}", *rest) for sample in range(2)]
        document = Document(f"{number}", "cluster", number, {}, answers)
        assert [*tally.join(document, [])] == []
    assert tally.all.answers == 10
    assert tally.drawn_share == 5 / 20


def test_rows_of_unknown_number_are_no_part_of_more():
    """A log over twins that names a seed, judged without the pack of its rows."""
    assert (
        random_sample.recognise("twin_tot_arithmetic", 1, Counter(["00"]), PACK) is None
    )


@pytest.mark.parametrize(("seed", "is_drawn"), [(0, True), (None, False)])
def test_a_seed_of_0_draws_a_sample_as_any_other(tmp_path, call, seed, is_drawn):
    docs = documents("tcp_long", EXAMPLES)
    rows = draw_rows("tcp_long", 0, EXAMPLES)[:3]
    lines = [sample(row, docs[row], "", "x") for row in rows]
    write(tmp_path / "samples_tcp_long_2026-01-01T00-00-00.jsonl", *lines)
    config = {"metadata": {random_sample.SEED_KEY: seed}}
    write(
        tmp_path / "results_2026-01-01T00-00-00.json", {"configs": {"tcp_long": config}}
    )
    _, [row, *_], _ = call(tmp_path)
    expected = f"a random sample of seed 0, 3 of {len(docs)} rows"
    assert (row["rows"] == expected) == is_drawn
