"""A run's numbers at each weight version, while it goes on: `python3 -m everturn.log RUN --wandb PROJECT`, or `--tensorboard FOLDER`.
Both use the tool's own client: wandb, and torch or tensorboardX."""
import argparse
import json
import subprocess

from .errors import EverturnError
from .feed import RECORDED
from .process import command_words


def points(run, *flags, command=RECORDED):
    """Yields what `everturn log` prints: {"version", "rollouts", "meanReturn", "right", "tokens", "staleness"}, the last four None
    where nothing is known; an evaluated version (--eval) also has "eval": {"run", "rollouts", "right", "meanReturn", "tokens", "answeredBy"}.
    Each version comes once, in ascending order. EverturnError if the command fails."""
    words = [*command_words(command), "log", run, *flags]
    with subprocess.Popen(words, stdout=subprocess.PIPE, encoding="utf-8") as process:
        for line in process.stdout:
            yield json.loads(line)
    if process.returncode != 0:
        raise EverturnError(f"`everturn log {run}` ended with {process.returncode}.")


def values_of(point):
    """{name: value} of what is known at a version: `everturn/right`, and of its evaluation `eval/right`."""
    parts = {"everturn": point, "eval": point.get("eval", {})}
    numbers = {f"{part}/{name}": value for part, of in parts.items() for name, value in of.items() if isinstance(value, (int, float))}
    return {name: value for name, value in numbers.items() if name != "everturn/version"}


def main(arguments=None, command=RECORDED):
    parser = argparse.ArgumentParser(prog="python3 -m everturn.log", description="A run's numbers by weight version, until it ends.")
    parser.add_argument("run", help="its name, or its folder")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--wandb", metavar="PROJECT", help="a project of Weights & Biases")
    target.add_argument("--tensorboard", metavar="FOLDER", help="a folder of event files")
    given = parser.parse_args(arguments)
    try:
        log_to = _wandb if given.wandb else _tensorboard
        log_to(given, points(given.run, command=command))
    except ImportError as absent:
        install = "wandb" if given.wandb else "tensorboardX"
        parser.exit(2, f"{parser.prog}: {absent}: `pip install {install}`\n")


def _wandb(given, found):
    import wandb

    # the same run again continues its own curves
    logged = wandb.init(project=given.wandb, name=given.run, id=given.run.replace("/", "-"), resume="allow")
    for point in found:
        logged.log(values_of(point), step=point["version"])
    logged.finish()


def _tensorboard(given, found):
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        from tensorboardX import SummaryWriter
    with SummaryWriter(given.tensorboard) as writer:
        for point in found:
            for name, value in values_of(point).items():
                writer.add_scalar(name, value, point["version"])
            writer.flush()


if __name__ == "__main__":
    main()
