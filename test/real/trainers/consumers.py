"""What consumers' own code makes of Everturn's exports. `consumers.py <folder>` reads the files of one run, and prints one
JSON object a consumer: name, version, what it read. Exit code 1 if a consumer refuses a file; one that is not installed
is said to be skipped. EVERTURN_TRAINERS_SOURCES: a folder with checkouts of what has no package (README.md)."""

import importlib
import importlib.metadata
import json
import os
import struct
import sys
import traceback
import types

FOLDER = sys.argv[1]
SOURCES = os.environ.get("EVERTURN_TRAINERS_SOURCES", "")
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from everturn import exports  # noqa: E402
from everturn import rows as adapters  # noqa: E402


class Skipped(Exception):
    pass


def need(*names):
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise Skipped(f"no {name} here ({error})") from None


def source(name, *more):
    path = os.path.join(SOURCES, name)
    if not SOURCES or not os.path.isdir(path):
        raise Skipped(f"no checkout of {name}")
    sys.path.insert(0, os.path.join(path, *more))
    return path


def version(package):
    return f"{package} {importlib.metadata.version(package)}"


def lines(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def stub(name, **members):
    """An import that the code under test makes and never uses."""
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made
    return made


ROWS = lines("rows.jsonl")
ADVANCED = lines("rows-texts.jsonl")
PARQUET = ("rows", "turns", "odd-rows", "odd-turns")


def written(name, *more):
    """The rows as another trainer's file or folder, which the package writes."""
    to = os.path.join(FOLDER, "prime" if name == "prime-rl" else f"{name}.jsonl")
    exports.main([name, os.path.join(FOLDER, "rows-texts.jsonl"), "--to", to, *more])
    return to


def datasets_reads_text():
    need("datasets")
    from datasets import load_dataset

    said = {}
    for name in ("messages", "dpo", "kto", "labels", "rows"):
        data = load_dataset("json", data_files=os.path.join(FOLDER, f"{name}.jsonl"), split="train")
        assert len(data) == len(lines(f"{name}.jsonl")), name
        said[name] = len(data)
    data = load_dataset("parquet", data_files=os.path.join(FOLDER, "rows.parquet"), split="train")
    return version("datasets"), {**said, "parquet": compare(list(data), "rows")}


def bits(value):
    """Floats by their 64 bits, so that a zero has its sign."""
    return [bits(one) for one in value] if isinstance(value, list) else struct.pack("<d", value) if isinstance(value, float) else value


def compare(rows, name):
    """The values of the JSON lines, which write a float without a fraction as an integer."""
    expected = lines(f"{name}.jsonl")
    assert len(rows) == len(expected), name
    for ours, theirs in zip(expected, rows):
        assert sorted(ours) == sorted(theirs), f"{name}: other columns"
        for field, value in ours.items():
            got = theirs[field]
            if isinstance(got, float) or isinstance(got, list) and got and isinstance(got[0], float):
                value = [float(one) for one in value] if isinstance(value, list) else float(value)
            assert bits(got) == bits(value), f"{name}, {ours['id']}, {field}: {got!r}, not {value!r}"
    return len(rows)


def pyarrow_reads_parquet():
    need("pyarrow")
    import pyarrow.parquet as pq

    return version("pyarrow"), {name: compare(pq.read_table(os.path.join(FOLDER, f"{name}.parquet")).to_pylist(), name) for name in PARQUET}


def duckdb_reads_parquet():
    need("duckdb")
    import duckdb

    said = {}
    for name in PARQUET:
        found = duckdb.sql(f"select * from '{os.path.join(FOLDER, name)}.parquet'")
        said[name] = compare([dict(zip(found.columns, row)) for row in found.fetchall()], name)
    return version("duckdb"), said


def trl_reads_datasets():
    need("trl", "transformers", "torch")
    from trl.data_utils import is_conversational, maybe_extract_prompt, maybe_unpair_preference_dataset  # noqa: F401
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    for name in ("dpo", "kto", "messages"):
        assert is_conversational(lines(f"{name}.jsonl")[0]), name
    collator = DataCollatorForLanguageModeling(pad_token_id=0)
    examples = [{"input_ids": row["input_ids"], "labels": row["labels"]} for row in lines("labels.jsonl")]
    batch = collator(examples)
    trained = [[label for label in row["labels"] if label != -100] for row in examples]
    kept = [[int(label) for label in row if label != -100] for row in batch["labels"]]
    assert kept == trained
    made = adapters.to_trl(ROWS)
    assert len(made["prompt_ids"]) == len(ROWS)
    return version("trl"), {"labels": list(batch["input_ids"].shape), "trained_tokens": sum(map(len, trained))}


def prime_rl_reads_micro_batches():
    need("msgspec")
    path = source("prime-rl", "src/prime_rl/transports/rollouts")
    import msgspec
    import types as _types

    module = _types.ModuleType("prime_rl_types")
    sys.modules["prime_rl_types"] = module
    with open(os.path.join(path, "src/prime_rl/transports/rollouts/types.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "types.py", "exec"), module.__dict__)
    decoder = msgspec.msgpack.Decoder(type=list[module.MicroBatch])
    # what we leave empty is named: a field that prime-rl adds would not be
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/train.md"), encoding="utf-8") as page:
        named = page.read().split("## What is not carried")[1]
    more = [field.name for field in msgspec.structs.fields(module.MicroBatch) if not field.required]
    assert more and all(f"`{name}`" in named for name in more), more
    said = {"batches": 0, "tokens": 0, "trained": 0}
    root = os.path.join(written("prime-rl", "--seq-len", "64", "--ranks", "2", "--groups-per-step", "2"), "rollouts")
    for step in sorted(os.listdir(root)):
        ranks = []
        for rank in sorted(os.listdir(os.path.join(root, step))):
            with open(os.path.join(root, step, rank), "rb") as file:
                ranks.append(decoder.decode(file.read()))
        assert len({len(batches) for batches in ranks}) == 1, "ranks differ"
        for batch in sum(ranks, []):
            length = len(batch.input_ids)
            for name in ("loss_mask", "advantages", "inference_logprobs", "position_ids", "temperatures", "env_names"):
                assert len(getattr(batch, name)) == length, name
            assert sum(batch.sequence_lengths) == sum(batch.seq_lens) == length
            assert all(isinstance(value, float) for value in batch.inference_logprobs + batch.advantages)
            said["batches"] += 1
            said["tokens"] += length
            said["trained"] += sum(batch.loss_mask)
    assert said["trained"] == sum(sum(row["response_mask"]) for row in ROWS)
    return f"prime-rl@559b4477, {version('msgspec')}", said


def verifiers_reads_traces():
    need("verifiers")
    from verifiers.v1 import WireEpisode

    episodes = [WireEpisode.model_validate(line) for line in lines(written("verifiers"))]
    for row, episode in zip(ADVANCED, episodes):
        (trace,) = episode.traces
        (branch,) = trace.branches
        assert branch.token_ids == adapters.input_ids(row), row["id"]
        mask = adapters.on_all_tokens(row, row["response_mask"])
        assert [int(one) for one in branch.sampled_mask] == mask
        assert branch.logprobs == adapters.on_all_tokens(row, row["logprobs"], 0.0)
        assert branch.advantages == adapters.on_all_tokens(row, adapters.token_advantages(row), 0.0)
        assert trace.reward == row["reward"] and trace.num_turns == len(row["turn_rewards"])
        assert not trace.is_truncated or row["finish"] == "length"
        assert episode.run.work.policy.drift == row["version_end"] - row["version_start"]
    return version("verifiers"), {"episodes": len(episodes), "tokens": sum(len(e.traces[0].branches[0].token_ids) for e in episodes)}


def tinker_reads_datums():
    need("tinker")
    datums = [adapters.tinker_datum(line) for line in lines(written("tinker"))]
    for row, datum in zip(ADVANCED, datums):
        made = adapters.to_tinker(row)
        assert datum.model_input == made.model_input and datum.model_input.length == len(adapters.input_ids(row)) - 1
        for name, value in datum.loss_fn_inputs.items():
            assert value.shape == [datum.model_input.length], name
            assert value.tolist() == made.loss_fn_inputs[name].tolist(), row["id"]
            assert str(value.to_numpy().dtype) == ("int64" if name == "target_tokens" else "float32")
    return version("tinker"), {"datums": len(datums)}


def areal_gathers_samples():
    need("torch", "transformers", "pydantic")
    source("areal")
    for name in ("ray", "colorlog", "numba", "etcd3", "omegaconf", "hydra", "hydra.core", "hydra.core.config_store"):
        try:
            importlib.import_module(name)
        except ImportError:
            stub(name)
    from areal_sample import sequence_sample  # beside this file: how the class is loaded without a GPU's packages

    SequenceSample = sequence_sample(os.path.join(SOURCES, "areal"))
    said = {}
    for name in ("areal-rollout", "areal-turn"):
        samples = [SequenceSample.from_json_compatible(line) for line in lines(f"{name}.jsonl")]
        batch = SequenceSample.gather(samples)
        assert batch.bs == len(samples)
        assert [one.as_json_compatible()["data"] for one in samples] == [line["data"] for line in lines(f"{name}.jsonl")]
        said[name] = {"ids": batch.bs, "tokens": int(batch.data["packed_input_ids"].shape[0])}
    # The PPO actor expands task_ids by group_size: here every id has one sequence.
    assert {len(sizes) for sizes in batch.seqlens["packed_input_ids"]} == {1}
    return "AReaL@820ca498", said


CONSUMERS = [
    datasets_reads_text,
    pyarrow_reads_parquet,
    duckdb_reads_parquet,
    trl_reads_datasets,
    prime_rl_reads_micro_batches,
    verifiers_reads_traces,
    tinker_reads_datums,
    areal_gathers_samples,
]

failed = False
for consumer in CONSUMERS:
    try:
        by, said = consumer()
        print(json.dumps({"consumer": consumer.__name__, "ok": True, "by": by, **said}), flush=True)
    except Skipped as why:
        print(json.dumps({"consumer": consumer.__name__, "skipped": str(why)}), flush=True)
    except Exception:
        failed = True
        print(json.dumps({"consumer": consumer.__name__, "ok": False, "error": traceback.format_exc()[-1500:]}), flush=True)
sys.exit(1 if failed else 0)
