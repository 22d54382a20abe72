"""TRL: GRPOTrainer(rollout_func=Rollouts(feed), reward_funcs=own_reward, …). `rollout_func` is called with every prompt, each as
often as it has samples. docs/train.md says what the trainer needs to know of older versions."""
from ..rows import to_trl
from . import Steps


class Rollouts(Steps):
    def __call__(self, prompts, trainer):
        return to_trl(self.take(len(prompts) // trainer.num_generations, len(prompts)))


def own_reward(prompts, completions, reward, **_):
    """The reward that each rollout brings."""
    return reward
