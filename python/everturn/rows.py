"""Adapters from Everturn's rows to what trainers take: pure functions of the neutral rows of a lease (feed.py), or
of `everturn export <run> --format rows` (`read_rows`). A framework is imported inside the function that is
asked for its objects.

Nothing is tokenised again, and no field of a row is changed. A trainer that sums or discounts over tokens itself gets r_t on
the last token of each answer (`token_rewards`); one that takes a single number gets the return of turn 1, which is the
discounted sum of all r_t; one that takes finished advantages needs rows that have them: those of the feed, and those of an
export with `--advantages mean` or `std`."""
import json


class BadLine(ValueError):
    """Names file, line, field, and what would be right."""


def read_rows(path):
    """Every row of an export, one a line; a line that is torn or not a row is a BadLine."""
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                if not line.endswith(b"\n"):
                    raise ValueError("the line is cut off: export again")
                row = json.loads(line.decode("utf-8"))
                check(row)
            except (ValueError, KeyError, TypeError, AttributeError) as error:
                raise BadLine(f"{path}, line {number}: {fault_of(error)}") from error
            yield row


def fault_of(error):
    """What is wrong with a row in words, and what would be right."""
    writes = "`everturn export RUN --format rows --texts --advantages mean` writes"
    if isinstance(error, KeyError):
        return f"the row has no field {error}: {writes} it"
    if isinstance(error, json.JSONDecodeError):
        return f"the line is no JSON ({error.msg}, column {error.colno}): {writes} a row a line"
    if isinstance(error, UnicodeDecodeError):
        return f"the line is not in UTF-8: {writes} it so"
    if isinstance(error, (TypeError, AttributeError, IndexError)):
        return f"the line is no row, or a field of it has another form ({error}): {writes} rows"
    return str(error)


ALIGNED = ("response_ids", "response_mask", "logprobs", "versions", "turn_ids")
# where they are there
MORE = ("mask_stale", "kept_ids", "token_rewards")


def check(row):
    """Raises ValueError where a row's lists do not belong together."""
    length = len(row["response_ids"])
    for name in ALIGNED + tuple(name for name in MORE if name in row):
        if len(row[name]) != length:
            raise ValueError(f"{row['id']}: {name} has {len(row[name])} entries for {length} tokens")
    turns = len(row["turn_rewards"])
    for name in ("turn_ends", "turn_returns", "turn_success", "turn_finish"):
        if len(row[name]) != turns:
            raise ValueError(f"{row['id']}: {name} has {len(row[name])} entries for {turns} turns")
    for at, (mask, turn) in enumerate(zip(row["response_mask"], row["turn_ids"])):
        if mask == 1 and turn < 0:
            raise ValueError(f"{row['id']}: token {at} has mask {mask} and turn {turn}")


def input_ids(row):
    return row["prompt_ids"] + row["response_ids"]


def on_all_tokens(row, values, fill=0):
    """A list over the response as one over all tokens."""
    return [fill] * len(row["prompt_ids"]) + list(values)


def token_rewards(row):
    """The row's own, where an environment may place rewards; else r_t on the last token of turn t's answer, 0.0 elsewhere. An
    answer without a token gives its reward to the token before its place, or to the first: the sum is always that of the turns."""
    rewards = [0.0] * len(row["response_ids"])
    if not rewards:
        raise ValueError(f"{row['id']} has no response token to carry a reward")
    if "token_rewards" in row:
        return list(row["token_rewards"])
    for end, reward in zip(row["turn_ends"], row["turn_rewards"]):
        rewards[max(end - 1, 0)] += reward
    return rewards


def token_advantages(row):
    """The turn's advantage on every token of its answer, 0.0 elsewhere."""
    advantages = row.get("turn_advantages")
    if advantages is None:
        raise ValueError(f"{row['id']} has no advantages: export with --advantages mean or std")
    return [advantages[turn] if turn >= 0 else 0.0 for turn in row["turn_ids"]]


def answer_spans(row):
    """[start, end) of each turn's answer in `response_ids`."""
    spans = []
    for turn, end in enumerate(row["turn_ends"]):
        spans.append((end - row["turn_ids"].count(turn), end))
    return spans


