"""AReaL: workflow="everturn.integrations.areal.Workflow", workflow_kwargs={"run": …, "groups": the batch size, "samples": …}, with
gconfig.n_samples 1, max_head_offpolicyness 0 and one rollout process. The run's servers load what "weights" (or EVERTURN_WEIGHTS) names, or
AReaL loads them itself. Its controller v2 takes no workflow."""
import asyncio
import threading

from areal.api.workflow_api import RolloutWorkflow

from ..feed import Feed
from ..rows import to_areal
from . import Dealt


class Workflow(RolloutWorkflow):
    """feed: in place of run. An episode is a whole group, whatever row of AReaL's data it is asked for. AReaL may make a
    workflow for each episode: those of one run have its steps in common."""

    dealt, lock = {}, threading.Lock()

    def __init__(self, run=None, groups=1, samples=1, feed=None, weights=None):
        self.run, self.groups, self.samples, self.feed, self.weights = run, groups, samples, feed, weights

    async def arun_episode(self, engine, data):
        return await asyncio.get_running_loop().run_in_executor(None, self.episode, engine.get_version())

    def episode(self, version):
        key = self.feed or self.run
        with self.lock:
            if key not in self.dealt:
                self.dealt[key] = Dealt(self.feed or Feed(self.run), self.groups, self.samples, version=version, weights=self.weights)
        return to_areal(self.dealt[key].group(version))
