"""Rows as the files of verifiers, NeMo-Gym, tinker and prime-rl: `python3 -m everturn.exports FORMAT RUN`, or in place of the
run a file of `everturn export RUN --format rows --texts`, for tinker and prime-rl with `--advantages mean` or `std`. Pure
functions of a row, as in rows.py; values are equal to those of the row, and nothing is tokenised again."""
import argparse
import json
import os
import sys

from . import prime_rl
from .rows import answer_spans, read_rows, to_tinker
from .runs import open_run


def to_verifiers(row):
    """verifiers' trace file: an Episode with one Trace. A node a message, with the tokens that it adds; all of a context's new
    tokens stand on its last message. The reward is the return of turn 1, the turns' own are in `info`; `work.step` is the
    oldest weight version, and a prompt of bare text is a user message."""
    prompt = _prompt(row)
    task = {
        "type": "EverturnTask",
        "data": {"idx": row["index"], "name": row["query"], "prompt": prompt, "solutions": row["solutions"]},
        "key": row["query"],
    }
    nodes, calls, context_end = [], [], 0

    def node(message, ids, sampled, at, **more):
        nodes.append({
            **{"parent": len(nodes) - 1 if nodes else None, "message": message, "sampled": sampled, "timestamp": at},
            **{"token_ids": ids, "mask": [sampled] * len(ids), **more},
        })

    for turn, (start, end) in enumerate(answer_spans(row)):
        began, ended = row["started_at"][turn] / 1000, row["finished_at"][turn] / 1000
        added = prompt if turn == 0 else [_traced(message) for message in row["feedback"][turn - 1]]
        new_ids = row["prompt_ids"] if turn == 0 else row["response_ids"][context_end:start]
        for message in added:
            node(message, new_ids if message is added[-1] else [], False, began)
        advantages = row.get("turn_advantages")
        node(
            {"role": "assistant", "content": row["answers"][turn]},
            row["response_ids"][start:end], True, ended,
            logprobs=row["logprobs"][start:end],
            advantages=None if advantages is None else [advantages[turn]] * (end - start),
        )
        context_end = end
        finish = row["turn_finish"][turn]
        calls.append({
            "node": len(nodes) - 1,
            "model": row["models"][turn],
            "sampling": {"temperature": row["temperature"], "top_p": row["top_p"], "max_tokens": row["max_new_tokens"][turn]},
            "finish_reason": finish if finish in ("stop", "length") else None,
            "usage": {"prompt_tokens": len(row["prompt_ids"]) + start, "completion_tokens": end - start},
            "time": {"start": began, "end": ended},
        })
    birth, ended_at = row["birth_time"] / 1000, row["ended_at"] / 1000
    policy = {"start": row["version_start"], "end": row["version_end"]}
    trace = {
        "version": 1,
        "id": f"{row['run']}/{row['id']}/{row['attempt']}",
        "verifiers": {"version": "everturn"},
        "task": task,
        "agent": {"config": {"model": row["models"][0]}, "name": "agent", "trainable": True},
        "nodes": nodes,
        "calls": calls,
        "rewards": {"return": {"score": row["reward"], "weight": 1}},
        "metrics": {**(row["metrics"] or {}), "success": 1 if row["success"] else 0, "turns": len(row["answers"])},
        "info": {name: row[name] for name in ("turn_rewards", "turn_returns", "turn_success")},
        "is_completed": True,
        "ok": True,
        "stop_condition": row["stop_reason"],
        "timing": {"start": birth, "agent": {"start": birth, "end": ended_at}},
    }
    return {
        "id": f"{row['run']}/{row['id']}",
        "env": {"id": "everturn"},
        "task": task,
        "group": {"id": row["group"]},
        "run": {"type": "train", "id": row["run"], "work": {"type": "train", "step": row["version_start"], "policy": policy}},
        "ok": True,
        "traces": [trace],
    }


def _prompt(row):
    messages = row["messages"]
    return [_traced(message) for message in ([{"role": "user", "content": messages}] if isinstance(messages, str) else messages)]


def _traced(message):
    """verifiers knows system, user, assistant and tool."""
    role = "system" if message["role"] == "developer" else message["role"]
    return {"role": role, "content": message["content"], **({"tool_call_id": ""} if role == "tool" else {})}


