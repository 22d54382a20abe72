"""Feeds prime-rl's trainer from a run while both live, in place of prime-rl's orchestrator, over its file transport
(PrimeIntellect-ai/prime-rl@559b4477). examples/train/from/prime-rl.md has the settings of both.

    pip install "./python[prime-rl]"
    python3 -m everturn.prime_rl_feed first --to outputs --seq-len 2048 --groups 8

Step N: it leases the groups, writes <to>/rollouts/step_N, waits for <to>/broadcasts/step_N/STABLE, acknowledges them, and has the
run's servers load that folder. It may be killed at any time and started again: a step's folder names the lease that it holds.
A trainer that resumes from its checkpoint reads the steps behind it again, from these files: each group stays trained once."""
import argparse
import fcntl
import json
import os
import shutil
import sys
import time

from . import prime_rl
from .errors import EverturnError
from .exports import positive
from .feed import Feed

# prime-rl has no other consumer beside it, and a step may take hours
LEASE_SECONDS = 7 * 86400
# in a step's folder: prime-rl opens rank_R.bin alone
LEASE = "everturn.json"


class Feeder:
    """groups: of a step, the run's --batch-groups; model: a folder whose configuration and tokenizer go to each version, as
    prime-rl writes weights alone."""

    def __init__(self, feed, folder, seq_len, groups, ranks=1, model=None, poll=0.5, say=print):
        self.feed, self.rollouts, self.broadcasts = feed, os.path.join(folder, "rollouts"), os.path.join(folder, "broadcasts")
        self.seq_len, self.groups, self.ranks, self.model, self.poll, self.say = seq_len, groups, ranks, model, poll, say

    def run(self):
        """-> the last version, when every group of the run is trained or left out."""
        version = self.feed.status()["version"]
        lease = self._lease_of(version + 1)
        if lease:  # of a feeder that was killed; the trainer has its groups
            version = self._trained(lease, version + 1)
        self.feed.rewind(version)
        self._publish(version)
        while (batch := self.feed.lease(self.groups, least=self.groups, seconds=LEASE_SECONDS)) is not None:
            [(step, by_rank)] = prime_rl.steps(batch.rows, self.seq_len, self.ranks, len(batch.groups), version + 1)
            prime_rl.write_step(self._of(self.rollouts, step), by_rank, {LEASE: json.dumps({"lease": batch.lease, "groups": batch.groups}).encode()})
            self.say(f"step {step}: {len(batch.rows)} rows of {len(batch.groups)} groups are written")
            version = self._trained(batch.lease, step)
            self._publish(version)
        return version

    def _trained(self, lease, step):
        self._stable(step)
        self.feed.acknowledge(lease, step)
        return step

    def _publish(self, version):
        self._stable(version)
        folder = self._of(self.broadcasts, version)
        for name in os.listdir(self.model) if self.model else ():
            own = os.path.join(folder, name)
            if name.endswith((".json", ".jinja", ".model", ".txt")) and not name.endswith(".index.json") and not os.path.exists(own):
                shutil.copyfile(os.path.join(self.model, name), own)
        self.feed.version(version, folder)
        self.say(f"version {version} is published")

    def _stable(self, step):
        sign = os.path.join(self._of(self.broadcasts, step), "STABLE")
        if not os.path.exists(sign):
            self.say(f"waiting for {sign}")
        while not os.path.exists(sign):
            time.sleep(self.poll)

    def _lease_of(self, step):
        try:
            with open(os.path.join(self._of(self.rollouts, step), LEASE), encoding="utf-8") as file:
                return json.load(file)["lease"]
        except FileNotFoundError:
            return None

    @staticmethod
    def _of(folder, step):
        return os.path.join(folder, f"step_{step}")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("run", help="a run's name, or its folder: it was started with --train and --batch-groups")
    args.add_argument("--to", required=True, help="the trainer's output_dir")
    args.add_argument("--seq-len", type=positive, required=True, help="the trainer's model.seq_len; longer rows are cut there")
    args.add_argument("--groups", type=positive, required=True, help="of a step: the run's --batch-groups")
    args.add_argument("--ranks", type=positive, default=1, help="data-parallel ranks of the trainer (default: 1)")
    args.add_argument("--model", metavar="FOLDER", help="its configuration and tokenizer go to each version, as SGLang and vLLM load them")
    args.add_argument("--out", default="runs", help="the folder of the runs")
    a = args.parse_args()
    if a.model and not os.path.isfile(os.path.join(a.model, "config.json")):
        args.error(f"--model {a.model} is no folder of a model: it has no config.json")
    os.makedirs(a.to, exist_ok=True)
    with open(os.path.join(a.to, "everturn.lock"), "w", encoding="utf-8") as alone, Feed(a.run, out=a.out, consumer="prime-rl") as feed:
        try:
            fcntl.flock(alone, fcntl.LOCK_EX)  # a second feeder waits for the end of the first
            version = Feeder(feed, a.to, a.seq_len, a.groups, a.ranks, a.model).run()
            print(f"The run is finished: {version} steps were trained.")
        except EverturnError as refused:
            gone = f" {a.to}/rollouts has a step whose lease ended: give each run a folder of its own, and one feeder." if refused.reason == "no-such-lease" else ""
            sys.exit(f"everturn: {refused}{gone}")
        except KeyboardInterrupt:
            sys.exit(130)


if __name__ == "__main__":
    main()
