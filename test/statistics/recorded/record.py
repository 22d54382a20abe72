"""Records the figures of independent implementations for recorded.test.ts.

    python3 -m venv v && v/bin/pip install inspect-ai==0.3.285 lm-eval==0.4.13 scipy==1.17.1 numpy==2.4.6
    v/bin/python test/statistics/recorded/record.py > test/statistics/recorded/figures.json
"""

import json
import random
from importlib.metadata import version

import numpy as np
from inspect_ai.scorer import SampleScore, Score
from inspect_ai.scorer._metrics.std import ci, stderr
from inspect_ai.scorer._reducer.reducer import pass_at, pass_k
from lm_eval.api.metrics import mean_stderr
from scipy import stats

random.seed(20)


def samples(queries, most):
    rates = [random.random() for _ in range(queries)]
    return [[1 if random.random() < p else 0 for _ in range(random.randint(1, most))] for p in rates]


def scores(clusters):
    return [
        SampleScore(sample_id=f"{i}", sample_metadata={"query": f"q{i}"}, score=Score(value=float(value)))
        for i, own in enumerate(clusters)
        for value in own
    ]


def reduced(reducer, own):
    return float(reducer([Score(value=float(value)) for value in own]).as_float())


def clustered(clusters):
    given = scores(clusters)
    interval = ci(cluster="query")(given)
    return {
        "clusters": clusters,
        "standardError": float(stderr(cluster="query")(given)),
        "interval": [interval["lower"], interval["upper"]],
        "pass": [[reduced(pass_at(k), own) if len(own) >= k else None for own in clusters] for k in (1, 2, 4, 8)],
        "passAll": [[reduced(pass_k(k), own) if len(own) >= k else None for own in clusters] for k in (1, 2, 4, 8)],
    }


def plain(values):
    return {"values": values, "standardError": float(mean_stderr(values)), "inspect": float(stderr()(scores([[v] for v in values])))}


def paired(a, b):
    test = stats.ttest_rel(a, b)
    low, high = test.confidence_interval(0.95)
    return {"a": a, "b": b, "t": float(test.statistic), "p": float(test.pvalue), "interval": [float(low), float(high)]}


def wilson(right, n):
    found = stats.binomtest(right, n).proportion_ci(0.95, method="wilson")
    return [right, n, float(found.low), float(found.high)]


draw = [random.gauss(0, 1) for _ in range(40)]
print(
    json.dumps(
        {
            "versions": {name: version(name) for name in ("inspect-ai", "lm-eval", "scipy", "numpy")},
            "ks": [1, 2, 4, 8],
            "clustered": [clustered(samples(q, most)) for q, most in ((2, 3), (5, 8), (30, 16), (200, 4))],
            "plain": [plain([random.randint(0, 1) for _ in range(n)]) for n in (2, 9, 100)] + [plain(draw)],
            "paired": [paired([random.random() for _ in range(n)], [random.random() for _ in range(n)]) for n in (2, 7, 60, 800)],
            "wilson": [wilson(r, n) for r, n in ((0, 1), (1, 1), (3, 7), (43, 60), (999, 1000), (0, 60))],
            "signTest": [[b, c, float(stats.binomtest(min(b, c), b + c).pvalue)] for b, c in ((8, 2), (1, 0), (30, 12), (700, 640), (90, 30))],
            "tCritical": [[df, float(stats.t.ppf(0.975, df))] for df in (1, 2, 3, 7, 29, 199, 5000, 100000)],
            "percentiles": [[share, float(np.percentile(draw, 100 * share))] for share in (0, 0.1, 0.5, 0.9, 0.99, 1)],
        },
        separators=(",", ":"),
    )
)
