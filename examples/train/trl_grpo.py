"""TRL's own GRPOTrainer on rollouts of Everturn, through `rollout_func`: python3 examples/train/trl_grpo.py --run first

Needs trl 1.16, transformers 5 and torch (CPU is enough). Everturn chooses the prompts: the trainer's data set only
says how many groups a step has. The ratio of each token is to the logprob that sampled it, at whatever version.
Feedback between turns is masked, the reward is the rollout's own return G_1, and each step's weights go back to the
run as ONNX before the next groups are leased."""
import argparse
import os

import torch
from datasets import Dataset
from everturn import RECORDED, Feed
from everturn.integrations.trl import Rollouts, own_reward
from policy import ROOT, publish, write_weights
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer

MODEL = os.path.join(ROOT, "models", "tiny")


class OffPolicyTrainer(GRPOTrainer):
    """GRPOTrainer compares a row with the logprobs of a rollout_func only if vLLM is its own: without this, rows of
    an older version are trained as if the weights of now had sampled them."""

    def _generate_and_score_completions(self, inputs):
        batch = super()._generate_and_score_completions(inputs)
        batch["old_per_token_logps"] = batch["sampling_per_token_logps"]
        return batch


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

    def weights(version):
        """The folder of a version, for Everturn to play; written when its step is done."""
        if version == 0:
            return MODEL
        folder = os.path.abspath(os.path.join(a.work, f"version-{version}"))
        write_weights({k: v.detach().float().numpy() for k, v in trainer.model.named_parameters()}, MODEL, f"{folder}.part")
        publish(f"{folder}.part", folder)
        return folder

    with Feed(a.run, out=a.out, command=a.command) as feed:
        rollouts = Rollouts(feed, weights=weights)
        config = GRPOConfig(output_dir=os.path.join(a.work, "trl"), max_steps=a.steps, num_generations=a.samples,
                            per_device_train_batch_size=a.groups * a.samples, gradient_accumulation_steps=1, learning_rate=5e-5,
                            beta=0.0, temperature=1.0, save_strategy="no", report_to=[], use_cpu=True, bf16=False, logging_steps=1)
        trainer = OffPolicyTrainer(model=AutoModelForCausalLM.from_pretrained(MODEL), processing_class=AutoTokenizer.from_pretrained(MODEL),
                                   args=config, reward_funcs=own_reward, rollout_func=rollouts, callbacks=[rollouts],
                                   train_dataset=Dataset.from_dict({"prompt": ["the feed chooses"] * (a.groups * a.steps)}))
        trainer.train()


if __name__ == "__main__":
    main()
