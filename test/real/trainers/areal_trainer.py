"""A trainer of AReaL as a pusher sees it: AReaL's own puller, samples and name-resolving files, unmodified, out of a checkout;
the loop around them counts and trains as realhf's master and workers do. Ends after --steps; --die-with n ends it without
a word as soon as n samples of a step are loaded, which its next life has lost.

    areal_trainer.py <checkout> <root of the names> <user>/<experiment>/<trial> --batch 12 --steps 4 --log trained.jsonl"""
import argparse
import getpass
import importlib.util
import json
import os
import queue
import socket
import sys
import types

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from areal_sample import sequence_sample  # noqa: E402

args = argparse.ArgumentParser(description=__doc__)
args.add_argument("checkout")
args.add_argument("root")
args.add_argument("trial")
args.add_argument("--batch", type=int, required=True)
args.add_argument("--steps", type=int, required=True)
args.add_argument("--die-with", type=int, default=0)
args.add_argument("--log", required=True)
a = args.parse_args()
user, experiment, trial = a.trial.split("/")
getpass.getuser = lambda: user

SequenceSample = sequence_sample(a.checkout)
base = sys.modules["realhf.base"]
for name in ("security", "timeutil", "network"):
    made = types.ModuleType(f"realhf.base.{name}")
    made.read_key = lambda *_: None
    made.FrequencyControl = object
    sys.modules[made.__name__] = made
    setattr(base, name, made)
# a decorator and a name: the repository of files never touches it
ray = types.ModuleType("ray")
ray.remote = lambda thing: thing
sys.modules["ray"] = ray


def own(name, path):
    spec = importlib.util.spec_from_file_location(name, os.path.join(a.checkout, path))
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    setattr(base, name.rsplit(".", 1)[1], module)
    spec.loader.exec_module(module)
    return module


names = own("realhf.base.names", "realhf/base/names.py")
name_resolve = own("realhf.base.name_resolve", "realhf/base/name_resolve.py")
stream = own("realhf.system.push_pull_stream", "realhf/system/push_pull_stream.py")
resolver = name_resolve.NfsNameRecordRepository(a.root)


def put(name, value):
    resolver.add(name, str(value), replace=True, delete_on_exit=False)


with open(a.log, "a+", encoding="utf-8") as log:
    log.seek(0)
    steps = sum(1 for _ in log)
    # as the master does when it recovers
    put(names.training_samples(experiment, trial), a.batch * steps)
    if steps:
        put(names.model_version(experiment, trial, "actor"), steps)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    resolver.clear_subtree(names.stream_pullers(experiment, trial))
    resolver.add(os.path.join(names.stream_pullers(experiment, trial), os.urandom(4).hex()), "0", delete_on_exit=False)
    buffer, loaded = [], a.batch * steps
    with stream.ZMQJsonPuller("127.0.0.1", port) as puller:
        put(names.push_pull_stream(experiment, trial, "puller0"), f"127.0.0.1:{port}")
        while steps < a.steps:
            if len(buffer) < a.batch:
                try:
                    found = [SequenceSample.from_json_compatible(x) for x in puller.pull(timeout_ms=200)]
                except queue.Empty:
                    continue
                known = {sample.ids[0] for sample in buffer}
                for sample in found:
                    if sample.ids[0] not in known:
                        buffer.append(sample)
                        loaded += 1
                put(names.training_samples(experiment, trial), loaded)
                if a.die_with and loaded - a.batch * steps >= a.die_with:
                    os._exit(9)
                continue
            batch = SequenceSample.gather(buffer[: a.batch])
            buffer = buffer[a.batch :]
            steps += 1
            log.write(json.dumps({"step": steps, "ids": batch.ids, "tokens": int(batch.data["packed_input_ids"].shape[0])}) + "\n")
            log.flush()
            put(names.model_version(experiment, trial, "actor"), steps)
