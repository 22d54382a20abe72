"""Rows as the files of verifiers, NeMo-Gym, tinker and prime-rl: `python3 -m everturn.exports FORMAT RUN`, or in place of the
run a file of `everturn export RUN --format rows --texts`, for tinker and prime-rl with `--advantages mean` or `std`. Pure
functions of a row, as in rows.py; values are equal to those of the row, and nothing is tokenised again."""
import argparse
import json
import os
import sys

from . import prime_rl
from .errors import EverturnError
from .rows import BadLine, answer_spans, fault_of, input_ids, read_rows, to_tinker
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
        trained = [at for at in range(start, end) if row["response_mask"][at] == 1]
        node(
            {"role": "assistant", "content": row["answers"][turn]},
            row["response_ids"][start:end], True, ended,
            mask=[one == 1 for one in row["response_mask"][start:end]],
            # one for each token of the mask
            logprobs=[row["logprobs"][at] for at in trained],
            advantages=None if advantages is None else [advantages[turn]] * len(trained),
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
    given = parsed(arguments)
    is_file, done = os.path.isfile(given.rows), {"read": 0, "cut": 0}
    try:
        to = os.path.join(given.to, "rollouts") if given.format == "prime-rl" else given.to
        must_not_be_there(to, given)
        found = read_rows(given.rows) if is_file else open_run(given.rows).rows(texts=True, advantages="mean")
        rows = counted(found, given, done)
        if given.format == "prime-rl":
            prime_rl.write_steps(prime_rl.steps(rows, given.seq_len, given.ranks, given.groups_per_step, given.first_step), given.to)
            written = done["read"]
        else:
            written = write_lines(map(LINES[given.format], rows), to)
    except BrokenPipeError:
        # Python would try again at its end, and say so.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(CLOSED_PIPE)
    except BadLine as error:
        ended(1, error)
    except EverturnError as error:
        ended(2 if error.boundary == "usage" else 1, error)
    except OSError as error:
        at = error.filename if error.filename == given.rows else to or "standard output"
        ended(2, f"{at} cannot be {'read' if at == given.rows else 'written'}: {error.strerror or error}.")
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        ended(1, f"{given.rows}, {'line' if is_file else 'row'} {done['read']}: {fault_of(error)}")
    except ImportError as error:
        ended(2, error)
    left = f"; left out: {done['read'] - written} text-prompt" if written < done["read"] else ""
    if written == 0:
        ended(NOTHING, f"Nothing is exported{', and no file is written' if to else ''}: {given.rows} has {'only such' if left else 'no'} rows{left}.")
    cut = f"; {done['cut']} of them cut to {given.seq_len} tokens (--seq-len)" if done["cut"] else ""
    print(f"{plural(written, 'row')} written{f' to {to}' if to else ''}{left}{cut}.", file=sys.stderr)


NOTHING, CLOSED_PIPE = 8, 141


def parsed(arguments):
    parser = argparse.ArgumentParser(prog="python3 -m everturn.exports", description="Rows as another trainer's files.")
    parser.add_argument("format", choices=[*LINES, "prime-rl"])
    parser.add_argument("rows", help="a run's name or folder, or a file of `everturn export RUN --format rows --texts --advantages mean`")
    parser.add_argument("--to", help="a file (default: standard output); prime-rl: the trainer's output folder")
    parser.add_argument("--overwrite", action="store_true", help="replace an existing file once the new one is complete")
    parser.add_argument("--seq-len", type=positive, help="prime-rl: the trainer's seq_len; longer rows are cut there")
    parser.add_argument("--ranks", type=positive, default=1, help="prime-rl: data-parallel ranks")
    parser.add_argument("--groups-per-step", type=positive, default=32, help="prime-rl: groups of one training step")
    parser.add_argument("--first-step", type=int, default=1, help="prime-rl: the number of the first step (default: 1, as its trainer counts)")
    given = parser.parse_args(arguments)
    if given.format == "prime-rl" and not (given.to and given.seq_len):
        parser.error("prime-rl needs --to, the trainer's output folder, and --seq-len, the trainer's seq_len")
    if given.rows.endswith(".jsonl") and not os.path.exists(given.rows):
        ended(2, f"There is no file {given.rows}; a run is given by its name or folder.")
    return given


def positive(text):
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number from 1 on")
    return int(text)


def ended(code, why):
    print(f"everturn: {why}", file=sys.stderr)
    sys.exit(code)


def plural(n, noun):
    return f"{n} {noun}{'' if n == 1 else 's'}"


def must_not_be_there(to, given):
    if to is None or not os.path.lexists(to) or is_device(to):
        return
    if given.format == "prime-rl":
        ended(2, f"{to} exists already. Name another folder with --to, or move that one away: something may be reading it.")
    if os.path.isdir(to):
        ended(2, f"{to} is a folder. Name a file with --to.")
    if os.path.exists(given.rows) and os.path.exists(to) and os.path.samefile(to, given.rows):
        ended(2, f"{to} is the file that is read. Name another file with --to.")
    if not given.overwrite:
        ended(2, f"{to} exists already. Replace it with --overwrite, or name another file with --to.")


def is_device(path):
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)


def counted(rows, given, done):
    for row in rows:
        done["read"] += 1
        done["cut"] += given.format == "prime-rl" and len(input_ids(row)) > given.seq_len
        yield row


def write_lines(values, to=None):
    """A JSON line for each value but None, and how many: a file appears whole, or not at all, as it does without a line."""
    if to is None:
        return write_each(values, sys.stdout.buffer)
    if is_device(to):
        with open(to, "wb") as out:
            return write_each(values, out)
    to = os.path.realpath(to)
    part = f"{to}.{os.getpid()}.part"
    try:
        with open(part, "xb") as out:
            written = write_each(values, out)
        if written > 0:
            os.replace(part, to)
        return written
    finally:
        if os.path.exists(part):
            os.remove(part)


def write_each(values, out):
    written = 0
    for value in values:
        if value is not None:
            out.write(line_of(value))
            written += 1
    out.flush()
    return written


def line_of(value):
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    except UnicodeEncodeError:
        # half of a surrogate pair has no UTF-8, and is escaped
        return json.dumps(value, separators=(",", ":")).encode() + b"\n"


if __name__ == "__main__":
    main()
