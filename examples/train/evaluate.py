"""Accuracy of checkpoints on held-out problems, at temperature 1 and greedy: evaluate.py --problems 2000 train-first/version-30 ...

More problems than grpo.py uses while it trains: a standard error of 0.01 at 2,000. Without a folder: the shipped model."""
import argparse
import json
import os

import torch
from policy import ROOT, Policy


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("folders", nargs="*", help="folders of checkpoints")
    args.add_argument("--problems", type=int, default=2000)
    args.add_argument("--seed", type=int, default=12, help="of the sampling; grpo.py uses 11")
    a = args.parse_args()
    torch.set_num_threads(1)
    for folder in a.folders or [os.path.join(ROOT, "models", "tiny")]:
        policy = Policy(folder)
        for temperature in (1.0, 0.0):
            print(json.dumps({"folder": folder, "temperature": temperature, **policy.accuracy(a.problems, a.seed, temperature)}), flush=True)


if __name__ == "__main__":
    main()
