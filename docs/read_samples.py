"""Reads what `everturn export --format areal` writes, and holds every sample to the algorithm's own rules.

Needs Python 3.9 and numpy. As a program it checks a file and sums it up; as a module, `read(path)` gives samples whose
turns are numpy arrays. The first thing that is not as it must be is a `BadSample` that names line, query and key.

    python3 read_samples.py samples.jsonl
    python3 read_samples.py samples.jsonl --discount 0.9 --scaling 1 --bias 0
"""

import argparse
import json
import re
import sys
from dataclasses import dataclass
from typing import Iterator, Optional

import numpy as np

DTYPES = {
    "packed_input_ids": "torch.int64",
    "prompt_mask": "torch.bool",
    "packed_logprobs": "torch.float32",
    "packed_prompts": "torch.int64",
    "seq_no_eos_mask": "torch.bool",
    "rewards": "torch.float32",
    "version_start": "torch.int32",
    "version_end": "torch.int32",
    "birth_time": "torch.int64",
    "task_ids": "torch.int64",
}
OPTIONAL = {"task_ids"}
TASKS = ["math", "code", "rlhf", "stem"]


class BadSample(Exception):
    pass


@dataclass(frozen=True)
class Turn:
    """One turn t: the model was shown `context` and answered `output`."""

    context: np.ndarray  # int64 [len(C_t)]
    output: np.ndarray  # int64 [len(O_t)]
    trained: np.ndarray  # bool [len(O_t)], false where an environment masked a token
    logprobs: np.ndarray  # float32 [len(O_t)], one per output id
    no_eos: bool
    reward: np.float32  # G_t, discounted
    version_start: int
    version_end: int


@dataclass(frozen=True)
class Sample:
    id: str
    task: Optional[str]
    birth_time_ms: int
    prompt: np.ndarray  # int64 [len(P)]
    turns: list  # of Turn


def query_and_sample(id: str) -> tuple:
    """The query's id and the sample's number that an id in an export stands for."""
    row, _, number = id.partition("@")
    # The number is followed by `-t` and the turn's with `--sequences turn`, and by `.` and the branch's of an agent's program.
    return re.sub("%(40|25)", lambda code: "@" if code[1] == "40" else "%", row), int(re.split("-t|[.]", number)[0] or 0)


def must(holds: bool, problem: str) -> None:
    if not holds:
        raise BadSample(problem)


def array(key: str, values: list, dtype: str) -> np.ndarray:
    """The values as numpy; each must be of the JSON type of its dtype and survive the conversion unchanged."""
    kind = getattr(np, dtype.split(".")[1].replace("bool", "bool_"))
    of_type = bool if kind is np.bool_ else (int, float) if kind is np.float32 else int
    for i, value in enumerate(values):
        right = isinstance(value, of_type) and (kind is np.bool_ or not isinstance(value, bool))
        must(right, f"{key}[{i}] is {value!r}, not a {dtype} value")
    try:
        made = np.array(values, dtype=kind)
    except OverflowError:
        raise BadSample(f"{key} holds a number outside {dtype}") from None
    if kind is np.float32:
        wide = np.array(values, dtype=np.float64)
        must(bool(np.isfinite(wide).all()), f"{key} holds what is no number")
        changed = np.flatnonzero(made.astype(np.float64) != wide)
        must(changed.size == 0, f"{key}[{changed[:1]}] is no float32 value: rounding changes it")
    return made


def parse(sample: dict) -> Sample:
    """One SequenceSample in JSON form; raises BadSample where its shape or content cannot be."""
    keys, seqlens, data = sample["keys"], sample["seqlens"], sample["data"]
    must(len(sample["ids"]) == 1 and isinstance(sample["ids"][0], str), "`ids` is not a list of one string")
    must(set(keys) | OPTIONAL == set(DTYPES), f"keys are {sorted(keys)}")
    must(len(keys) == len(set(keys)), "a key is there twice")
    for part in ("dtypes", "seqlens", "trailing_shapes", "data"):
        must(set(sample[part]) == set(keys), f"`{part}` has other keys than `keys`")
    must(sample["metadata"] == {}, "`metadata` is not empty")
    arrays = {}
    for key in keys:
        must(sample["dtypes"][key] == DTYPES[key], f"{key} has dtype {sample['dtypes'][key]}")
        must(sample["trailing_shapes"][key] == [], f"{key} has a trailing shape")
        must(len(seqlens[key]) == 1, f"{key} has seqlens for {len(seqlens[key])} ids")
        arrays[key] = array(key, data[key], DTYPES[key])
        must(sum(seqlens[key][0]) == len(data[key]), f"{key} has {len(data[key])} values, seqlens say {seqlens[key]}")

    lengths = seqlens["packed_input_ids"][0]
    count = len(lengths)
    must(count >= 1, "no turn")
    expected = {
        "prompt_mask": lengths,
        "packed_logprobs": [length - 1 for length in lengths],
        "packed_prompts": [len(data["packed_prompts"])],
        "birth_time": [1],
        "task_ids": [1],
    }
    for key in keys:
        if key == "packed_input_ids":
            continue
        right = expected.get(key, [1] * count)
        must(seqlens[key][0] == right, f"seqlens of {key} are {seqlens[key][0]}, not {right}")
    must(bool((arrays["packed_input_ids"] >= 0).all()), "a token id is below zero")

    turns = list(split(arrays, lengths))
    must(np.array_equal(turns[0].context, arrays["packed_prompts"]), "turn 1's context is not packed_prompts")
    for number, (before, after) in enumerate(zip(turns, turns[1:]), start=2):
        whole = np.concatenate([before.context, before.output])
        must(len(after.context) > len(whole), f"turn {number} was shown nothing new")
        same = np.array_equal(after.context[: len(whole)], whole)
        must(same, f"turn {number}'s context does not begin with turn {number - 1}'s context and answer")

    task = None
    if "task_ids" in arrays:
        must(0 <= arrays["task_ids"][0] < len(TASKS), f"task_ids is {arrays['task_ids'][0]}")
        task = TASKS[arrays["task_ids"][0]]
    return Sample(sample["ids"][0], task, int(arrays["birth_time"][0]), arrays["packed_prompts"], turns)


