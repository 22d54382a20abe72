"""Makes areal-samples.json: trajectories, and the samples that AReaL's own agent makes of them.

Plays random rollouts through `MathMultiTurnAgent.collect_trajectory` of a checkout of AReaL (commit
820ca498b72d or a later one that still has `realhf/`), with a byte tokenizer and scripted answers, and
writes each as Everturn's trajectory beside AReaL's `as_json_compatible()`, after a trip through its reader.

    python areal-oracle.py <checkout of AReaL> <rollouts> <seed> > areal-samples.json

Needs torch, transformers, pydantic and numpy; everything else that AReaL imports is stubbed.
"""

import asyncio
import importlib.abc
import importlib.machinery
import json
import math
import random
import sys
import tempfile
import types
from unittest.mock import MagicMock

import torch.distributed
import torch.utils.data
import transformers
from pydantic import dataclasses as _  # noqa: F401  the real ones, before the stubs

CHECKOUT, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
REAL = {"realhf", "torch", "numpy", "pydantic", "transformers"} | set(sys.stdlib_module_names)


class Stubs(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name.split(".")[0] in REAL:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = MagicMock(name=spec.name)
        module.__path__ = []
        module.__spec__ = spec
        return module

    def exec_module(self, module):
        pass


transformers.PreTrainedTokenizerFast  # loads it
sys.path.insert(0, CHECKOUT)
sys.meta_path.append(Stubs())
colorama = types.ModuleType("colorama")
colorama.Fore = types.SimpleNamespace(YELLOW="\x1b[33m")
colorama.Style = types.SimpleNamespace(DIM="\x1b[2m", RESET_ALL="\x1b[0m")
sys.modules["colorama"] = colorama

from realhf.api.core.data_api import RL_TASKS, SequenceSample  # noqa: E402
from realhf.api.core.model_api import APIGenerateOutput, BundledGenerationOutputs  # noqa: E402
import realhf.impl.agent.math_multi_turn_agent as agent_module  # noqa: E402

END = 256


class ByteTokenizer:
    """One id per byte, and 256 for the end."""

    def batch_decode(self, rows, **_):
        return [bytes(i for i in row if i < END).decode("latin-1") for row in rows]

    def apply_chat_template(self, messages, add_generation_prompt, tokenize):
        assert add_generation_prompt and not tokenize
        return "".join(f"<{m['role']}>{m['content']}</{m['role']}>" for m in messages) + "<assistant>"

    def __call__(self, text):
        return {"input_ids": list(text.encode("latin-1"))}


class Config:
    n = 1

    def new(self, **_):
        return self


class Env:
    def __init__(self, success):
        self.success = iter(success)

    async def reset(self):
        pass

    async def step(self, _):
        return None, [next(self.success)], False, False, {}


agent_module.load_hf_tokenizer = lambda _: ByteTokenizer()


def log_probability(rng):
    return rng.choice([-rng.expovariate(1), -rng.random() * 1e-9, 0.0, -17.25, -1e-40, -rng.expovariate(0.01)])


async def roll(rng, number):
    turns = rng.choice([1, 1, 2, 3, 5])
    settings = dict(
        reward_scaling=rng.choice([1.0, 0.5, 5.0, 1 / 3]),
        reward_bias=rng.choice([0.0, 0.1, -0.25]),
        turn_level_discount=rng.choice([1.0, 0.9, 0.0, 1 / 3]),
    )
    task = rng.choice(["math", "stem", "code"])
    query = f"q{number}"
    text = f"What is {rng.randrange(1000)} + {rng.randrange(1000)}?"
    prompt = list(text.encode("latin-1"))
    success = [rng.random() < 0.4 for _ in range(turns)]
    with tempfile.TemporaryDirectory() as logs:
        agent = agent_module.MathMultiTurnAgent(Config(), "", logs, num_turns=turns, **settings)
        asked, answers = asyncio.Queue(), asyncio.Queue()
        sample = SequenceSample(
            keys=["packed_prompts", "task_ids"],
            ids=[query],
            dtypes=dict(packed_prompts=torch.long, task_ids=torch.long),
            trailing_shapes=dict(packed_prompts=(), task_ids=()),
            seqlens=dict(packed_prompts=[[len(prompt)]], task_ids=[[1]]),
            data=dict(
                packed_prompts=torch.tensor(prompt, dtype=torch.long),
                task_ids=torch.tensor([RL_TASKS.index(task)], dtype=torch.long),
            ),
        )
        playing = asyncio.create_task(agent.collect_trajectory(sample, Env(success), asked, answers))
        records = []
        before = []
        version = rng.randrange(3)
        for turn in range(1, turns + 1):
            qid, context, _ = await asked.get()
            context = list(context)
            end = version + rng.randrange(2)
            # No letter of a prompt: AReaL finds the answer by splitting at the prompt's text.
            output = [rng.randrange(0xAE, 0x100) for _ in range(rng.choice([1, 2, 5, 9]))]
            finish = rng.choice(["stop", "stop", "length"])
            if finish == "stop":
                output.append(END)
            logprobs = [log_probability(rng) for _ in output]
            reply = APIGenerateOutput(
                qid=qid,
                prompt_ids=context,
                input_ids=context,
                gconfig=Config(),
                version_start=version,
                output_ids=[output],
                output_logprobs=[logprobs],
                version_end=[end],
                no_eos=[finish == "length"],
            )
            records.append(
                dict(
                    turn=turn,
                    contextIds=context[len(before) :],
                    outputIds=output,
                    logprobs=logprobs,
                    finish=finish,
                    versionStart=version,
                    versionEnd=end,
                    contextLength=len(context),
                )
            )
            before = context + output
            version = end
            await answers.put(BundledGenerationOutputs.from_api_outputs([reply]))
        (made,) = await playing
        # With one turn, the original's readable log is right.
        log = open(f"{logs}/{records[0]['versionStart']}/{query}.txt").read() if turns == 1 else None
    wire = json.loads(json.dumps(made.as_json_compatible()))
    again = SequenceSample.from_json_compatible(json.loads(json.dumps(wire))).as_json_compatible()
    again = json.loads(json.dumps(again))
    for each in (wire, again):
        each["keys"] = sorted(each["keys"])
    assert wire == again
    # The original's own formula, in Python's doubles: what an end record holds.
    undiscounted = [((float(s) - 0.5) * 2 - settings["reward_bias"]) * settings["reward_scaling"] for s in success]
    rewards = list(undiscounted)
    for i in reversed(range(turns - 1)):
        rewards[i] = rewards[i] + rewards[i + 1] * settings["turn_level_discount"]
    assert all(math.isfinite(x) for x in rewards)
    return dict(
        query=query,
        task=task,
        birthTime=wire["data"]["birth_time"][0],
        settings=dict(
            rewardScaling=settings["reward_scaling"],
            rewardBias=settings["reward_bias"],
            turnDiscount=settings["turn_level_discount"],
            numTurns=turns,
        ),
        success=[int(s) for s in success],
        turns=records,
        log=log,
        sample=wire,
    )


def main():
    rng = random.Random(SEED)
    print(json.dumps([asyncio.run(roll(rng, i)) for i in range(COUNT)], separators=(",", ":")))


main()
