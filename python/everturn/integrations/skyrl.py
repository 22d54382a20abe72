"""SkyRL: a GeneratorInterface whose trajectories are Everturn's. Evaluate with another generator."""
import asyncio

from skyrl.train.generators.base import GeneratorInterface

from ..errors import EverturnError
from ..rows import to_skyrl
from . import NO_EVALUATION, Steps


class Generator(GeneratorInterface):
    """samples: of a prompt. The others are those of `Steps`."""

    def __init__(self, feed, samples, **steps):
        self.steps, self.samples = Steps(feed, **steps), samples

    async def generate(self, input_batch):
        phase = input_batch.get("batch_metadata")
        if phase is not None and phase.training_phase == "eval":
            raise EverturnError(NO_EVALUATION, "no-evaluation", "Evaluate with SkyRL's own generator.")
        count = len(input_batch["prompts"])
        rows = await asyncio.get_running_loop().run_in_executor(None, self.steps.take, count // self.samples, count)
        made = to_skyrl(rows)
        # the trainer's own ids, by which it forms groups: its prompts, too, come group by group
        if input_batch.get("trajectory_ids") is not None:
            made["trajectory_ids"] = input_batch["trajectory_ids"]
        return made
