"""python/everturn/exports.py over the recorded rows of one run: each file is what the trainers' own code has read
(npm run test:trainers), value by value."""

import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

from everturn import exports, prime_rl
from everturn.rows import answer_spans, input_ids, read_rows

FIXTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "fixtures")
ROWS = os.path.join(FIXTURES, "formats", "rows-texts.jsonl")
TRACES = os.path.join(FIXTURES, "..", "..", "examples", "traces.py")
RECORDED = os.path.join(FIXTURES, "row-exports")


def lines_of(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def as_json(batches):
    return json.dumps(batches).encode("utf-8")


def steps_in(folder):
    """{step_N/rank_R.bin: its micro batches}"""
    root, found = os.path.join(folder, "rollouts"), {}
    for step in os.listdir(root):
        for rank in os.listdir(os.path.join(root, step)):
            with open(os.path.join(root, step, rank), encoding="utf-8") as file:
                found[f"{step}/{rank}"] = json.load(file)
    return found


class Exports(unittest.TestCase):
    def setUp(self):
        self.rows = list(read_rows(ROWS))
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name

    def refused(self, *arguments, main=exports.main):
        with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(io.StringIO()) as said:
            main(list(arguments))
        return f"{ended.exception.code} {said.getvalue()}"

    def said(self, *arguments):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            exports.main(arguments)
        return said.getvalue()

    def file(self, *lines):
        path = os.path.join(self.folder, "given.jsonl")
        with open(path, "wb") as out:
            out.writelines(line + b"\n" for line in lines)
        return path

    def test_each_format_of_lines_has_the_recorded_values(self):
        for name in exports.LINES:
            to = os.path.join(self.folder, f"{name}.jsonl")
            self.assertIn(f"rows written to {to}", self.said(name, ROWS, "--to", to))
            self.assertEqual(lines_of(to), lines_of(os.path.join(RECORDED, f"{name}.jsonl")), name)
        self.assertEqual(len(os.listdir(self.folder)), len(exports.LINES))

    def test_verifiers_gets_a_logprob_and_an_advantage_for_each_token_of_its_mask(self):
        (row,) = [{**row, "response_mask": list(row["response_mask"])} for row in self.rows[:1]]
        start, end = answer_spans(row)[0]
        row["response_mask"][start] = 0
        (node,) = [one for one in exports.to_verifiers(row)["traces"][0]["nodes"] if one["sampled"]][:1]
        self.assertEqual(node["mask"], [False] + [True] * (end - start - 1))
        self.assertEqual(node["logprobs"], row["logprobs"][start + 1 : end])
        self.assertEqual(node["advantages"], row["turn_advantages"] and [row["turn_advantages"][0]] * (end - start - 1))

    def test_standard_output_has_the_lines_of_the_file(self):
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="ascii")) as out:
            self.assertEqual(self.said("nemo-gym", ROWS), "9 rows written; left out: 2 text-prompt.\n")
        self.assertEqual([json.loads(line) for line in out.buffer.getvalue().splitlines()], lines_of(os.path.join(RECORDED, "nemo-gym.jsonl")))

    def test_prime_rl_has_the_recorded_micro_batches(self):
        prime_rl.write_steps(prime_rl.steps(self.rows, 64, ranks=2, groups_per_step=2), self.folder, as_json)
        with open(os.path.join(RECORDED, "prime-rl.json"), encoding="utf-8") as recorded:
            self.assertEqual(steps_in(self.folder), json.load(recorded))

    def test_a_sample_beyond_seq_len_is_cut_there_and_every_sampled_token_before_is_trained_once(self):
        made = [batch for _, ranks in prime_rl.steps(self.rows, 6, ranks=3, groups_per_step=100) for rank in ranks for batch in rank]
        self.assertEqual(len(made) % 3, 0)
        self.assertLessEqual(max(map(prime_rl.length_of, made)), 6)
        trained = [token for batch in made for token, mask in zip(batch[0], batch[1]) if mask]
        sampled = [
            token for row in self.rows for token, mask in list(zip(input_ids(row), [0] * len(row["prompt_ids"]) + row["response_mask"]))[:6] if mask
        ]
        self.assertEqual(sorted(trained), sorted(sampled))

    def test_a_folder_that_is_there_and_a_failed_export_leave_what_was(self):
        prime_rl.write_steps(prime_rl.steps(self.rows, 64), self.folder, as_json)
        before = steps_in(self.folder)
        with self.assertRaisesRegex(ValueError, "exists already"):
            prime_rl.write_steps(prime_rl.steps(self.rows, 32), self.folder, as_json)
        self.assertEqual((steps_in(self.folder), os.listdir(self.folder)), (before, ["rollouts"]))
        torn = os.path.join(self.folder, "torn.jsonl")
        with open(torn, "w", encoding="utf-8") as out:
            out.write(json.dumps(self.rows[0]) + "\n{\"id\"")
        to = os.path.join(self.folder, "out.jsonl")
        self.assertIn("line 2", self.refused("verifiers", torn, "--to", to))
        self.assertEqual(sorted(os.listdir(self.folder)), ["rollouts", "torn.jsonl"])

    def test_rows_without_texts_or_advantages_are_refused_by_the_flag_that_they_lack(self):
        plain = os.path.join(FIXTURES, "formats", "rows.jsonl")
        self.assertIn("--texts", self.refused("verifiers", plain))
        self.assertIn("--advantages", self.refused("tinker", plain))
        self.assertIn("--seq-len", self.refused("prime-rl", plain, "--to", self.folder))

    def test_traces_of_rows_without_texts_are_refused_by_file_line_and_field(self):
        said = self.refused(os.path.join(FIXTURES, "formats", "rows.jsonl"), main=runpy.run_path(TRACES)["main"])
        self.assertRegex(said, r"^1 .*rows\.jsonl:1: the row has no field 'started_at': .*--texts")

    def test_an_existing_file_is_replaced_with_overwrite_alone_and_the_input_never(self):
        given, to = self.file(json.dumps(self.rows[0]).encode()), os.path.join(self.folder, "out.jsonl")
        with open(to, "w", encoding="utf-8") as out:
            out.write("mine")
        self.assertRegex(self.refused("verifiers", given, "--to", to), "^2 .*exists already. Replace it with --overwrite, or name another")
        self.assertRegex(self.refused("verifiers", given, "--to", given, "--overwrite"), "^2 .*is the file that is read")
        self.assertEqual((os.path.getsize(to), lines_of(given)), (4, self.rows[:1]))
        self.said("verifiers", given, "--to", to, "--overwrite")
        self.assertEqual(len(lines_of(to)), 1)
        self.assertEqual(sorted(os.listdir(self.folder)), ["given.jsonl", "out.jsonl"])

    def test_without_a_row_nothing_is_written_and_the_code_is_8(self):
        given, to = self.file(), os.path.join(self.folder, "out")
        with unittest.mock.patch.object(prime_rl, "_pack", lambda: as_json):
            for name, more in [*((name, ()) for name in exports.LINES), ("prime-rl", ("--seq-len", "9"))]:
                self.assertRegex(self.refused(name, given, "--to", to, *more), "^8 everturn: Nothing is exported, and no file")
        self.assertRegex(self.refused(given, main=runpy.run_path(TRACES)["main"]), "^8 Nothing is drawn")
        self.assertEqual(os.listdir(self.folder), ["given.jsonl"])

    def test_prime_rl_says_how_many_rows_it_cut(self):
        with unittest.mock.patch.object(prime_rl, "_pack", lambda: as_json):
            said = self.said("prime-rl", ROWS, "--to", self.folder, "--seq-len", "6")
        longer = sum(len(input_ids(row)) > 6 for row in self.rows)
        self.assertIn(f"{len(self.rows)} rows written to {self.folder}/rollouts; {longer} of them cut to 6 tokens", said)

    def test_a_line_that_is_no_row_is_named_with_what_would_be_right(self):
        first = self.rows[0]
        for line, wrong in [
            (b'{"id":', "no JSON"), (b"[]", "no row"), (b'"\xff"', "UTF-8"), (b"null", "no row"),
            (json.dumps({**first, "started_at": None}).encode(), "another form"),
            (json.dumps({name: value for name, value in first.items() if name != "models"}).encode(), "no field 'models'"),
        ]:
            given = self.file(json.dumps(first).encode(), line)
            with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
                self.assertRegex(self.refused("verifiers", given), f"^1 everturn: .*line 2: .*{wrong}.*everturn export")
                self.assertRegex(self.refused(given, main=runpy.run_path(TRACES)["main"]), f"^1 .*:2: .*{wrong}.*everturn export")
        self.assertRegex(self.refused("verifiers", "none.jsonl"), "^2 .*There is no file none.jsonl")
        self.assertRegex(self.refused("verifiers", ROWS, "--to", os.path.join(self.folder, "no", "out")), "^2 .*out cannot be written")

    def test_half_a_surrogate_pair_is_written_and_a_closed_pipe_is_silent(self):
        given = self.file(*[json.dumps({**self.rows[0], "answers": ["\ud83d"]}).encode()] * 2000)
        for words in (["-m", "everturn.exports", "verifiers", given], [TRACES, given, "--otlp"]):
            with subprocess.Popen([sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
                json.loads(child.stdout.readline())
                child.stdout.close()
                self.assertEqual((child.stderr.read(), child.wait()), (b"", 141))

    def test_a_call_of_tools_or_of_an_agent_is_no_evaluation(self):
        spans_of = runpy.run_path(TRACES)["spans_of"]
        row = next(row for row in self.rows if len(row["answers"]) == 2)
        names = lambda row: [span[0] for span in spans_of(row) if span[0] in ("call", "evaluate")]  # noqa: E731
        self.assertEqual(names(row), ["evaluate", "evaluate"])
        self.assertEqual(names({**row, "turn_calls": ["a", "b"]}), ["call", "evaluate"])
        tool = {"role": "tool", "content": "4"}
        self.assertEqual(names({**row, "feedback": [[tool], []]}), ["call", "evaluate"])

    def test_traces_have_a_slice_and_a_span_for_each_rollout_and_each_answer(self):
        traces = runpy.run_path(TRACES)
        turns = sum(len(row["answers"]) for row in self.rows)
        slices = [event for event in traces["timeline"](self.rows)["traceEvents"] if event["ph"] == "X"]
        self.assertEqual([sum(one["pid"] == pid for one in slices) for pid in (1, 2)], [len(self.rows) + 2 * turns, turns])
        for one in slices:
            inside = [other for other in slices if (other["pid"], other["tid"]) == (one["pid"], one["tid"]) and other is not one]
            for other in inside:  # in a lane a slice holds another one, or ends before it
                apart = other["ts"] >= one["ts"] + one["dur"] or one["ts"] >= other["ts"] + other["dur"]
                ends = sorted([(one["ts"], -one["dur"]), (other["ts"], -other["dur"])])
                self.assertTrue(apart or ends[0][0] - ends[0][1] >= ends[1][0] - ends[1][1])
        spans = [span for row in self.rows for span in traces["otlp"](row)["resourceSpans"][0]["scopeSpans"][0]["spans"]]
        self.assertEqual(len(spans), len(self.rows) + 2 * turns)
        self.assertEqual(len({span["spanId"] for span in spans}), len(spans))
        self.assertLessEqual({span.get("parentSpanId") for span in spans} - {None}, {span["spanId"] for span in spans})

    def test_an_answer_without_a_token_has_its_place_behind_its_context(self):
        self.assertEqual(answer_spans({"turn_ends": [2, 4, 5], "turn_ids": [0, 0, -1, -1, 2]}), [(0, 2), (4, 4), (4, 5)])


if __name__ == "__main__":
    unittest.main()
