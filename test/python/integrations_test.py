"""The drop-in classes against the interfaces of trainers as they were recorded: names, arguments, fields. OpenRLHF 0.11.2, AReaL 1.0.4,
verl 0.9.1 and TransferQueue 0.1.11 were read in their wheels."""
import asyncio
import os
import sys
import tempfile
import types
import unittest
from unittest import mock

from everturn import Batch, EverturnError

HEAD = {"lease": "r~1", "groups": ["a"], "until": "", "version": 0, "line": 1}


def row(group, sample):
    return {"id": f"{group}@{sample}", "group": group, "sample": sample, "prompt_ids": [1, 2], "response_ids": [3, 4],
            "response_mask": [1, 1], "logprobs": [-0.5, -0.25], "versions": [0, 0], "turn_ids": [0, 0], "turn_ends": [2],
            "turn_rewards": [1.0], "turn_returns": [1.0], "reward": 1.0, "finish": "stop", "success": True, "version_start": 0, "version_end": 0}


class Groups:
    """A feed in memory with so many leases; `said` is what the trainer told it."""

    def __init__(self, leases=9):
        self.leases, self.said = leases, []

    def status(self):
        return {"version": 0, "leases": [{"lease": "r~1"}]}

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
    def setUp(self):
        stub("transformers", TrainerCallback=object)

    def test_the_end_of_a_step_or_the_next_call_acknowledges_it(self):
        from everturn.integrations.trl import Rollouts, own_reward

        feed = Groups()
        rollouts, trainer = Rollouts(feed), types.SimpleNamespace(num_generations=2)
        made = [rollouts(["p"] * 6, trainer) for _ in range(2)][1]
        self.assertLessEqual({"prompt_ids", "completion_ids", "logprobs", "env_mask"}, made.keys())
        self.assertEqual({len(values) for values in made.values()}, {6})
        self.assertEqual(own_reward(None, None, **{name: made[name] for name in ("reward", "row_id")}), [1.0] * 6)
        self.assertEqual(feed.said, STEPS)
        for _ in range(2):
            rollouts.on_step_end(None, None, None)
        self.assertEqual(feed.said[len(STEPS):], [("acknowledge", 2), ("version", 2, None)])

    def test_a_checkpoint_ahead_of_the_feed_acknowledges_what_was_leased(self):
        from everturn.integrations.trl import Rollouts

        feed = Groups()
        Rollouts(feed, version=1)
        self.assertEqual(feed.said, [("acknowledge", 1), ("rewind", 1), ("version", 1, None)])

    def test_another_size_and_the_end_have_reasons(self):
        from everturn.integrations.trl import Rollouts

        for feed, asked, reason in ((Groups(), 4, "other-size"), (Groups(0), 2, "finished")):
            with self.assertRaises(EverturnError) as caught:
                Rollouts(feed)(["p"] * asked, types.SimpleNamespace(num_generations=4 if asked == 4 else 2))
            self.assertEqual(caught.exception.reason, reason)


class Saved(unittest.TestCase):
    def test_the_folder_of_a_version_is_found_by_its_number_or_that_of_the_step_before(self):
        from everturn.integrations import Steps, saved

        with tempfile.TemporaryDirectory() as root:
            for name in ("global_step_1/hf", "epoch0globalstep0", "epoch1globalstep1"):
                os.makedirs(os.path.join(root, name))
            with mock.patch.dict(os.environ, EVERTURN_WEIGHTS=f"{root}/global_step_{{version}}/hf"):
                steps = Steps(Groups())
            self.assertEqual([steps.weights(version) for version in (0, 1)], [None, f"{root}/global_step_1/hf"])
            self.assertEqual(saved(f"{root}/epoch*globalstep{{step}}")(2), f"{root}/epoch1globalstep1")
            with self.assertRaises(EverturnError) as caught:
                steps.weights(2)
            self.assertEqual((caught.exception.reason, saved(None)(3)), ("no-weights", None))


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


