"""OpenRLHF: --train.agent_func_path <the file of this module>, with EVERTURN_RUN as the run's name or folder, EVERTURN_GROUPS
and EVERTURN_SAMPLES as --rollout.batch_size and --rollout.n_samples_per_prompt, EVERTURN_VERSION as the step to go on from (0), and one
vLLM engine. The run's servers load what EVERTURN_WEIGHTS names, or OpenRLHF loads them itself."""
import asyncio
import os
import threading

from openrlhf.utils.agent import AgentExecutorBase

from everturn import Feed
from everturn.integrations import Dealt
from everturn.rows import to_openrlhf


class AgentExecutor(AgentExecutorBase):
    """OpenRLHF asks for each sample of a prompt by itself: they are the rows of one group."""

    def __init__(self, feed=None):
        self.feed, self.dealt, self.begun, self.lock = feed, None, {}, threading.Lock()

    async def execute(self, prompt, label, sampling_params, max_length, hf_tokenizer, llm_engine, images=None):
        row = await asyncio.get_running_loop().run_in_executor(None, self.row, prompt)
        return {**to_openrlhf(row), "prompt": prompt, "label": label}

    def row(self, prompt):
        with self.lock:
            if self.dealt is None:
                groups, samples = int(os.environ["EVERTURN_GROUPS"]), int(os.environ["EVERTURN_SAMPLES"])
                self.dealt = Dealt(self.feed or Feed(os.environ["EVERTURN_RUN"]), groups, samples, version=int(os.environ.get("EVERTURN_VERSION", 0)))
            if not self.begun.get(prompt):
                self.begun[prompt] = self.dealt.group()
            return self.begun[prompt].pop(0)
