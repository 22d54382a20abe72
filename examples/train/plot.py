"""The picture of a training: held-out accuracy over versions with its standard error, one line a log.

    python3 examples/train/plot.py --out docs/train.png train-*/log.jsonl

Only the surviving line is drawn. Needs matplotlib."""
import argparse
import os

import matplotlib
from surviving import evaluations, read_log

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("logs", nargs="+", help="[label=]path of a log.jsonl")
    args.add_argument("--out", default="train.png")
    a = args.parse_args()
    figure, axes = plt.subplots(figsize=(7, 4), dpi=120)
    for place, log in enumerate(a.logs):
        label, _, path = log.rpartition("=")
        points = evaluations(read_log(path))
        versions = [version + 0.15 * place for version, _ in points]  # bars of several logs stay apart
        shares, errors = [e["right"] for _, e in points], [e["standard_error"] for _, e in points]
        axes.errorbar(versions, shares, yerr=errors, marker="o", capsize=3, label=label or os.path.basename(os.path.dirname(os.path.abspath(path))))
    problems = {e["problems"] for log in a.logs for _, e in evaluations(read_log(log.rpartition("=")[2]))}
    axes.set_xlabel("version of the weights (training steps)")
    axes.set_ylabel(f"right at the first turn, {'/'.join(map(str, sorted(problems)))} held-out problems")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(a.out)


if __name__ == "__main__":
    main()
