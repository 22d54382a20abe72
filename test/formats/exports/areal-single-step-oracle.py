"""Makes areal-single-step.json: answers to queries, and the samples that AReaL's own single-step agent makes of them.

Plays random queries through `MathSingleStepAgent.collect_trajectory` of a checkout of AReaL (commit 820ca498b72d), with
a byte tokenizer and scripted answers. Of AReaL only that file runs; its tensors are lists here, and its SequenceSample
holds what it was given, so that no torch is needed.

    python areal-single-step-oracle.py <checkout of AReaL> <queries> <seed> > areal-single-step.json
"""

import asyncio
import importlib.util
import json
import random
import sys
import tempfile
import types
from unittest.mock import MagicMock

CHECKOUT, COUNT, SEED = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
NAMES = {"long": "torch.int64", "int": "torch.int32", "bool": "torch.bool", "float32": "torch.float32"}
END = 256


class Sample:
    def __init__(self, **parts):
        self.__dict__.update(parts)
        self.bs = len(parts["ids"])

    def update_(self, other):
        self.keys = [*self.keys, *other.keys]
        for part in ("dtypes", "trailing_shapes", "seqlens", "data"):
            getattr(self, part).update(getattr(other, part))


def tensor(values, dtype):
    return [bool(v) for v in values] if dtype == NAMES["bool"] else list(values)


torch = types.ModuleType("torch")
torch.tensor = tensor
for name, dtype in NAMES.items():
    setattr(torch, name, dtype)
sys.modules["torch"] = torch
for name in ("agent_api", "data_api", "env_api", "model_api"):
    sys.modules[f"realhf.api.core.{name}"] = MagicMock()
sys.modules.update({"realhf": MagicMock(), "realhf.api": MagicMock(), "realhf.api.core": MagicMock()})
sys.modules["realhf.base"] = MagicMock()
sys.modules["colorama"] = MagicMock()
sys.modules["realhf.api.core.data_api"].SequenceSample = Sample
sys.modules["realhf.api.core.agent_api"].Agent = object
spec = importlib.util.spec_from_file_location("agent", f"{CHECKOUT}/realhf/impl/agent/math_single_step_agent.py")
agent_module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(agent_module)


class ByteTokenizer:
    def batch_decode(self, rows, **_):
        return [bytes(i for i in row if i < END).decode("latin-1") for row in rows]


agent_module.load_hf_tokenizer = lambda _: ByteTokenizer()
agent_module.MathSingleStepAgent.log_rewards_to_file = lambda *_, **__: None


class Prompt(list):
    def cpu(self):
        return self

    def numpy(self):
        return self

    def tolist(self):
        return list(self)


class Env:
    def __init__(self, success):
        self.success = success

    async def reset(self):
        pass

    async def step(self, _):
        return None, self.success, False, False, {}


async def ask(rng, number):
    n = rng.choice([1, 2, 3, 4, 8])
    lower, upper = rng.choice([(0.0, 1.0), (0.1, 0.9), (0.5, 0.5), (0.25, 1.0), (0.0, 0.75)])
    settings = dict(reward_scaling=rng.choice([1.0, 0.5, 5.0]), reward_bias=rng.choice([0.0, 0.25, -0.5]))
    prompt = list(f"What is {rng.randrange(1000)} + {rng.randrange(1000)}?".encode("latin-1"))
    answers = []
    for _ in range(n):
        output = [rng.randrange(0xAE, 0x100) for _ in range(rng.choice([1, 2, 5]))]
        finish = rng.choice(["stop", "stop", "length"])
        output += [END] if finish == "stop" else []
        start = rng.randrange(3)
        answers.append(
            dict(
                outputIds=output,
                logprobs=[-rng.randrange(1, 64) / 16 for _ in output],
                finish=finish,
                versionStart=start,
                versionEnd=start + rng.randrange(2),
                success=int(rng.random() < 0.5),
            )
        )
    seqs = [prompt + a["outputIds"] for a in answers]
    act = types.SimpleNamespace(
        seqs=seqs,
        prompt_ids=prompt,
        prompt_len=len(prompt),
        seqlens=[len(s) for s in seqs],
        logprobs=[[0.0] * (len(prompt) - 1) + a["logprobs"] for a in answers],
        no_eos=[a["finish"] == "length" for a in answers],
        version_start=[a["versionStart"] for a in answers],
        version_end=[a["versionEnd"] for a in answers],
    )
    agent = agent_module.MathSingleStepAgent(
        types.SimpleNamespace(n=n), "", tempfile.gettempdir(), lower, upper, **settings
    )
    asked, given = asyncio.Queue(), asyncio.Queue()
    sample = Sample(ids=[f"q{number}"], keys=["packed_prompts", "task_ids"], data=dict(packed_prompts=Prompt(prompt), task_ids=[0]))
    await given.put(act)
    made = await agent.collect_trajectory(sample, Env([a["success"] for a in answers]), asked, given)
    wire = None
    if made:
        (x,) = made
        parts = ("ids", "keys", "dtypes", "trailing_shapes", "seqlens", "data")
        wire = {part: getattr(x, part) for part in parts}
        wire["trailing_shapes"] = {key: list(shape) for key, shape in wire["trailing_shapes"].items()}
    return dict(
        query=f"q{number}",
        prompt=prompt,
        rates=[lower, upper],
        settings=dict(rewardScaling=settings["reward_scaling"], rewardBias=settings["reward_bias"], numTurns=1),
        answers=answers,
        sample=wire,
    )


def main():
    rng = random.Random(SEED)
    print(json.dumps([asyncio.run(ask(rng, i)) for i in range(COUNT)], separators=(",", ":")))


main()
