"""TRL's own GRPOTrainer on rollouts of Everturn, through `rollout_func`: python3 examples/train/trl_grpo.py --run first

Needs trl 1.16, transformers 5 and torch (CPU is enough). Everturn chooses the prompts: the trainer's data set only
says how many groups a step has. The ratio of each token is to the logprob that sampled it, at whatever version. Feedback between turns is masked, the reward is the rollout's own return G_1, and each
step's weights go back to the run as ONNX before the next groups are leased."""
import argparse
import os

import torch
from datasets import Dataset
from everturn import RECORDED, Feed
from everturn.rows import to_trl
from policy import ROOT, publish, write_weights
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback
from trl import GRPOConfig, GRPOTrainer

MODEL = os.path.join(ROOT, "models", "tiny")


class Loop(TrainerCallback):
    """Leases a batch for each generation, and acknowledges and publishes it when the step is done."""

    def __init__(self, feed, work, groups):
        self.feed, self.work, self.groups, self.version, self.batch = feed, work, groups, 0, None
        if feed.rewind(0)["line"] > 1:
            feed.version(0, MODEL)  # servers may have later weights, of a trainer before

    def rollouts(self, prompts, trainer):
        self.batch = self.feed.lease(self.groups, least=self.groups)
        if self.batch is None:
            raise SystemExit("the run is finished: every group is trained or left out")
        if len(self.batch.rows) != len(prompts):
            raise SystemExit(f"TRL asks for {len(prompts)} completions and the groups hold {len(self.batch.rows)}: "
                             "set --samples and --batch-groups of the run to num_generations and groups of this trainer")
        return to_trl(self.batch.rows)

    def on_step_end(self, args, state, control, model=None, **_):
        self.version += 1
        self.batch.acknowledge(self.version)
        folder = os.path.join(self.work, f"version-{self.version}")
        write_weights({k: v.detach().float().numpy() for k, v in model.named_parameters()}, MODEL, f"{folder}.part")
        publish(f"{folder}.part", folder)
        self.feed.version(self.version, folder)
        print(f"version {self.version}: reward {sum(r['reward'] for r in self.batch.rows) / len(self.batch.rows):.3f}", flush=True)


class OffPolicyTrainer(GRPOTrainer):
    """GRPOTrainer compares a row with the logprobs of a rollout_func only if vLLM is its own: without this, rows of
    an older version are trained as if the weights of now had sampled them."""

    def _generate_and_score_completions(self, inputs):
        batch = super()._generate_and_score_completions(inputs)
        batch["old_per_token_logps"] = batch["sampling_per_token_logps"]
        return batch


def own_reward(prompts, completions, reward, **_):
    return reward


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--run", required=True)
    args.add_argument("--out", default="runs")
    args.add_argument("--work", default="train-trl")
    args.add_argument("--steps", type=int, default=2)
    args.add_argument("--groups", type=int, default=8)
    args.add_argument("--samples", type=int, default=8)
    args.add_argument("--command", default=RECORDED, help="how Everturn is called (default: as it was for the run)")
    a = args.parse_args()
    torch.set_num_threads(1)
    os.makedirs(a.work, exist_ok=True)
    with Feed(a.run, out=a.out, command=a.command) as feed:
        loop = Loop(feed, os.path.abspath(a.work), a.groups)
        config = GRPOConfig(output_dir=os.path.join(a.work, "trl"), max_steps=a.steps, num_generations=a.samples,
                            per_device_train_batch_size=a.groups * a.samples, gradient_accumulation_steps=1, learning_rate=5e-5,
                            beta=0.0, temperature=1.0, save_strategy="no", report_to=[], use_cpu=True, bf16=False, logging_steps=1)
        trainer = OffPolicyTrainer(model=AutoModelForCausalLM.from_pretrained(MODEL), processing_class=AutoTokenizer.from_pretrained(MODEL),
                              args=config, reward_funcs=own_reward, rollout_func=loop.rollouts, callbacks=[loop],
                              train_dataset=Dataset.from_dict({"prompt": ["the feed chooses"] * (a.groups * a.steps)}))
        trainer.train()


if __name__ == "__main__":
    main()
