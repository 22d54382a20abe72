"""slime: --rollout-function-path everturn.integrations.slime.rollouts, with EVERTURN_RUN as the run's name or folder. The run's servers
load what EVERTURN_WEIGHTS names, or slime loads them itself. Evaluation needs slime's own function."""
import os

from slime.rollout.base_types import RolloutFnTrainOutput
from slime.utils.types import Sample

from ..errors import EverturnError
from ..experts import routing
from ..feed import Feed
from ..rows import to_slime
from . import NO_EVALUATION, Steps

_steps = []


def rollouts(args, rollout_id, data_source, evaluation=False):
    """rollout_id counts the steps, and is the version that this one begins with."""
    if evaluation:
        raise EverturnError(NO_EVALUATION, "no-evaluation", "Set --eval-function-path to slime's own.")
    if not _steps:
        _steps.append(Steps(Feed(os.environ["EVERTURN_RUN"]), version=rollout_id))
    groups, each = args.rollout_batch_size, args.n_samples_per_prompt
    rows = _steps[0].take(groups, groups * each)
    feed = _steps[0].feed
    made = (to_slime(row, at // each, at, routing(row, feed)) for at, row in enumerate(rows))
    samples = [Sample.from_dict(one) for one in made]
    return RolloutFnTrainOutput(samples=[samples[at : at + each] for at in range(0, len(samples), each)])
