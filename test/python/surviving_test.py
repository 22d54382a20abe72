"""examples/train/surviving.py: the surviving line of a log, against a trainer that is killed at random places."""
import json
import os
import random
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/train"))
from surviving import differences, evaluations, ledger, read_log, surviving, twice  # noqa: E402


def started(version):
    return {"event": "started", "version": version}


def trained(version, *groups, lease="l"):
    return {"event": "trained", "version": version, "lease": f"{lease}{version}", "groups": list(groups)}


class Line(unittest.TestCase):
    def test_a_start_ends_what_was_trained_above_its_version(self):
        log = [started(0), trained(1, "a"), trained(2, "b"), started(1), trained(2, "c"), trained(3, "b")]
        self.assertEqual([(v, e["groups"]) for v, e in surviving(log).items()], [(1, ["a"]), (2, ["c"]), (3, ["b"])])
        self.assertEqual(twice(surviving(log)), [])

    def test_a_checkpoint_that_was_saved_and_not_published_survives(self):
        log = [started(0), trained(1, "a"), started(1), trained(2, "b")]
        self.assertEqual(sorted(surviving(log)), [1, 2])

    def test_a_group_of_two_surviving_versions_is_named(self):
        self.assertEqual(twice(surviving([started(0), trained(1, "a", "b"), trained(2, "b", "c")])), ["b"])

    def test_a_log_with_a_hole_is_refused(self):
        for log in ([started(0), trained(2, "a")], [started(0), trained(1, "a"), started(3)], [started(0), trained(1, "a"), trained(1, "b")]):
            with self.assertRaises(ValueError):
                surviving(log)

    def test_an_evaluation_of_an_ended_line_is_left_out(self):
        log = [started(0), {"event": "evaluated", "version": 2, "right": 0.1}, started(1), {"event": "evaluated", "version": 2, "right": 0.2}]
        self.assertEqual([(v, e["right"]) for v, e in evaluations(log)], [(2, 0.2)])

    def test_a_trainer_that_is_killed_anywhere_has_the_line_of_its_last_checkpoint(self):
        for seed in range(200):
            dice, log, saved, lines = random.Random(seed), [], 0, {0: []}
            for _ in range(dice.randrange(1, 8)):
                log.append(started(saved))
                version, line = saved, list(lines[saved])
                for _ in range(dice.randrange(6)):
                    version, line = version + 1, [*line, dice.random()]
                    log.append(trained(version, line[-1]))
                    if dice.random() < 0.3:
                        break  # killed before the checkpoint
                    saved, lines[version] = version, line
            log.append(started(saved))
            self.assertEqual([e["groups"][0] for e in surviving(log).values()], lines[saved])


class Log(unittest.TestCase):
    def read(self, text):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log.jsonl")
            with open(path, "w") as f:
                f.write(text)
            return read_log(path)

    def test_a_line_that_a_kill_cut_off_is_left_out(self):
        start = json.dumps(started(0))
        self.assertEqual(self.read(f'{start}\n{{"event": "tra\n{start}\n'), [started(0), started(0)])
        self.assertEqual(self.read(f'{start}\n{{"event": "tra'), [started(0)])

    def test_a_cut_line_without_a_restart_is_refused(self):
        with self.assertRaisesRegex(ValueError, "line 1"):
            self.read('{"event": "tra\n' + json.dumps(trained(1, "a")) + "\n")


class Ledger(unittest.TestCase):
    def test_the_ledger_of_a_run_is_compared_by_lease_and_groups(self):
        entries = [
            {"kind": "trained", "lease": "l1", "groups": [[0, 1]], "version": 1},
            {"kind": "version", "version": 1, "weights": None},
            {"kind": "trained", "lease": "gone", "groups": [[2, 2]], "version": 2},
            {"kind": "rewind", "to": 1},
            {"kind": "trained", "lease": "l2", "groups": [[2, 2], [2001, 2001]], "version": 2},
        ]
        with tempfile.TemporaryDirectory() as run:
            os.makedirs(os.path.join(run, "feed", "000000"))
            for number, entry in enumerate(entries, start=1):
                with open(os.path.join(run, "feed", "000000", f"{number:09d}.json"), "w") as f:
                    json.dump(entry, f)
            with open(os.path.join(run, "queries.jsonl"), "w") as f:
                f.writelines(json.dumps({"queryId": f"q#{n}"}) + "\n" for n in range(2000))
            told = ledger(run)
        line = surviving([started(0), trained(1, "q%230", "q%231"), trained(2, "q%232", "q%231#1")])
        self.assertEqual(differences(line, told), [])
        other = surviving([started(0), trained(1, "q%230", "q%231"), trained(2, "q%232", "q%231#2")])
        self.assertRegex(differences(other, told)[0], "^version 2: ")
        self.assertRegex(differences(surviving([started(0)]), told)[0], "^version 1: the trainer has None")


if __name__ == "__main__":
    unittest.main()
