"""verl: +actor_rollout_ref.rollout.agent.agent_loop_manager_class=everturn.integrations.verl.Manager for its v1 trainer, with EVERTURN_RUN
as the run's name or folder. The run's servers load what EVERTURN_WEIGHTS names, or verl loads them itself. Evaluation needs verl's own manager."""
import os

import torch
import transfer_queue
from tensordict import NonTensorData
from verl.utils.tensordict_utils import list_of_dict_to_tensordict

from ..errors import EverturnError
from ..experts import routing
from ..feed import Feed
from ..rows import to_verl
from . import NO_EVALUATION, Steps


class Manager:
    """Puts a group into the TransferQueue for each prompt of verl's, under that prompt's uid."""

    @classmethod
    def create(cls, config, feed=None, **_):
        return cls(config.actor_rollout_ref.rollout.n, feed or Feed(os.environ["EVERTURN_RUN"]))

    def __init__(self, samples, feed):
        self.samples, self.feed, self.steps = samples, feed, None

    def generate_sequences(self, prompts):
        if "validate" in prompts.keys() and prompts["validate"]:
            raise EverturnError(NO_EVALUATION, "no-evaluation", "Set trainer.test_freq to -1, and trainer.val_before_train to False.")
        step, uids = prompts["global_steps"], list(prompts["uid"])
        if self.steps is None:
            self.steps = Steps(self.feed, version=step - 1)
        rows = self.steps.take(len(uids), len(uids) * self.samples)
        keys = [f"{uid}_{sample}_0" for uid in uids for sample in range(self.samples)]
        fields = [{**columns_of(prompts, at // self.samples), **fields_of(row, routing(row, self.feed))} for at, row in enumerate(rows)]
        tags = [tag_of(row, step) for row in rows]
        transfer_queue.kv_batch_put(keys=keys, fields=list_of_dict_to_tensordict(fields), tags=tags, partition_id="train")
        transfer_queue.kv_batch_put(keys=uids, tags=[{"status": "finished"} for _ in uids], partition_id="train")


def columns_of(prompts, at):
    """One prompt of verl's data set."""
    return {name: value.data if isinstance(value, NonTensorData) else value[at].data for name, value in prompts.items()}


def fields_of(row, experts=None):
    """As verl's own agent loops store a trajectory, with r_t at each turn's end; experts have a row for the last token, too."""
    made, ids = to_verl(row), torch.tensor(row["prompt_ids"] + row["response_ids"], dtype=torch.int64)
    mask = torch.tensor(row["response_mask"], dtype=torch.int64)
    routed = {}
    if experts is not None:
        aligned = torch.zeros((len(ids), *experts.shape[1:]), dtype=torch.int16)
        aligned[: len(experts)] = torch.as_tensor(experts.astype("int16"))
        routed = {"routed_experts": aligned}
    return {
        **routed,
        "prompts": ids[: len(row["prompt_ids"])],
        "responses": ids[len(row["prompt_ids"]) :],
        "response_mask": mask,
        "loss_mask": mask,
        "rollout_log_probs": torch.tensor(row["logprobs"], dtype=torch.float32),
        "rm_scores": torch.tensor(made["rm_scores"], dtype=torch.float32),
        "input_ids": ids,
        "position_ids": torch.arange(len(ids)),
        "multi_modal_inputs": {},
        "num_turns": made["output"]["num_turns"],
        "metrics": {},
        "extra_fields": {**made["output"]["extra_fields"], "reward_extra_info": {}},
    }


def tag_of(row, step):
    prompt, response = len(row["prompt_ids"]), len(row["response_ids"])
    return {
        "status": "success",
        "prompt_len": prompt,
        "response_len": response,
        "seq_len": prompt + response,
        "global_steps": step,
        "min_global_steps": row["version_start"],
        "max_global_steps": row["version_end"],
    }
