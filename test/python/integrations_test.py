"""The drop-in classes against the interfaces of TRL, SkyRL and slime as they were recorded: names, arguments, fields."""
import asyncio
import sys
import types
import unittest

from everturn import Batch, EverturnError

HEAD = {"lease": "r~1", "groups": ["a"], "until": "", "version": 0, "line": 1}


def row(group, sample):
    return {"id": f"{group}@{sample}", "group": group, "sample": sample, "prompt_ids": [1, 2], "response_ids": [3, 4],
            "response_mask": [1, 1], "logprobs": [-0.5, -0.25], "versions": [0, 0], "turn_ids": [0, 0], "turn_ends": [2],
            "turn_rewards": [1.0], "turn_returns": [1.0], "reward": 1.0, "finish": "stop", "success": True}


class Groups:
    """A feed in memory with so many leases; `said` is what the trainer told it."""

    def __init__(self, leases=9):
        self.leases, self.said = leases, []

    def rewind(self, version):
        self.said.append(("rewind", version))

    def version(self, number, weights=None):
        self.said.append(("version", number, weights))

    def acknowledge(self, lease, version):
        self.said.append(("acknowledge", version))

    def lease(self, groups, least):
        self.leases -= 1
        rows = [row(f"g{group}", sample) for group in range(groups) for sample in range(2)]
        return Batch(self, HEAD, rows) if self.leases >= 0 else None


STEPS = [("rewind", 0), ("version", 0, None), ("acknowledge", 1), ("version", 1, None)]


def stub(name, **members):
    for at in range(1, name.count(".") + 1):
        sys.modules.setdefault(".".join(name.split(".")[:at]), types.ModuleType("parent"))
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__dict__.update(members)


class Trl(unittest.TestCase):
    def test_the_next_call_acknowledges_the_step_before(self):
        from everturn.integrations.trl import Rollouts, own_reward

        feed = Groups()
        rollouts, trainer = Rollouts(feed), types.SimpleNamespace(num_generations=2)
        made = [rollouts(["p"] * 6, trainer) for _ in range(2)][1]
        self.assertLessEqual({"prompt_ids", "completion_ids", "logprobs", "env_mask"}, made.keys())
        self.assertEqual({len(values) for values in made.values()}, {6})
        self.assertEqual(own_reward(None, None, **{name: made[name] for name in ("reward", "row_id")}), [1.0] * 6)
        self.assertEqual(feed.said, STEPS)

    def test_another_size_and_the_end_have_reasons(self):
        from everturn.integrations.trl import Rollouts

        for feed, asked, reason in ((Groups(), 4, "other-size"), (Groups(0), 2, "finished")):
            with self.assertRaises(EverturnError) as caught:
                Rollouts(feed)(["p"] * asked, types.SimpleNamespace(num_generations=4 if asked == 4 else 2))
            self.assertEqual(caught.exception.reason, reason)


class SkyRl(unittest.TestCase):
    def test_the_output_keeps_the_ids_of_the_input(self):
        stub("skyrl.train.generators.base", GeneratorInterface=object)
        from everturn.integrations.skyrl import Generator

        feed, asked = Groups(), {"prompts": ["p"] * 4, "trajectory_ids": ["a_0", "a_1", "b_0", "b_1"]}
        generator = Generator(feed, samples=2)
        made = [asyncio.run(generator.generate(asked)) for _ in range(2)][1]
        lists = ("prompt_token_ids", "response_ids", "rewards", "loss_masks", "stop_reasons", "rollout_logprobs", "trajectory_ids")
        self.assertEqual({len(made[name]) for name in lists}, {4})
        self.assertEqual(made["trajectory_ids"], asked["trajectory_ids"])
        self.assertEqual(feed.said, STEPS)
        with self.assertRaises(EverturnError) as caught:
            asyncio.run(generator.generate({**asked, "batch_metadata": types.SimpleNamespace(global_step=1, training_phase="eval")}))
        self.assertEqual(caught.exception.reason, "no-evaluation")


class Slime(unittest.TestCase):
    def test_groups_of_samples_are_lists_of_lists(self):
        sample = types.SimpleNamespace(from_dict=lambda fields: types.SimpleNamespace(**fields))
        stub("slime.rollout.base_types", RolloutFnTrainOutput=types.SimpleNamespace)
        stub("slime.utils.types", Sample=sample)
        from everturn.integrations import Steps, slime

        feed = Groups()
        slime._steps.append(Steps(feed))
        args = types.SimpleNamespace(rollout_batch_size=3, n_samples_per_prompt=2)
        made = [slime.rollouts(args, step, None).samples for step in range(2)][1]
        self.assertEqual([[one.group_index for one in group] for group in made], [[0, 0], [1, 1], [2, 2]])
        self.assertEqual([one.index for group in made for one in group], list(range(6)))
        self.assertEqual(feed.said, STEPS)
        with self.assertRaises(EverturnError) as caught:
            slime.rollouts(args, 2, None, evaluation=True)
        self.assertEqual(caught.exception.reason, "no-evaluation")


if __name__ == "__main__":
    unittest.main()