def split(arrays: dict, lengths: list) -> Iterator[Turn]:
    ids_at, logprobs_at = 0, 0
    for t, length in enumerate(lengths):
        ids = arrays["packed_input_ids"][ids_at : ids_at + length]
        mask = arrays["prompt_mask"][ids_at : ids_at + length]
        logprobs = arrays["packed_logprobs"][logprobs_at : logprobs_at + length - 1]
        ids_at, logprobs_at = ids_at + length, logprobs_at + length - 1
        # An answer may be masked from its first token on: its logprobs are there all the same.
        begins = [int(where[0]) for where in (np.flatnonzero(~mask), np.flatnonzero(logprobs) + 1) if where.size > 0]
        context = len(arrays["packed_prompts"]) if t == 0 else min(begins, default=length)
        must(context >= 1, f"turn {t + 1} has an empty context")
        must(bool(mask[:context].all()), f"turn {t + 1}'s prompt_mask is not true on the context")
        # Entry i belongs to token i + 1: the context's own entries are zeros, the answer's follow.
        must(not logprobs[: context - 1].any(), f"turn {t + 1} has logprobs on its context")
        must(bool((logprobs[context - 1 :] <= 0).all()), f"turn {t + 1} has a logprob above zero")
        yield Turn(
            context=ids[:context],
            output=ids[context:],
            trained=~mask[context:],
            logprobs=logprobs[context - 1 :],
            no_eos=bool(arrays["seq_no_eos_mask"][t]),
            reward=arrays["rewards"][t],
            version_start=int(arrays["version_start"][t]),
            version_end=int(arrays["version_end"][t]),
        )


def success_of(sample: Sample, discount: float, scaling: float, bias: float) -> list:
    """Each turn's verdict, told from the rewards, which those verdicts must give again, bit for bit."""
    returns = [float(turn.reward) for turn in sample.turns]
    rewards = [g - discount * after for g, after in zip(returns, returns[1:] + [0.0])]
    options = {success: ((success - 0.5) * 2 - bias) * scaling for success in (0, 1)}
    success = [min(options, key=lambda s: abs(options[s] - reward)) for reward in rewards]
    total, again = 0.0, []
    for s in reversed(success):
        total = options[s] + discount * total
        again.insert(0, np.float32(total))
    exact = all(a == turn.reward for a, turn in zip(again, sample.turns))
    must(exact, f"rewards {returns} do not follow from any verdicts; nearest are {success}")
    return success


def read(path: str) -> Iterator[Sample]:
    """Every sample of an export, one a line; ids are unique in a file."""
    seen = set()
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            where = f"line {number}"
            try:
                must(line.endswith("\n"), "the line is cut off")
                value = json.loads(line, parse_constant=lambda word: must(False, f"{word} is no JSON"))
                where += f", query {value['ids'][0]!r}"
                sample = parse(value)
                must(sample.id not in seen, "the id was there before")
            except (BadSample, ValueError, KeyError, TypeError, IndexError) as error:
                raise BadSample(f"{path}, {where}: {type(error).__name__}: {error}") from error
            seen.add(sample.id)
            yield sample


def main() -> int:
    arguments = argparse.ArgumentParser(description="Checks an areal export, and sums it up as one JSON object.")
    arguments.add_argument("file")
    arguments.add_argument("--discount", type=float, help="of the run: then rewards are checked and accuracy is told")
    arguments.add_argument("--scaling", type=float, default=1.0)
    arguments.add_argument("--bias", type=float, default=0.0)
    options = arguments.parse_args()
    samples = turns = sampled = context = no_eos = 0
    versions, right, played = set(), {}, {}
    try:
        for sample in read(options.file):
            samples += 1
            for turn in sample.turns:
                turns += 1
                context += len(turn.context)
                sampled += len(turn.output)
                no_eos += turn.no_eos
                versions |= {turn.version_start, turn.version_end}
            if options.discount is not None:
                try:
                    verdicts = success_of(sample, options.discount, options.scaling, options.bias)
                except BadSample as error:
                    raise BadSample(f"{options.file}, query {sample.id!r}: {error}") from error
                for t, success in enumerate(verdicts, start=1):
                    right[t] = right.get(t, 0) + success
                    played[t] = played.get(t, 0) + 1
    except BadSample as error:
        print(error, file=sys.stderr)
        return 1
    summary = {
        "samples": samples,
        "turns": turns,
        "sampled_tokens": sampled,
        "context_tokens": context,
        "turns_without_eos": no_eos,
        "versions": sorted(versions),
    }
    if options.discount is not None:
        summary["accuracy_by_turn"] = [right[t] / played[t] for t in sorted(played)]
    print(json.dumps(summary))
    return 0


if __name__ == "__main__":
    sys.exit(main())
