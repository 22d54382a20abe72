"""Runs read from Python by everturn's own process: EVERTURN_TEST_COMMAND calls it (JSON), EVERTURN_TEST_RUNS holds the run r1."""
import json
import os
import sys
import types
import unittest

import everturn
from everturn import EverturnError, Rollout, exports, runs
from everturn.process import Process

COMMAND = json.loads(os.environ["EVERTURN_TEST_COMMAND"])
OUT = os.environ["EVERTURN_TEST_RUNS"]


def opened():
    return everturn.open_run("r1", out=OUT, command=COMMAND)


class Reading(unittest.TestCase):
    def test_rollouts_have_facts_at_once_and_texts_and_tokens_on_demand(self):
        found = list(opened().rollouts())
        self.assertEqual(len(found), 13)
        one = next(one for one in found if (one.query, one.sample) == ("q1", 1))
        self.assertIsInstance(one, Rollout)
        self.assertEqual((one.outcome, one.stop_reason, one.success), ("complete", "success", [0, 1]))
        self.assertEqual([turn["verdict"] for turn in one.turns()], ["wrong", "right"])
        self.assertEqual([message["role"] for message in one.texts()["messages"]][:3], ["system", "user", "assistant"])
        sampled = sum(len(turn["record"]["outputIds"]) for turn in one.trajectory()["turns"])
        self.assertEqual(sum(one.rows()[0]["response_mask"]), sampled)

    def test_a_loop_that_is_left_and_calls_inside_of_it_disturb_nothing(self):
        run = opened()
        for rollout in run.rollouts():
            self.assertEqual(rollout.turns()[0]["turn"], 1)
            break
        both = zip(run.rollouts(), run.rows())
        self.assertEqual(len(list(both)), len(list(run.rows())))

    def test_rows_exports_numbers_and_proofs_are_those_of_the_commands(self):
        run = opened()
        path = os.path.join(OUT, "..", "python.jsonl")
        made = run.export("rows", path, overwrite=True, texts=True)
        with open(path, encoding="utf-8") as lines:
            self.assertEqual([json.loads(line) for line in lines], list(run.rows(texts=True)))
        self.assertEqual((made["exported"], made["skipped"]), (11, {"failed": 1, "undecided": 1}))
        self.assertEqual(run.stats(k=[1], at_turn=1)["ended"], 13)
        self.assertEqual([group["value"] for group in run.stats(by="task")["groups"]], ["math"])
        breaches = []
        self.assertEqual(run.check(breaches.append, tokenizer=False)["breaches"], len(breaches))
        self.assertEqual((run.result()["state"], run.status()["source"]), ("ended", "result"))

    def test_files_of_other_trainers_are_made_of_a_run_as_of_its_rows(self):
        run = opened()
        into = lambda name: os.path.join(OUT, "..", name)  # noqa: E731
        run.export("rows", into("rows.jsonl"), overwrite=True, texts=True, advantages="mean")
        self.addCleanup(setattr, exports, "open_run", exports.open_run)
        exports.open_run = lambda folder: everturn.open_run(folder, command=COMMAND)
        made = []
        for rows in (into("rows.jsonl"), run.folder):
            exports.main(["tinker", rows, "--to", into("tinker.jsonl"), "--overwrite"])
            with open(into("tinker.jsonl"), encoding="utf-8") as lines:
                made.append(lines.read())
        self.assertEqual(made[0], made[1])
        self.assertEqual(made[0].count("\n"), 11)

    def test_refusals_have_the_reason_and_the_fix_of_the_library(self):
        for refused, reason in [
            (lambda: everturn.open_run("none", out=OUT, command=COMMAND), "no-such-run"),
            (lambda: opened().stats(ks=[1]), "unknown-option"),
            (lambda: list(opened().rows(min_members=0.5)), "bad-value"),
            (lambda: everturn.start("x.jsonl", temperature=float("nan"), command=COMMAND), "bad-value"),
            (lambda: everturn.start("x.jsonl", model=lambda messages: "2", command=COMMAND), "bad-value"),
            (lambda: opened().stats(at_turn=9), "no-such-turn"),
            (lambda: opened().export("csv", "file"), "unknown-format"),
            (lambda: everturn.open_run("r1", command="/no/such/everturn"), "no-command"),
            (lambda: everturn.open_run("r1", command=[sys.executable, "-c", "pass"]), "no-command"),
        ]:
            with self.assertRaises(EverturnError) as caught:
                refused()
            self.assertEqual(caught.exception.reason, reason)
            self.assertNotRegex(str(caught.exception), r"--[a-z]|atTurn")
            self.assertTrue(caught.exception.fix)

    def test_a_command_that_has_ended_is_named(self):
        process = Process(["true"])
        child = process._started()
        child.wait()
        process._started = lambda: child
        with self.assertRaisesRegex(EverturnError, "`true serve-json` ended with 0"):
            process.call("hello")

    def test_frames_and_data_sets_are_made_by_their_own_libraries(self):
        made = {}
        frame = lambda rows, columns=None: made.update(rows=list(rows), columns=columns)  # noqa: E731
        read = lambda function, gen_kwargs: made.update(set=list(function(**gen_kwargs)))  # noqa: E731
        sys.modules.update(pandas=types.SimpleNamespace(DataFrame=frame), datasets=types.SimpleNamespace(Dataset=types.SimpleNamespace(from_generator=read)))
        self.addCleanup(lambda: [sys.modules.pop(name) for name in ("pandas", "datasets")])
        run = opened()
        run.to_pandas()
        self.assertEqual((len(made["rows"]), made["columns"][0], made["rows"][0]["query"]), (13, "query", "q1"))
        run.to_pandas(rows=True)
        self.assertEqual(made["rows"], list(run.rows()))
        run.to_datasets(texts=True)
        self.assertEqual(made["set"], list(run.rows(texts=True)))

    def test_a_notebook_shows_a_table_and_no_markup_of_others(self):
        shown = opened()._repr_html_()
        self.assertIn("13 of 15 rollouts ended", shown)
        self.assertEqual(shown.count("<tr>"), 1 + 3)
        stats = {**opened().stats(), "model": "<script>alert(1)</script>"}
        self.assertNotIn("<script", runs.html_of('"><img src=x>', stats))


if __name__ == "__main__":
    unittest.main()
