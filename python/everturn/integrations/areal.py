"""AReaL: workflow="everturn.integrations.areal.Workflow", workflow_kwargs={"run": …, "groups": the batch size, "samples": …}, with
group_size 1, max_head_offpolicyness 0 and one rollout process. Weights reach AReaL's servers by AReaL; play the run with them."""
import asyncio

from areal.api.workflow_api import RolloutWorkflow

from ..feed import Feed
from ..rows import to_areal
from . import Dealt


class Workflow(RolloutWorkflow):
    """feed: in place of run. An episode is a whole group, whatever row of AReaL's data it is asked for."""

    def __init__(self, run=None, groups=1, samples=1, feed=None):
        self.feed, self.groups, self.samples, self.dealt = feed or Feed(run), groups, samples, None

    async def arun_episode(self, engine, data):
        return await asyncio.get_running_loop().run_in_executor(None, self.episode, engine.get_version())

    def episode(self, version):
        if self.dealt is None:
            self.dealt = Dealt(self.feed, self.groups, self.samples, version=version)
        return to_areal(self.dealt.group(version))