class Areal(unittest.TestCase):
    def test_an_episode_is_a_group_and_the_next_step_waits_for_the_trainers_version(self):
        stub("torch", tensor=lambda values, dtype: values, int32=0, bool=0, float32=0)
        stub("areal.api.workflow_api", RolloutWorkflow=object)
        from everturn.integrations.areal import Workflow

        async def episodes(version, count):
            engine = types.SimpleNamespace(get_version=lambda: version)
            return await asyncio.gather(*(Workflow(groups=3, samples=2, feed=feed).arun_episode(engine, {}) for _ in range(count)))

        feed = Groups()
        first = asyncio.run(episodes(0, 3))
        self.assertEqual([len(one["input_ids"]) for one in first], [2, 2, 2])
        self.assertEqual(len(asyncio.run(episodes(1, 3))), 3)
        self.assertEqual(feed.said, STEPS)
        with self.assertRaises(EverturnError) as caught:
            asyncio.run(episodes(1, 1))
        self.assertEqual(caught.exception.reason, "asked-ahead")
        self.assertEqual(feed.said, STEPS)


class OpenRlhf(unittest.TestCase):
    def test_the_samples_of_a_prompt_are_the_rows_of_one_group(self):
        stub("openrlhf.utils.agent", AgentExecutorBase=object)
        from everturn.integrations.openrlhf import AgentExecutor

        feed = Groups()
        os.environ.update(EVERTURN_GROUPS="3", EVERTURN_SAMPLES="2")
        executor = AgentExecutor(feed)

        async def step(prompts):
            asked = [executor.execute(prompt=prompt, label="l", sampling_params=None, max_length=9, hf_tokenizer=None, llm_engine=None) for prompt in prompts]
            return await asyncio.gather(*asked)

        made = asyncio.run(step("aabbcc"))
        self.assertEqual([one["prompt"] for one in made], list("aabbcc"))
        self.assertEqual({(len(one["observation_tokens"]), *one["action_ranges"]) for one in made}, {(4, (2, 4))})
        self.assertEqual(len(asyncio.run(step("ddeeff"))), 6)
        self.assertEqual(feed.said, STEPS)


class Verl(unittest.TestCase):
    def test_each_prompts_uid_gets_a_group_in_the_transfer_queue(self):
        put = []
        stub("tensordict", NonTensorData=Whole)
        stub("torch", tensor=lambda values, dtype: values, int64=0, float32=0, arange=lambda n: list(range(n)))
        stub("transfer_queue", kv_batch_put=lambda **said: put.append(said))
        stub("verl.utils.tensordict_utils", list_of_dict_to_tensordict=lambda fields: fields)
        from everturn.integrations.verl import Manager

        feed = Groups()
        config = types.SimpleNamespace(actor_rollout_ref=types.SimpleNamespace(rollout=types.SimpleNamespace(n=2)))
        manager = Manager.create(config=config, llm_client=None, teacher_client=None, reward_loop_worker_handles=None, feed=feed)
        for step in (1, 2):
            manager.generate_sequences(Prompts(uid=Each("u", "v"), raw_prompt=Each("p", "q"), global_steps=Whole(step)))
        groups, done = put[2:]
        self.assertEqual(groups["keys"], ["u_0_0", "u_1_0", "v_0_0", "v_1_0"])
        self.assertEqual([(one["uid"], one["raw_prompt"], one["global_steps"]) for one in groups["fields"]], [("u", "p", 2)] * 2 + [("v", "q", 2)] * 2)
        self.assertEqual(groups["fields"][0]["rm_scores"], [0.0, 1.0])
        self.assertEqual((groups["tags"][0]["seq_len"], groups["tags"][0]["max_global_steps"]), (4, 0))
        self.assertEqual((done["keys"], done["tags"][0]), (["u", "v"], {"status": "finished"}))
        self.assertEqual(feed.said, STEPS)
        with self.assertRaises(EverturnError) as caught:
            manager.generate_sequences(Prompts(uid=Each("u"), validate=Whole(True), global_steps=Whole(2)))
        self.assertEqual(caught.exception.reason, "no-evaluation")


class Whole:
    """As tensordict's NonTensorData: one value for all."""

    def __init__(self, data):
        self.data = data


class Each(list):
    """As its NonTensorStack."""

    def __init__(self, *values):
        super().__init__(Whole(value) for value in values)


class Prompts(dict):
    """As its TensorDict: items are wrapped, what is asked for by name is not."""

    def __init__(self, **columns):
        super().__init__(columns)

    def __getitem__(self, name):
        value = super().__getitem__(name)
        return value.data if isinstance(value, Whole) else [one.data for one in value]


if __name__ == "__main__":
    unittest.main()
