"""TRL: GRPOTrainer(rollout_func=rollouts, callbacks=[rollouts], reward_funcs=own_reward, …) with rollouts = Rollouts(feed, …), in one process
that makes one update of a batch. `rollout_func` is called with every prompt, each as often as it has samples. TRL takes a row as sampled by the
weights of now: with --max-staleness above 0, train with OffPolicyTrainer of examples/train/trl_grpo.py."""
from transformers import TrainerCallback

from ..rows import to_trl
from . import Steps


class Rollouts(Steps, TrainerCallback):
    def __call__(self, prompts, trainer):
        return to_trl(self.take(len(prompts) // trainer.num_generations, len(prompts)))

    def on_step_end(self, *_, **__):
        # before TRL saves: a checkpoint is never ahead of the feed
        self.trained()


def own_reward(prompts, completions, reward, **_):
    """The reward that each rollout brings."""
    return reward
