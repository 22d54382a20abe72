"""GRPO on the shipped model, fed by Everturn: lease groups, take a step, write weights, tell the version, acknowledge.

    python3 models/training/problems.py --training 2000 > problems.jsonl
    everturn run problems.jsonl --name first --turns 1 --samples 8 --epochs 100 --train --batch-groups 16 --max-staleness 1 --detach
    python3 examples/train/grpo.py --run first --steps 100

Kill it at any time and start it again: it goes on from its newest checkpoint, and each group is trained exactly once
along the line of weights that survives. `<work>/log.jsonl` is the trainer's own record of what it trained."""
import argparse
import json
import os
import shutil
import sys
import time

import torch

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from everturn_feed import Feed  # noqa: E402
from policy import ROOT, Policy  # noqa: E402


def newest(work):
    """(version, folder) of the newest whole checkpoint; version 0 is the shipped model."""
    found = [int(name[8:]) for name in os.listdir(work) if name.startswith("version-") and name[8:].isdigit()]
    return (max(found), os.path.join(work, f"version-{max(found)}")) if found else (0, os.path.join(ROOT, "models", "tiny"))


def tidy(work, version, keep=3, every=20):
    """Removes older checkpoints but the last `keep` and each `every`-th, and what a kill left half written."""
    for name in os.listdir(work):
        number = name[8:]
        old = number.isdigit() and int(number) <= version - keep and int(number) % every != 0
        if name.startswith("version-") and (old or ".part-" in name):
            shutil.rmtree(os.path.join(work, name), ignore_errors=True)


def log(work, **line):
    with open(os.path.join(work, "log.jsonl"), "a") as f:
        f.write(json.dumps({"time": round(time.time(), 3), **line}) + "\n")
        f.flush()
        os.fsync(f.fileno())


def token_advantages(row):
    """One float per response token: the advantage of its turn against the same turn in the group's other members."""
    return [0.0 if turn < 0 else row["turn_advantages"][turn] for turn in row["turn_ids"]]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--run", required=True, help="name of a run that was started with --train")
    args.add_argument("--out", default="runs", help="folder of the runs (default: runs)")
    args.add_argument("--work", help="folder of checkpoints and log (default: train-<run>)")
    args.add_argument("--steps", type=int, default=100)
    args.add_argument("--groups", type=int, default=16, help="groups of a step; the run's --batch-groups")
    args.add_argument("--learning-rate", type=float, default=5e-3)
    args.add_argument("--train", choices=("norms", "all"), default="norms")
    args.add_argument("--evaluate-every", type=int, default=20, help="0: never")
    args.add_argument("--command", default="npx everturn", help="how Everturn is called")
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    work = os.path.abspath(a.work or f"train-{os.path.basename(os.path.abspath(a.run))}")
    os.makedirs(work, exist_ok=True)
    version, folder = newest(work)
    tidy(work, version)
    policy = Policy(folder, a.learning_rate, a.train)
    with Feed(a.run, out=a.out, command=a.command.split()) as feed:
        feed.rewind(version)
        if version > 0 or feed.status()["line"] > 0:
            feed.version(version, folder)  # servers may have later weights, of a line that ended
        log(work, event="started", version=version)
        if version == 0 and a.evaluate_every:
            report(work, policy, 0)
        while version < a.steps and (batch := feed.lease(a.groups, least=a.groups)) is not None:
            started = time.time()
            stale = [version - row["version_start"] for row in batch.rows]
            figures = policy.step(batch.rows, [token_advantages(row) for row in batch.rows])
            version += 1
            batch.acknowledge(version)
            notes = {"version": version, "lease": batch.lease, "groups": batch.groups, "line": batch.line}
            log(work, event="trained", **notes, staleness=[min(stale), max(stale)],
                accuracy=sum(row["success"] for row in batch.rows) / len(batch.rows), **figures)
            folder = os.path.join(work, f"version-{version}")
            policy.save(folder, notes)
            feed.version(version, folder)
            tidy(work, version)
            print(f"version {version}: {len(batch.rows)} rows, accuracy {sum(r['success'] for r in batch.rows) / len(batch.rows):.3f}, "
                  f"staleness {min(stale)}..{max(stale)}, ratio {figures['ratio']:.3f}, step {time.time() - started:.1f} s", flush=True)
            if a.evaluate_every and version % a.evaluate_every == 0:
                report(work, policy, version)


def report(work, policy, version):
    figures = policy.accuracy()
    log(work, event="evaluated", version=version, **figures)
    print(f"version {version}: held-out accuracy {figures['right']:.4f} +- {figures['standard_error']:.4f}", flush=True)


if __name__ == "__main__":
    main()
