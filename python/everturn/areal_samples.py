"""Neutral rows (docs/formats.md) as samples of AReaL's `realhf`: its SequenceSample in JSON form, the bytes of
`everturn export --format areal`. Standard library only."""

DTYPES = {
    "packed_input_ids": "int64",
    "prompt_mask": "bool",
    "packed_logprobs": "float32",
    "seq_no_eos_mask": "bool",
    "packed_prompts": "int64",
    "version_start": "int32",
    "version_end": "int32",
    "rewards": "float32",
    "birth_time": "int64",
    "task_ids": "int64",
}
TASKS = ("math", "code", "rlhf", "stem")
# once for all answers to a query
ONCE = ("packed_prompts", "birth_time", "task_ids")


def samples_of(rows, sequences="rollout"):
    """The rows of whole groups as AReaL's SequenceSample, in its JSON form, as `everturn export --format areal` has them.
    sequences: `rollout`, one id a rollout with its turns; `turn`, one a turn; `query`, one a group of single answers."""
    if sequences == "turn":
        return [_sample(row, f"{_query_id(row)}@{row['sample']}-t{t + 1}", t) for row in rows for t in range(len(row["turn_ends"]))]
    if sequences == "rollout":
        return [_sample(row, row["id"]) for row in rows]
    groups = {}
    for row in rows:
        if len(row["turn_ends"]) != 1:
            raise ValueError(f"{row['id']} has {len(row['turn_ends'])} turns, and a query's sample takes one of each rollout")
        groups.setdefault(row["group"], []).append(_sample(row, row["id"]))
    return [_joined(members) for members in groups.values()]


def _query_id(row):
    return row["id"].rsplit("@", 1)[0] if row["sample"] > 0 else row["id"]


def _sample(row, name, only=None):
    """`only`: this turn alone, 0-based, with its whole context as the prompt."""
    turns = range(len(row["turn_ends"])) if only is None else [only]
    data = {key: [] for key in DTYPES}
    lengths = []
    for t in turns:
        end = row["turn_ends"][t]
        start = end - row["turn_ids"].count(t)
        ids = row["prompt_ids"] + row["response_ids"][:end]
        context = len(ids) - (end - start)
        own = row["versions"][start:end]
        data["packed_input_ids"] += ids
        # of a token that is masked for its kept set alone, the export says nothing
        sets = row.get("kept_ids") or [()] * end
        data["prompt_mask"] += [True] * context + [row["response_mask"][at] == 0 and sets[at] is not None for at in range(start, end)]
        data["packed_logprobs"] += [0] * (context - 1) + row["logprobs"][start:end]
        data["seq_no_eos_mask"].append(row["turn_finish"][t] != "stop")
        # a turn without tokens has none of its own
        data["version_start"].append(own[0] if own else row["version_start"])
        data["version_end"].append(own[-1] if own else row["version_end"])
        data["rewards"].append(row["turn_returns"][t])
        data["packed_prompts"] = data["packed_prompts"] or ids[:context]
        lengths.append(len(ids))
    data["birth_time"] = [row["birth_time"]]
    data["task_ids"] = [TASKS.index(row["task"])] if row["task"] in TASKS else []
    each = {key: [1] * len(turns) for key in DTYPES}
    each.update(packed_input_ids=lengths, prompt_mask=lengths, packed_logprobs=[length - 1 for length in lengths])
    each.update(packed_prompts=[len(data["packed_prompts"])], birth_time=[1], task_ids=[1])
    # AReaL has no index for a task of the user's own
    keys = [key for key in DTYPES if key != "task_ids" or data["task_ids"]]
    return {
        "ids": [name],
        "keys": keys,
        "trailing_shapes": {key: [] for key in keys},
        "dtypes": {key: f"torch.{DTYPES[key]}" for key in keys},
        "seqlens": {key: [each[key]] for key in keys},
        "data": {key: data[key] for key in keys},
        "metadata": {},
    }


def _joined(members):
    """The samples of a group as one, under the id of the first."""
    first = members[0]

    def every(key, of):
        return of(first) if key in ONCE else [one for member in members for one in of(member)]

    data = {key: every(key, lambda member: member["data"][key]) for key in first["keys"]}
    data["birth_time"] = [min(member["data"]["birth_time"][0] for member in members)]
    seqlens = {key: [every(key, lambda member: member["seqlens"][key][0])] for key in first["keys"]}
    return {**first, "seqlens": seqlens, "data": data}
