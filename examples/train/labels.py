"""Are the versions that rows carry the versions of the weights that sampled them? The weights themselves answer.

    everturn export first --format rows --to rows.jsonl
    python3 examples/train/labels.py --work train-first --rows rows.jsonl

For each row of one version v, its logprobs are computed under the weights v - 1, v and v + 1: they should be nearest to
the sampler's own under v. Needs the checkpoints (grpo.py --keep 1000) and torch. Rows of several versions are left out."""
import argparse
import json
import os
import sys
from collections import Counter, defaultdict

import torch
from policy import ROOT, ROWS, Policy


def distances(policy, rows):
    """Mean |difference| of the logprobs of each row's sampled tokens, in nats."""
    found = []
    for s in range(0, len(rows), ROWS):
        part = rows[s : s + ROWS]
        old = [torch.tensor([x for x, m in zip(r["logprobs"], r["response_mask"]) if m]) for r in part]
        with torch.no_grad():
            new = policy.logprobs(part).split([len(x) for x in old])
        found += [(x - y).abs().mean().item() for x, y in zip(old, new)]
    return found


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", required=True, help="folder of the checkpoints")
    args.add_argument("--rows", required=True, help="export of the run, --format rows")
    args.add_argument("--every", type=int, default=1, help="of each version's rows take every n-th")
    a = args.parse_args()
    torch.set_num_threads(1)
    by_version = defaultdict(list)
    with open(a.rows, encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["version_start"] == row["version_end"]:
                by_version[row["version_start"]].append(row)
    folders = {0: os.path.join(ROOT, "models", "tiny")}
    folders.update({int(n[8:]): os.path.join(a.work, n) for n in os.listdir(a.work) if n.startswith("version-") and n[8:].isdigit()})
    wrong, counts, own, next_to = [], Counter(), [], []
    for version, rows in sorted(by_version.items()):
        rows = rows[:: a.every]
        near = {v: distances(Policy(folders[v], played=True), rows) for v in (version - 1, version, version + 1) if v in folders}
        if version not in near:
            sys.exit(f"rows say version {version}, and {a.work} has no such checkpoint")
        for j, row in enumerate(rows):
            best = min(near, key=lambda v: near[v][j])
            counts[best - version] += 1
            wrong += [row["id"]] if best != version else []
            own.append(near[version][j])
            next_to += [near[v][j] for v in near if v != version]
    middle = lambda values: sorted(values)[len(values) // 2]  # noqa: E731
    print(f"{sum(counts.values())} rows of {len(by_version)} versions: {counts[0]} nearest to their own version, {len(wrong)} not; "
          f"median distance {middle(own):.1e} under their own, {middle(next_to):.1e} under a neighbour")
    sys.exit(f"nearer to another version: {wrong[:10]}" if wrong else 0)


if __name__ == "__main__":
    main()
