"""The adapters of python/everturn/rows.py over the recorded rows of one run, without any framework."""

import copy
import json
import os
import tempfile
import typing
import unittest

from everturn import Row
from everturn import rows as feed

ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../fixtures/formats/rows.jsonl")


def plain(values, dtype):
    return {"dtype": dtype, "values": values}


class Adapters(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rows = list(feed.read_rows(ROWS))
        cls.before = copy.deepcopy(cls.rows)

    def tearDown(self):
        self.assertEqual(self.rows, self.before)

    def test_rewards_on_tokens_sum_to_those_of_the_turns(self):
        for row in self.rows:
            rewards = feed.token_rewards(row)
            self.assertAlmostEqual(sum(rewards), sum(row["turn_rewards"]))
            self.assertEqual(rewards[-1], row["turn_rewards"][-1])
            for end, reward in zip(row["turn_ends"], row["turn_rewards"]):
                self.assertEqual(rewards[end - 1], reward)
                self.assertEqual(row["response_mask"][end - 1], 1)

    def test_an_empty_first_answer_does_not_give_its_reward_to_the_last_token(self):
        row = {"id": "x", "response_ids": [7, 8, 9], "turn_ends": [0, 3], "turn_rewards": [-1.0, 1.0]}
        self.assertEqual(feed.token_rewards(row), [-1.0, 0.0, 1.0])

    def test_the_type_of_rows_is_what_is_exported(self):
        hints = typing.get_type_hints(Row)
        for row in self.rows:
            self.assertLessEqual(Row.__required_keys__, row.keys())
            for name in Row.__required_keys__:
                kind = typing.get_origin(hints[name]) or hints[name]
                self.assertIsInstance(row[name], (int, float) if kind is float else kind, name)

    def test_a_masked_token_of_an_answer_is_no_fault_and_trains_in_no_trainer(self):
        row = copy.deepcopy(self.rows[0])
        at = row["turn_ends"][0] - 1
        row["response_mask"][at] = 0
        row["mask_stale"] = [int(place == at) for place in range(len(row["response_ids"]))]
        feed.check(row)
        on_all = len(row["prompt_ids"]) + at
        self.assertEqual(feed.to_trl([row])["env_mask"][0][at], 0)
        self.assertEqual(feed.to_verl(row)["output"]["response_mask"][at], 0)
        self.assertEqual(sum(feed.to_areal([row], plain)["loss_mask"]["values"][0]), sum(row["response_mask"]))
        self.assertEqual(feed.to_skyrl([row])["loss_masks"][0][at], 0)
        self.assertEqual(feed.to_slime(row)["loss_mask"][at], 0)
        self.assertFalse(any(start <= on_all < end for start, end in feed.to_openrlhf(row)["action_ranges"]))
        for broken in ({**row, "mask_stale": [0]}, {**row, "response_mask": [1] * len(row["response_ids"]), "turn_ids": [-1] * len(row["response_ids"])}):
            with self.assertRaises(ValueError):
                feed.check(broken)

    def test_trl_gets_one_entry_per_row_and_all_lists_of_a_row_are_of_one_length(self):
        made = feed.to_trl(self.rows)
        self.assertEqual({len(values) for values in made.values()}, {len(self.rows)})
        for ids, mask, logprobs in zip(made["completion_ids"], made["env_mask"], made["logprobs"]):
            self.assertEqual(len(ids), len(mask))
            self.assertEqual(len(ids), len(logprobs))
            self.assertEqual(mask[-1], 1)

    def test_verl_gets_a_group_id_without_an_underscore(self):
        made = [feed.to_verl(row) for row in self.rows]
        for one, row in zip(made, self.rows):
            self.assertNotIn("_", one["uid"])
            self.assertEqual(len(one["rm_scores"]), len(one["output"]["response_ids"]))
            self.assertLessEqual(one["output"]["extra_fields"]["min_global_steps"], row["version_end"])
        groups = {row["group"] for row in self.rows}
        self.assertEqual(len({one["uid"] for one in made}), len(groups))

    def test_areal_gets_rectangles_padded_on_the_right(self):
        made = feed.to_areal(self.rows, plain)
        longest = max(len(row["prompt_ids"]) + len(row["response_ids"]) for row in self.rows)
        for name, value in made.items():
            if name != "rewards":
                self.assertEqual({len(line) for line in value["values"]}, {longest})
        for i, row in enumerate(self.rows):
            length = len(feed.input_ids(row))
            self.assertEqual(sum(made["attention_mask"]["values"][i]), length)
            self.assertEqual(made["versions"]["values"][i][: len(row["prompt_ids"])], [-1] * len(row["prompt_ids"]))
            self.assertEqual(made["input_ids"]["values"][i][:length], feed.input_ids(row))
            self.assertEqual(sum(made["loss_mask"]["values"][i]), sum(row["response_mask"]))

    def test_a_reward_that_was_placed_stands_at_its_token_where_a_trainer_takes_rewards_of_tokens(self):
        row = {**self.rows[0], "token_rewards": [0.25 * at for at in range(len(self.rows[0]["response_ids"]))]}
        feed.check(row)
        self.assertEqual(feed.to_verl(row)["rm_scores"], row["token_rewards"])
        self.assertEqual(feed.to_skyrl([row])["rewards"], [row["token_rewards"]])
        with self.assertRaises(ValueError):
            feed.check({**row, "token_rewards": [1.0]})

    def test_areal_gets_no_masked_end_at_which_it_would_drop_the_reward(self):
        row = copy.deepcopy(self.rows[0])
        count = len(row["response_ids"])
        row["response_mask"][-1] = 0
        made = feed.to_areal([row, self.rows[0]], plain)
        self.assertEqual([sum(line) for line in made["attention_mask"]["values"]], [len(row["prompt_ids"]) + count - 1, len(row["prompt_ids"]) + count])
        last = len(row["prompt_ids"]) + count - 2
        self.assertEqual(made["loss_mask"]["values"][0][last:], [1, 0])
        row["response_mask"] = [0] * count
        self.assertEqual(sum(feed.to_areal([row], plain)["attention_mask"]["values"][0]), len(row["prompt_ids"]) + count)

    def test_skyrl_gets_token_rewards_as_long_as_the_response(self):
        made = feed.to_skyrl(self.rows, lambda *place: place)
        for ids, rewards, masks in zip(made["response_ids"], made["rewards"], made["loss_masks"]):
            self.assertEqual(len(ids), len(rewards))
            self.assertEqual(len(ids), len(masks))
        self.assertEqual(len(set(made["trajectory_ids"])), len(self.rows))

    def test_openrlhf_gets_a_range_for_each_answer(self):
        for row in self.rows:
            made = feed.to_openrlhf(row)
            marked = [0] * len(made["observation_tokens"])
            for start, end in made["action_ranges"]:
                marked[start:end] = [1] * (end - start)
            self.assertEqual(marked, feed.on_all_tokens(row, row["response_mask"]))
            self.assertEqual(len(made["action_ranges"]), len(row["turn_rewards"]))

    def test_slime_gets_a_mask_as_long_as_the_response(self):
        for row in self.rows:
            made = feed.to_slime(row)
            self.assertEqual(len(made["loss_mask"]), made["response_length"])
            self.assertEqual(len(made["weight_versions"]), len(row["turn_rewards"]))

    def test_kept_sets_go_to_trl_and_to_slime_which_has_one_behind_the_other(self):
        first = self.rows[0]
        sets = [[one, one + 2] if mask else None for one, mask in zip(first["response_ids"], first["response_mask"])]
        row = {**first, "kept_ids": sets}
        feed.check(row)
        self.assertEqual(feed.to_trl([row, first])["kept_ids"], [sets, None])
        self.assertNotIn("kept_ids", feed.to_trl(self.rows))
        made = feed.to_slime(row)
        ids, offsets = made["rollout_top_p_token_ids"], made["rollout_top_p_token_offsets"]
        self.assertEqual(len(offsets), made["response_length"] + 1)
        found = [ids[start:end] or None for start, end in zip(offsets, offsets[1:])]
        self.assertEqual(found, sets)
        self.assertNotIn("rollout_top_p_token_ids", feed.to_slime(first))

    def test_a_torn_line_and_lists_of_other_lengths_are_refused_with_the_line(self):
        with open(ROWS, encoding="utf-8") as lines:
            first = lines.readline()
        short = {**json.loads(first), "logprobs": []}
        for name, text, said in [("torn", first[:-1], "cut off"), ("short", json.dumps(short) + "\n", "logprobs")]:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "rows.jsonl")
                with open(path, "w", encoding="utf-8") as out:
                    out.write(text)
                with self.assertRaisesRegex(ValueError, f"line 1.*{said}"):
                    list(feed.read_rows(path))


if __name__ == "__main__":
    unittest.main()