def action_ranges(row):
    """[start, end) of each run of sampled tokens in `input_ids`."""
    ranges, prompt = [], len(row["prompt_ids"])
    for at, mask in enumerate(row["response_mask"]):
        if not mask:
            continue
        if ranges and ranges[-1][1] == prompt + at and row["turn_ids"][at] == row["turn_ids"][at - 1]:
            ranges[-1] = (ranges[-1][0], prompt + at + 1)
        else:
            ranges.append((prompt + at, prompt + at + 1))
    return ranges


def to_trl(rows):
    """What a `rollout_func` of TRL's GRPOTrainer returns: one entry per row, in order. `reward` reaches the reward
    functions as a keyword list; `env_mask` becomes the loss mask. `kept_ids`, where rows have them, are for `kept_logprobs`."""
    kept = {"kept_ids": [row.get("kept_ids") for row in rows]} if any("kept_ids" in row for row in rows) else {}
    return {
        "prompt_ids": [row["prompt_ids"] for row in rows],
        "completion_ids": [row["response_ids"] for row in rows],
        "logprobs": [row["logprobs"] for row in rows],
        "env_mask": [row["response_mask"] for row in rows],
        "reward": [row["reward"] for row in rows],
        "row_id": [row["id"] for row in rows],
        **kept,
    }


def to_verl(row, experts=None):
    """The fields of verl's AgentLoopOutput, and the tensors beside it; experts: what `routing` gives for the row. `AgentLoopOutput(**to_verl(row)["output"])` has
    one score for the rollout; `rm_scores` has r_t at each turn's end, for a trainer that sums over tokens."""
    fields = {"min_global_steps": row["version_start"], "max_global_steps": row["version_end"]}
    return {
        "output": {
            "prompt_ids": row["prompt_ids"],
            "response_ids": row["response_ids"],
            "response_mask": row["response_mask"],
            "response_logprobs": row["logprobs"],
            "reward_score": row["reward"],
            "num_turns": 2 * len(row["turn_rewards"]),
            "metrics": {},
            **({} if experts is None else {"routed_experts": experts}),
            "extra_fields": {**fields, "turn_scores": row["turn_rewards"]},
        },
        "rm_scores": token_rewards(row),
        "uid": verl_uid(row["group"]),
    }


def verl_uid(group):
    """verl finds a group by cutting its key at the first `_`, so a group's id is hashed."""
    import hashlib

    return hashlib.sha256(group.encode("utf-8")).hexdigest()[:32]


def without_masked_end(row):
    """Up to its last trained token, if it has one."""
    end = max((at + 1 for at, mask in enumerate(row["response_mask"]) if mask == 1), default=len(row["response_mask"]))
    return {**row, **{name: row[name][:end] for name in ALIGNED}}


def to_areal(rows, tensor=None):
    """AReaL's RolloutWorkflow result for one group: tensors [B, L], padded on the right. `tensor(values, dtype_name)`
    makes one; without it torch is imported. AReaL puts the reward on the last token, and drops it if that is masked: masked tokens
    at a row's end, which nothing is trained behind, are left out."""
    if tensor is None:
        import torch

        def tensor(values, dtype):
            return torch.tensor(values, dtype=getattr(torch, dtype))

    rows = [without_masked_end(row) for row in rows]
    length = max(len(input_ids(row)) for row in rows)

    def padded(values, fill):
        return [list(value) + [fill] * (length - len(value)) for value in values]

    def over(name, fill):
        return padded([on_all_tokens(row, row[name], fill) for row in rows], fill)

    whole = [input_ids(row) for row in rows]
    return {
        "input_ids": tensor(padded(whole, 0), "int32"),
        "attention_mask": tensor(padded([[True] * len(ids) for ids in whole], False), "bool"),
        "loss_mask": tensor(over("response_mask", 0), "int32"),
        "logprobs": tensor(over("logprobs", 0.0), "float32"),
        "versions": tensor(over("versions", -1), "int32"),
        "turn_ids": tensor(over("turn_ids", -1), "int32"),
        "rewards": tensor([row["reward"] for row in rows], "float32"),
    }