def to_nemo_gym(row):
    """NeMo-Gym's verify response: Responses items with the token ids of each answer; the prompt of an answer begins with all
    tokens before it, as NeMo-RL asserts. One reward, the return of turn 1; the turns' own are in `everturn`. None for a prompt
    of bare text, which has no messages."""
    if isinstance(row["messages"], str):
        return None
    output = []
    for turn, (start, end) in enumerate(answer_spans(row)):
        if turn > 0:
            output += [_easy(message) for message in row["feedback"][turn - 1]]
        output.append({
            "id": f"msg_{row['id']}_{turn + 1}",
            "type": "message",
            "role": "assistant",
            "status": "completed" if row["turn_finish"][turn] == "stop" else "incomplete",
            "content": [{"type": "output_text", "text": row["answers"][turn], "annotations": []}],
            "prompt_token_ids": row["prompt_ids"] + row["response_ids"][:start],
            "generation_token_ids": row["response_ids"][start:end],
            "generation_log_probs": row["logprobs"][start:end],
        })
    return {
        "_ng_task_index": row["index"],
        "_ng_rollout_index": row["sample"],
        "responses_create_params": {"input": [_easy(message) for message in row["messages"]]},
        "response": {
            "id": f"resp_{row['id']}",
            "object": "response",
            "created_at": row["birth_time"] // 1000,
            "model": row["models"][0],
            "output": output,
            "parallel_tool_calls": False,
            "tool_choice": "none",
            "tools": [],
        },
        "reward": row["reward"],
        "everturn": {name: row[name] for name in ("id", "group", "turn_rewards", "turn_returns", "version_start", "version_end")},
    }


def _easy(message):
    """Responses have no tool messages of plain text: these become the user's."""
    role = "user" if message["role"] == "tool" else message["role"]
    return {"type": "message", "role": role, "content": message["content"]}


LINES = {"verifiers": to_verifiers, "nemo-gym": to_nemo_gym, "tinker": lambda row: to_tinker(row, dict_only=True)}


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="python3 -m everturn.exports", description="Rows as another trainer's files.")
    parser.add_argument("format", choices=[*LINES, "prime-rl"])
    parser.add_argument("rows", help="a run's name or folder, or a file of `everturn export RUN --format rows --texts --advantages mean`")
    parser.add_argument("--to", help="a file (default: standard output); prime-rl: the trainer's output folder")
    parser.add_argument("--seq-len", type=int, help="prime-rl: the trainer's seq_len")
    parser.add_argument("--ranks", type=int, default=1, help="prime-rl: data-parallel ranks")
    parser.add_argument("--groups-per-step", type=int, default=32, help="prime-rl: groups of one training step")
    parser.add_argument("--first-step", type=int, default=0, help="prime-rl: the number of the first step")
    given = parser.parse_args(arguments)
    rows = read_rows(given.rows) if os.path.isfile(given.rows) else open_run(given.rows).rows(texts=True, advantages="mean")
    try:
        if given.format == "prime-rl":
            if not given.to or not given.seq_len:
                parser.error("prime-rl needs --to, the trainer's output folder, and --seq-len, the trainer's seq_len")
            steps = prime_rl.steps(rows, given.seq_len, given.ranks, given.groups_per_step, given.first_step)
            prime_rl.write_steps(steps, given.to)
        else:
            write_lines(map(LINES[given.format], rows), given.to)
    except (KeyError, ValueError, OSError, ImportError) as error:
        lacks = isinstance(error, KeyError)
        sys.exit(f"The rows have no field {error}: export them with --texts." if lacks else str(error))


def write_lines(values, to=None):
    """A JSON line for each value but None; a file appears whole or not at all."""
    texts = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n" for value in values if value is not None)
    if to is None:
        return sys.stdout.writelines(texts)
    part = f"{to}.{os.getpid()}.part"
    try:
        with open(part, "w", encoding="utf-8") as out:
            out.writelines(texts)
        os.replace(part, to)
    finally:
        if os.path.exists(part):
            os.remove(part)


if __name__ == "__main__":
    main()
