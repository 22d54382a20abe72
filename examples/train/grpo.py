"""GRPO on the shipped model, fed by Everturn: lease groups, take a step, acknowledge, save the checkpoint, publish the version.

    python3 examples/train/problems.py --training 2000 > problems.jsonl
    everturn run problems.jsonl --name first --num-turns 1 --samples 8 --epochs 100 --train --batch-groups 16 --max-staleness 1 --detach
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
from everturn import RECORDED, Feed, FeedError
from everturn.rows import token_advantages
from policy import ROOT, Policy


class Clock:
    """Seconds of each part of a step: clock("lease") ends the part that began when the one before it ended."""

    def __init__(self):
        self.at, self.parts = time.monotonic(), {}

    def __call__(self, part):
        before, self.at = self.at, time.monotonic()
        self.parts[part] = round(self.at - before, 2)


def newest(work):
    """(version, folder) of the newest whole checkpoint; version 0 is the shipped model."""
    found = [int(name[8:]) for name in os.listdir(work) if name.startswith("version-") and name[8:].isdigit()]
    return (max(found), os.path.join(work, f"version-{max(found)}")) if found else (0, os.path.join(ROOT, "models", "tiny"))


def tidy(work, version, keep, every=20):
    """Removes older checkpoints but the last `keep` and each `every`-th, and what a kill left half written."""
    for name in os.listdir(work):
        number = name[8:]
        old = number.isdigit() and int(number) <= version - keep and int(number) % every != 0
        if name.startswith("version-") and (old or ".part-" in name):
            shutil.rmtree(os.path.join(work, name), ignore_errors=True)


def log(work, **line):
    """Appends to <work>/log.jsonl, on disk before it returns; surviving.py reads it."""
    with open(os.path.join(work, "log.jsonl"), "ab+") as f:
        if f.tell() > 0:
            f.seek(-1, os.SEEK_END)
            if f.read() != b"\n":
                f.write(b"\n")  # a kill cut off the line before
        f.write(json.dumps({"time": round(time.time(), 3), **line}).encode() + b"\n")
        f.flush()
        os.fsync(f.fileno())


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
    args.add_argument("--command", default=RECORDED, help="how Everturn is called (default: as it was for the run)")
    args.add_argument("--keep", type=int, default=3, help="newest checkpoints that stay, beside each 20th (default: 3)")
    args.add_argument("--threads", type=int, default=1)
    a = args.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    work = os.path.abspath(a.work or f"train-{os.path.basename(os.path.abspath(a.run))}")
    with Feed(a.run, out=a.out, command=a.command) as feed:
        try:
            feed.status()
            os.makedirs(work, exist_ok=True)
            train(feed, work, a)
        except FeedError as refused:
            # another trainer has rewound, or the lease ended: this step is discarded, the checkpoints stay
            again = f" Start the trainer again: it goes on from version {newest(work)[0]}." if refused.status == 409 else ""
            sys.exit(f"The feed refused: {refused}{again}")


def train(feed, work, a):
    version, folder = newest(work)
    tidy(work, version, a.keep)
    policy = Policy(folder, a.learning_rate, a.train)
    line = feed.rewind(version)["line"]
    if version > 0 or line > 1:
        feed.version(version, folder)  # servers may have later weights, of a line that ended
    log(work, event="started", version=version)
    if version == 0 and a.evaluate_every:
        report(work, policy, 0)
    clock = Clock()
    while version < a.steps and (batch := feed.lease(a.groups, least=a.groups)) is not None:
        clock("lease")
        # rows of weights that a rewind took back have no age; their logprobs are their own, so the ratio holds
        stale = [row["staleness"] for row in batch.rows if row["staleness"] is not None] or [0]
        ended = sum(row.get("surviving") is False for row in batch.rows)
        accuracy = sum(row["success"] for row in batch.rows) / len(batch.rows)
        figures = policy.step(batch.rows, [token_advantages(row) for row in batch.rows])
        clock("step")
        version += 1
        batch.acknowledge(version)
        clock("acknowledge")
        # logged before it is saved: a checkpoint that is there was logged
        notes = {"version": version, "lease": batch.lease, "groups": batch.groups, "line": batch.line}
        log(work, event="trained", **notes, staleness=[min(stale), max(stale)], ended=ended, accuracy=accuracy, **figures, seconds=clock.parts)
        folder = os.path.join(work, f"version-{version}")
        policy.save(folder, notes)
        clock("save")
        feed.version(version, folder)
        clock("publish")
        tidy(work, version, a.keep)
        parts = ", ".join(f"{part} {seconds:.1f}" for part, seconds in clock.parts.items())
        print(f"version {version}: accuracy {accuracy:.3f} of {len(batch.rows)} rows, staleness {min(stale)}..{max(stale)}{f' ({ended} rows of ended weights)' if ended else ''}, "
              f"ratio {figures['ratio']:.3f}; seconds: {parts}", flush=True)
        if a.evaluate_every and version % a.evaluate_every == 0:
            report(work, policy, version)
        clock = Clock()


def report(work, policy, version):
    figures = policy.accuracy()
    log(work, event="evaluated", version=version, **figures)
    print(f"version {version}: held-out accuracy {figures['right']:.4f} +- {figures['standard_error']:.4f}", flush=True)


if __name__ == "__main__":
    main()