def to_skyrl(rows, trajectory_id=None):
    """SkyRL's GeneratorOutput: token-level rewards, r_t at each turn's end. `trajectory_id(instance, repetition)` makes
    SkyRL's TrajectoryID; without it there are none."""
    made = {
        "prompt_token_ids": [row["prompt_ids"] for row in rows],
        "response_ids": [row["response_ids"] for row in rows],
        "rewards": [token_rewards(row) for row in rows],
        "loss_masks": [row["response_mask"] for row in rows],
        "stop_reasons": [row["finish"] for row in rows],
        "rollout_logprobs": [row["logprobs"] for row in rows],
        "rollout_metrics": None,
    }
    if trajectory_id is not None:
        made["trajectory_ids"] = [trajectory_id(row["group"], row["sample"]) for row in rows]
    return made


SLIME_STATUS = {"stop": "completed", "length": "truncated", "abort": "aborted"}


def to_slime(row, group_index=0, index=0, experts=None):
    """The dict that slime's and miles' `Sample.from_dict` takes; lists of groups of these are a rollout function's
    `samples`. experts: what `routing` gives for the row."""
    return {
        **slime_sets(row),
        **({} if experts is None else {"rollout_routed_experts": experts}),
        "group_index": group_index,
        "index": index,
        "tokens": input_ids(row),
        "response_length": len(row["response_ids"]),
        "loss_mask": row["response_mask"],
        "rollout_log_probs": row["logprobs"],
        "reward": row["reward"],
        "status": SLIME_STATUS[row["finish"]],
        "weight_versions": [str(version) for version in turn_versions(row)],
        "metadata": {"id": row["id"], "group": row["group"], "turn_rewards": row["turn_rewards"]},
    }


def slime_sets(row):
    """The kept sets as slime replays them, one behind the other; none for a token that is not trained."""
    if "kept_ids" not in row:
        return {}
    sets, offsets = [kept or [] for kept in row["kept_ids"]], [0]
    for kept in sets:
        offsets.append(offsets[-1] + len(kept))
    return {"rollout_top_p_token_ids": [one for kept in sets for one in kept], "rollout_top_p_token_offsets": offsets}


def turn_versions(row):
    """The newest weight version of each turn that has a token."""
    newest = {}
    for turn, version in zip(row["turn_ids"], row["versions"]):
        if turn >= 0:
            newest[turn] = max(version, newest.get(turn, version))
    return [newest[turn] for turn in sorted(newest)]


def to_openrlhf(row):
    """What an OpenRLHF AgentExecutor's `execute` returns for one sample."""
    return {
        "observation_tokens": input_ids(row),
        "action_ranges": action_ranges(row),
        "rollout_log_probs": on_all_tokens(row, row["logprobs"], 0.0),
        "reward": row["reward"],
        "scores": 1.0 if row["success"] else 0.0,
        "extra_logs": {"turns": len(row["turn_rewards"])},
        "truncated": row["finish"] == "length",
    }


def to_tinker(row, dict_only=False):
    """tinker's Datum: the input without the last token, and targets, logprobs, advantages and mask of its length."""
    ids = input_ids(row)
    shifted = {
        "target_tokens": ("int64", ids[1:]),
        "logprobs": ("float32", on_all_tokens(row, row["logprobs"], 0.0)[1:]),
        "advantages": ("float32", on_all_tokens(row, token_advantages(row), 0.0)[1:]),
        "mask": ("float32", on_all_tokens(row, [float(one) for one in row["response_mask"]], 0.0)[1:]),
    }
    datum = {
        "model_input": {"chunks": [{"type": "encoded_text", "tokens": ids[:-1]}]},
        "loss_fn_inputs": {
            name: {"data": data, "dtype": dtype, "shape": [len(data)]} for name, (dtype, data) in shifted.items()
        },
    }
    return datum if dict_only else tinker_datum(datum)


def tinker_datum(datum):
    """The object of a Datum's JSON, as `python3 -m everturn.exports tinker` writes it too."""
    from tinker.types import Datum, ModelInput, TensorData

    inputs = {name: TensorData(**value) for name, value in datum["loss_fn_inputs"].items()}
    return Datum(model_input=ModelInput.model_validate(datum["model_input"]), loss_fn_inputs=inputs)
