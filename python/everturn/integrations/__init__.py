"""Everturn's rollouts as a trainer's own class or function asks for them. Everturn chooses the prompts, so a run's --samples and
--batch-groups are the trainer's samples of a prompt and prompts of a step."""
from ..errors import EverturnError


class Steps:
    """One batch a step of a synchronous trainer: asking for the next one says that the one before was trained.

    version: of the checkpoint that the trainer goes on from; the run is rewound to it. weights(version): the folder that
    the run's servers load, or None if the trainer gives them their weights itself."""

    def __init__(self, feed, version=0, weights=lambda version: None):
        self.feed, self.version, self.weights, self.batch = feed, version, weights, None
        feed.rewind(version)
        feed.version(version, weights(version))

    def take(self, groups, count):
        """-> `count` rows of whole groups, a group's rows together. EverturnError: `finished`, or `other-size`."""
        if self.batch is not None:
            self.batch.acknowledge(self.version + 1)
            self.version += 1
            self.feed.version(self.version, self.weights(self.version))
        self.batch = self.feed.lease(groups, least=groups)
        if self.batch is None:
            raise EverturnError("The run is finished: every group is trained or left out.", "finished")
        rows = self.batch.rows
        if len(rows) != count:
            raise EverturnError(f"The trainer asks for {count} samples, and {groups} groups hold {len(rows)}.", "other-size",
                                "Set --samples and --batch-groups of the run to the trainer's samples of a prompt and prompts of a step.")
        return rows
