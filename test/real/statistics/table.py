"""The table of an evaluation, recomputed with SciPy from the exported rows of its runs: every number that `eval` prints.

pip install scipy==1.17.1
everturn eval examples/arithmetic.jsonl --model tiny --vary temperature=0,1 --repeats 4 --max-new-tokens 64 --name nightly
python table.py nightly node dist/cli/index.js      # in the folder of `runs`

For runs of one turn whose rollouts are all judged. It prints a line for each number that differs, and how many are equal to 1e-9.
For three temperatures, 40 problems and four samples each 20 of 20 are, for two temperatures, 60 problems and one sample 10 of 10.
"""

import json
import subprocess
import sys

import numpy as np
from scipy import stats


def called(words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def samples_of(command, run):
    """Right or wrong, a list for each query, in the order of its samples."""
    rows = [json.loads(line) for line in called([*command, "export", run, "--format", "rows"]).splitlines()]
    queries = {}
    for row in sorted(rows, key=lambda row: row["sample"]):
        queries.setdefault(row["query"], []).append(row["turn_success"][-1])
    return queries


def interval_of_share(queries):
    """Wilson's, where the mean of each query is 0 or 1; else t over these means."""
    means = np.array([np.mean(own) for own in queries.values()])
    if set(means) <= {0.0, 1.0}:
        return stats.binomtest(int(round(means.sum())), len(means)).proportion_ci(0.95, method="wilson")
    low, high = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    return max(low, 0), min(high, 1)


def differences(name, printed, wanted):
    for what, value in wanted.items():
        found = printed[what]
        if (found is None) != (value is None) or (value is not None and abs(found - value) > 1e-9):
            yield f"{name}: {what} is {found}, and SciPy has {value}"


def row_of(row, queries, first):
    """The numbers of a row as they are printed, and as SciPy has them."""
    at = row["atTurns"][-1]
    repeats = len(next(iter(queries.values())))
    printed = {"accuracy": at["accuracy"]["value"], "low": at["accuracy"]["interval"][0], "high": at["accuracy"]["interval"][1]}
    low, high = interval_of_share(queries)
    wanted = {"accuracy": np.mean([np.mean(own) for own in queries.values()]), "low": low, "high": high}
    if repeats > 1:
        printed["pass@n"] = at["passAtAll"]["value"]
        wanted["pass@n"] = np.mean([max(own) for own in queries.values()])
    if first is not None:
        against = at["against"]["difference"]
        one, other = ([np.mean(own[query]) for query in sorted(own)] for own in (first, queries))
        test = stats.ttest_rel(other, one)
        bounds = test.confidence_interval(0.95) if test.pvalue == test.pvalue else (None, None)
        printed.update(difference=against["value"], p=against["p"])
        wanted.update(difference=np.mean(np.subtract(other, one)), p=test.pvalue if bounds[0] is not None else 1)
        if bounds[0] is not None:
            printed.update(from_=against["interval"][0], to=against["interval"][1])
            wanted.update(from_=max(bounds[0], -1), to=min(bounds[1], 1))
    return printed, wanted


def main(name, *command):
    table = json.loads(called([*command, "eval", "--name", name, "--json"]).splitlines()[-1])
    wrong, count = [], 0
    for benchmark in table["benchmarks"]:
        first = None
        for row in benchmark["runs"]:
            queries = samples_of(command, row["run"])
            printed, wanted = row_of(row, queries, first)
            count += len(wanted)
            wrong += differences(row["run"], printed, wanted)
            first = queries if first is None else first
    print("\n".join([*wrong, f"{count - len(wrong)} of {count} numbers are equal."]))
    sys.exit(1 if wrong or count == 0 else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
