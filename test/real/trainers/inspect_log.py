"""Reads logs by Inspect's own code, and prints what it found in each as a line of JSON: test/real/trainers/inspect.real.ts."""

import json
import sys

from inspect_ai.log import read_eval_log, read_eval_log_sample, read_eval_log_sample_summaries


def found(path):
    log = read_eval_log(path)
    head = read_eval_log(path, header_only=True)
    summaries = read_eval_log_sample_summaries(path)
    return {
        "version": log.version,
        "results": {
            f"{s.name} {s.reducer}": [s.scored_samples, *(s.metrics[m].value for m in ("accuracy", "stderr") if m in s.metrics)]
            for s in head.results.scores
        },
        "samples": [
            {
                "id": s.id,
                "epoch": s.epoch,
                "scores": {name: score.value for name, score in (s.scores or {}).items()},
                "messages": [[m.role, m.text] for m in s.messages],
                "completion": s.output.completion,
                "error": s.error.message if s.error else None,
                "again": read_eval_log_sample(path, s.id, s.epoch).uuid == s.uuid,
            }
            for s in log.samples
        ],
        "summaries": [[s.id, s.epoch, s.completed, s.message_count] for s in summaries],
    }


for path in sys.argv[1:]:
    print(json.dumps(found(path)))
