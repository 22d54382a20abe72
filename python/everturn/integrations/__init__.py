"""Everturn's rollouts as a trainer's own class or function asks for them. Everturn chooses the prompts, so a run's --samples and
--batch-groups are the trainer's samples of a prompt and prompts of a step."""
import glob
import os
import threading

from ..errors import EverturnError

NO_EVALUATION = "A run that a trainer lives on evaluates nothing."


def saved(pattern):
    """weights(version) of a trainer that saves each step as a Hugging Face model, before it asks for the next: {version} stands
    for the version, {step} for the one before, as of a trainer that counts from 0, and * for what nobody knows."""

    def weights(version):
        if not pattern or version == 0:
            return None
        found = glob.glob(pattern.replace("{version}", str(version)).replace("{step}", str(version - 1)))
        if len(found) != 1:
            raise EverturnError(f"Version {version} was not saved: {len(found)} folders are {pattern}.", "no-weights",
                                "Let the trainer save every step as a Hugging Face model in this place.")
        return found[0]

    return weights


class Steps:
    """One batch a step of a synchronous trainer: asking for the next one says that the one before was trained.

    version: of the checkpoint that the trainer goes on from; the run is rewound to it. weights(version): the folder that
    the run's servers load, or None if the trainer gives them their weights itself; or `saved` of a pattern (EVERTURN_WEIGHTS)."""

    def __init__(self, feed, version=0, weights=None):
        weights = weights if callable(weights) else saved(weights or os.environ.get("EVERTURN_WEIGHTS"))
        self.feed, self.version, self.weights, self.batch = feed, version, weights, None
        before = feed.status()
        if version == before["version"] + 1 and len(before["leases"]) == 1:
            # a checkpoint that was saved before the next call could say so: the one lease was trained into it
            feed.acknowledge(before["leases"][0]["lease"], version)
        feed.rewind(version)
        feed.version(version, weights(version))

    def take(self, groups, count):
        """-> `count` rows of whole groups, a group's rows together. EverturnError: `finished`, or `other-size`."""
        self.trained()
        self.batch = self.feed.lease(groups, least=groups)
        if self.batch is None:
            raise EverturnError("The run is finished: every group is trained or left out.", "finished")
        rows = self.batch.rows
        if len(rows) != count:
            raise EverturnError(f"The trainer asks for {count} samples, and {groups} groups hold {len(rows)}.", "other-size",
                                "Set --samples and --batch-groups of the run to the trainer's samples of a prompt and prompts of a step.")
        return rows

    def trained(self):
        """The step on what was taken is done; of a trainer's last one nobody else says so."""
        if self.batch is not None:
            self.batch.acknowledge(self.version + 1)
            self.version, self.batch = self.version + 1, None
            self.feed.version(self.version, self.weights(self.version))


class Dealt(Steps):
    """Steps of a trainer that asks prompt by prompt, from several tasks or threads of one process: a group each. It must
    have trained a step before it asks for more groups than one step has."""

    def __init__(self, feed, groups, samples, **steps):
        super().__init__(feed, **steps)
        self.groups, self.samples, self.left, self.lock = groups, samples, [], threading.Lock()

    def group(self, version=None):
        """-> the rows of one group. version: the trainer's own, if it says it. EverturnError: `asked-ahead`."""
        with self.lock:
            if not self.left:
                if version is not None and self.batch is not None and version <= self.version:
                    raise EverturnError(f"The trainer asks for the rollouts of its next step, and is at version {version} still.", "asked-ahead",
                                        "Let it ask for nothing ahead, and give groups as its prompts of a step.")
                rows = self.take(self.groups, self.groups * self.samples)
                self.left = [rows[at : at + self.samples] for at in range(0, len(rows), self.samples)]
            return self.left.pop(0)
