"""Both forms of Parquet as their readers see them. `parquet_readers.py <folder>` reads files of two runs with pyarrow, pandas,
DuckDB and `datasets`, compares every value with the JSON lines of the same rows, the turns with the rows of their rollouts,
and prints one JSON object a reader. Exit code 1 if a value differs; a reader that is not installed is said to be skipped."""

import importlib
import importlib.metadata
import json
import math
import os
import struct
import sys
import traceback

FOLDER = sys.argv[1]
FILES = ("rows", "turns", "odd-rows", "odd-turns")
INTS, FLOATS = "list<element: int32 not null>", "list<element: float not null>"
TURNS = {
    **dict.fromkeys(("id", "group", "query", "task", "logprobs_of", "question", "context_text", "answer", "finish"), "string"),
    **dict.fromkeys(("verdict", "reason", "extracted", "outcome", "stop_reason", "model", "server"), "string"),
    **dict.fromkeys(("sample", "attempt", "turn", "turns", "version_start", "version_end", "prompt_tokens"), "int32"),
    **dict.fromkeys(("response_tokens", "truncated", "success", "rollout_success", "group_size"), "int32"),
    **dict.fromkeys(("prompt_ids", "response_ids", "versions"), INTS),
    "logprobs": FLOATS,
    **dict.fromkeys(("reward", "discounted_return", "advantage"), "float"),
    **dict.fromkeys(("temperature", "group_success_rate"), "double"),
    "zero_variance": "bool",
    **dict.fromkeys(("started_at", "finished_at"), "int64"),
}


class Skipped(Exception):
    pass


def need(name):
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Skipped(f"no {name} here ({error})") from None


def path(name):
    return os.path.join(FOLDER, f"{name}.parquet")


def lines(name):
    with open(os.path.join(FOLDER, f"{name}.jsonl"), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def bits(value):
    """A float by its 64 bits, all else by itself and its type."""
    if isinstance(value, list):
        return [bits(one) for one in value]
    return struct.pack("<d", value) if isinstance(value, float) else (type(value).__name__, value)


def compare(name, found, kind=bits):
    """`kind` maps a value to what must be equal, its name and JSON's type known."""
    expected = lines(name)
    assert len(found) == len(expected), f"{name}: {len(found)} rows, not {len(expected)}"
    values = 0
    for ours, theirs in zip(expected, found):
        assert sorted(ours) == sorted(theirs), f"{name}: other columns"
        for field, value in ours.items():
            # JSON writes a float without a fraction as an integer.
            got = theirs[field]
            if isinstance(got, float) and isinstance(value, int) and not isinstance(value, bool):
                value = float(value)
            elif isinstance(got, list) and got and isinstance(got[0], float):
                value = [float(one) for one in value]
            assert kind(got) == kind(value), f"{name}, {ours['id']}, {field}: {got!r}, not {value!r}"
            values += 1
    return values


def rows_hold_the_turns():
    """Independent of Parquet: each turn of `turns` taken out of the row of its rollout."""
    turns = {(row["id"], row["turn"]): row for row in lines("turns")}
    complete = {key for key, row in turns.items() if row["outcome"] == "complete"}
    for row in lines("rows-texts"):
        ends, ids, before = row["turn_ends"], row["turn_ids"], list(row["prompt_ids"])
        for t, end in enumerate(ends):
            began = ends[t - 1] if t else 0
            own = [i for i in range(began, end) if ids[i] == t]
            feedback = [i for i in range(began, end) if ids[i] != t]
            turn = turns[(row["id"], t + 1)]
            prompt = before + [row["response_ids"][i] for i in feedback]
            assert turn["prompt_ids"] == prompt and turn["prompt_tokens"] == len(prompt)
            for name in ("response_ids", "logprobs", "versions"):
                assert turn[name] == [row[name][i] for i in own], (row["id"], t, name)
            before = prompt + turn["response_ids"]
            assert turn["advantage"] == row["turn_advantages"][t]
            assert turn["discounted_return"] == row["turn_returns"][t] and turn["reward"] == row["turn_rewards"][t]
            assert turn["success"] == row["turn_success"][t] and turn["finish"] == row["turn_finish"][t]
            assert turn["rollout_success"] == row["success"] and turn["stop_reason"] == row["stop_reason"]
            for name in ("group", "query", "sample", "attempt", "task", "group_size", "group_success_rate", "logprobs_of"):
                assert turn[name] == row[name], (row["id"], t, name)
            complete.remove((row["id"], t + 1))
    assert not complete, complete
    return "JSON lines", {"turns": len(turns)}


def pyarrow_reads():
    need("pyarrow")
    import pyarrow.parquet as pq

    tables = {name: pq.read_table(path(name)) for name in FILES}
    for name in ("turns", "odd-turns"):
        assert {field.name: str(field.type) for field in tables[name].schema} == TURNS, tables[name].schema
    return "pyarrow", {name: compare(name, table.to_pylist()) for name, table in tables.items()}


def pandas_reads():
    pd, np = need("pandas"), need("numpy")

    def plain(value):
        if isinstance(value, np.ndarray):
            return value.tolist()
        value = value.item() if isinstance(value, np.generic) else value
        return None if value is pd.NA or isinstance(value, float) and math.isnan(value) else value

    def rows(frame):
        return [{name: plain(value) for name, value in row.items()} for row in frame.to_dict("records")]

    said = {}
    for name in FILES:
        said[name] = compare(name, rows(pd.read_parquet(path(name), dtype_backend="pyarrow")))
        # Its own types have no null beside integers: such a column is of floats.
        frame = pd.read_parquet(path(name))
        compare(name, rows(frame), lambda value: bits(float(value)) if isinstance(value, (int, float)) else bits(value))
        kinds = {str(one.dtype) for one in frame["logprobs"] if one is not None}
        assert kinds == {"float32"}, kinds
    return "pandas", said


def duckdb_reads():
    duckdb = need("duckdb")

    def query(text):
        found = duckdb.sql(text)
        return [dict(zip(found.columns, row)) for row in found.fetchall()]

    said = {name: compare(name, query(f"select * from '{path(name)}'")) for name in FILES}
    means = query(f"select turn, avg(success) as mean, count(success) as n from '{path('turns')}' group by turn order by turn")
    known = [(row["turn"], row["success"]) for row in lines("turns") if row["success"] is not None]
    for row in means:
        own = [success for turn, success in known if turn == row["turn"]]
        assert row["n"] == len(own) and abs(row["mean"] - sum(own) / len(own)) < 1e-12, row
    assert sum(row["n"] for row in means) == len(known)
    return "duckdb", {**said, "means": means}


def datasets_reads():
    datasets = need("datasets")
    said = {}
    for name in FILES:
        data = datasets.load_dataset("parquet", data_files=path(name), split="train", cache_dir=os.path.join(FOLDER, "cache"))
        said[name] = compare(name, list(data))
    return "datasets", said


READERS = [rows_hold_the_turns, pyarrow_reads, pandas_reads, duckdb_reads, datasets_reads]

failed = False
for reader in READERS:
    try:
        by, said = reader()
        version = "" if " " in by else f" {importlib.metadata.version(by)}"
        print(json.dumps({"reader": reader.__name__, "ok": True, "by": by + version, **said}), flush=True)
    except Skipped as why:
        print(json.dumps({"reader": reader.__name__, "skipped": str(why)}), flush=True)
    except Exception:
        failed = True
        print(json.dumps({"reader": reader.__name__, "ok": False, "error": traceback.format_exc()[-1500:]}), flush=True)
sys.exit(1 if failed else 0)
