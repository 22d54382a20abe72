"""python/everturn/prime_rl_feed.py with a feed and a trainer in memory, ended at each call in turn: every group is trained once, in the
steps of the ledger. The trainer's own files are those of prime-rl@559b4477; npm run test:trainers has its own code read them."""
import json
import os
import random
import shutil
import tempfile
import unittest
from unittest import mock

from everturn import prime_rl, prime_rl_feed
from everturn.errors import EverturnError
from everturn.prime_rl_feed import Feeder
from everturn.rows import read_rows

HERE = os.path.dirname(os.path.abspath(__file__))
ROW = next(read_rows(os.path.join(HERE, "../fixtures/formats/rows-texts.jsonl")))
GROUPS, B, STEPS = 10, 2, 5


class Killed(Exception):
    pass


class World:
    """The feed's rules, and a trainer that takes a step whenever the feeder looks: it starts again from its checkpoint at
    random, and goes by the files alone. Each call may be the feeder's last."""

    def __init__(self, seed, folder):
        self.random, self.folder = random.Random(seed), folder
        self.line, self.leases, self.ledger, self.published, self.kills, self.resumes = 0, {}, [], 0, 0, 0
        self.trained, self.at, self.counter = {}, 0, 0
        self.broadcast(0)

    def may_die(self):
        if self.random.random() < 0.06:
            self.kills += 1
            raise Killed

    def broadcast(self, step):
        folder = os.path.join(self.folder, "broadcasts", f"step_{step}")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "STABLE"), "wb"):
            pass
        self.at = step
        shutil.rmtree(os.path.join(self.folder, "broadcasts", f"step_{step - 2}"), ignore_errors=True)

    def look(self, _):
        self.may_die()
        if self.random.random() < 0.2:
            self.resumes += 1
            self.broadcast(self.random.randint(max(0, self.at - 3), self.at))
        path = os.path.join(self.folder, "rollouts", f"step_{self.at + 1}", "rank_0.bin")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                self.trained[self.at + 1] = json.load(file)
            self.broadcast(self.at + 1)

    # the feed
    def status(self):
        return {"version": self.published}

    def rewind(self, version):
        assert self.published <= version <= self.published + 1
        self.may_die()
        self.line, self.leases = self.line + 1, {}

    def lease(self, groups, least, seconds):
        self.may_die()
        held = [own for _, _, own in self.ledger] + list(self.leases.values())
        taken = sum(held, [])
        own = [group for group in range(GROUPS) if group not in taken][:groups]
        if not own:
            return None
        self.counter += 1
        self.leases[self.counter] = own
        self.may_die()
        rows = [{**ROW, "group": f"q{group}", "logprobs": [float(group)] * len(ROW["logprobs"])} for group in own for _ in range(2)]
        return mock.Mock(lease=self.counter, groups=own, rows=rows)

    def acknowledge(self, lease, version):
        assert os.path.exists(os.path.join(self.folder, "broadcasts", f"step_{version}", "STABLE"))
        self.may_die()
        if (lease, version) not in [(name, into) for into, name, _ in self.ledger]:
            if lease not in self.leases or version != self.published + 1:
                raise EverturnError("gone", "no-such-lease")
            self.ledger.append((version, lease, self.leases.pop(lease)))
        self.may_die()

    def version(self, version, weights):
        self.may_die()
        assert version == self.published or (version == self.published + 1 and self.ledger[-1][0] == version)
        assert os.path.exists(os.path.join(weights, "STABLE"))
        self.published = version
        self.may_die()


def groups_in(batches):
    """A row's logprobs are its group's number here."""
    return sorted({int(logprob) for batch in batches for logprob, mask in zip(batch[3], batch[1]) if mask})


class TheFeeder(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = holder.name
        as_json = mock.patch.object(prime_rl, "_pack", lambda: lambda batches: json.dumps(batches).encode())
        as_json.start()
        self.addCleanup(as_json.stop)

    def test_has_every_group_trained_once_in_the_step_of_the_ledger_whoever_is_killed(self):
        kills = resumes = 0
        for seed in range(40):
            folder = os.path.join(self.folder, str(seed))
            world = World(seed, folder)
            with mock.patch.object(prime_rl_feed.time, "sleep", world.look):
                while True:
                    try:
                        last = Feeder(world, folder, 64, B, say=lambda _: world.may_die()).run()
                        break
                    except Killed:
                        pass
            self.assertEqual(last, STEPS, seed)
            self.assertEqual([version for version, _, _ in world.ledger], list(range(1, STEPS + 1)))
            self.assertEqual({step: groups_in(found) for step, found in world.trained.items()}, {step: own for step, _, own in world.ledger}, seed)
            self.assertEqual(sorted(sum((own for _, _, own in world.ledger), [])), list(range(GROUPS)))
            kills, resumes = kills + world.kills, resumes + world.resumes
        self.assertGreater(min(kills, resumes), 40)

    def test_gives_a_version_the_configuration_that_prime_rl_leaves_out_and_no_weights(self):
        model = os.path.join(self.folder, "model")
        os.makedirs(model)
        for name in ("config.json", "tokenizer.json", "model.safetensors", "model.safetensors.index.json"):
            with open(os.path.join(model, name), "w", encoding="utf-8") as file:
                file.write(name)
        world = World(0, self.folder)
        feeder = Feeder(world, self.folder, 64, B, model=model, say=lambda _: None)
        with mock.patch.object(world, "may_die"):
            feeder._publish(0)
        self.assertEqual(sorted(os.listdir(os.path.join(self.folder, "broadcasts/step_0"))), ["STABLE", "config.json", "tokenizer.json"])

    def test_a_step_of_another_run_is_refused(self):
        os.makedirs(os.path.join(self.folder, "rollouts/step_1"))
        with open(os.path.join(self.folder, "rollouts/step_1/everturn.json"), "w", encoding="utf-8") as file:
            json.dump({"lease": "of another run"}, file)
        world = World(0, self.folder)
        world.broadcast(1)
        with mock.patch.object(world, "may_die"), self.assertRaises(EverturnError) as refused:
            Feeder(world, self.folder, 64, B, say=lambda _: None).run()
        self.assertEqual((refused.exception.reason, world.line), ("no-such-lease", 0))


if __name__ == "__main__":
    unittest.main()
