"""What happened when, of the complete rollouts of a run, without any text: from `everturn export RUN --format rows --texts`.

    python3 examples/traces.py rows.jsonl > first.json           a timeline for ui.perfetto.dev and chrome://tracing
    python3 examples/traces.py rows.jsonl --otlp > first.jsonl   OpenTelemetry spans: a line is a request for a collector's /v1/traces

An evaluation is drawn from the end of its answer on: waiting for the judge is not recorded."""
import hashlib
import json
import sys
from urllib.parse import urlsplit


def spans_of(row):
    """(kind, turn from 1, name, from, to, facts) of a rollout in milliseconds: itself, then its answers and their evaluations."""
    spans = []
    for turn, (start, end) in enumerate(zip(row["started_at"], row["finished_at"])):
        tokens = row["turn_ids"].count(turn)
        facts = {"turn": turn + 1, "output tokens": tokens, "finish": row["turn_finish"][turn], "server": place(row["servers"][turn])}
        spans.append(("answer", turn + 1, row["models"][turn], start, end, facts))
        if row["judged_ms"][turn] is not None:
            success = {"turn": turn + 1, "right": row["turn_success"][turn]}
            spans.append(("evaluate", turn + 1, "evaluate", end, end + row["judged_ms"][turn], success))
    begin = min(row["birth_time"], *(span[3] for span in spans))
    finish = max(row["ended_at"], *(span[4] for span in spans))
    return [("rollout", 0, f"{row['run']} {row['id']}", begin, finish, {"stop": row["stop_reason"], "return": float(row["reward"])}), *spans]


def place(server):
    """Never more of an address than host and port: the rest may be a secret."""
    return "embedded model" if server is None else urlsplit(server).netloc.rpartition("@")[2] or server


def timeline(rows):
    """Chrome's trace events: a lane for each rollout in flight, and for each answer that a server gave at once."""
    groups = {"rollouts": []}
    for row in rows:
        spans = spans_of(row)
        groups["rollouts"].append(spans)
        for span in spans:
            if span[0] == "answer":
                groups.setdefault(span[5]["server"], []).append([(*span[:2], f"{row['id']} turn {span[1]}", *span[3:])])
    events = []
    for pid, (name, bars) in enumerate(groups.items(), start=1):
        events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}})
        lanes = []  # when each is free again
        for bar in sorted(bars, key=lambda spans: spans[0][3]):
            lane = next((i for i, free in enumerate(lanes) if free <= bar[0][3]), len(lanes))
            lanes[lane:lane + 1] = [bar[0][4]]
            for _, _, title, start, end, facts in bar:
                events.append({"ph": "X", "pid": pid, "tid": lane, "ts": start * 1000, "dur": max(0, end - start) * 1000, "name": title, "args": facts})
    return {"displayTimeUnit": "ms", "traceEvents": events}


def otlp(row):
    """An ExportTraceServiceRequest as JSON. Ids follow from the rollout's name: made again, the spans are the same ones."""
    trace = f"{row['run']}/{row['query']}/{row['sample']}/{row['attempt']}"

    def span_id(kind, turn):
        return hashlib.sha256(f"{trace} {row['id']} {kind} {turn}".encode()).hexdigest()[:16]

    spans = [
        {
            **{"traceId": hashlib.sha256(trace.encode()).hexdigest()[:32], "spanId": span_id(kind, turn), "name": name, "kind": 1},
            **({"parentSpanId": span_id("rollout", 0)} if turn else {}),
            **{"startTimeUnixNano": f"{start}000000", "endTimeUnixNano": f"{max(start, end)}000000"},
            "attributes": [{"key": f"everturn.{key.replace(' ', '_')}", "value": any_value(value)} for key, value in facts.items()],
        }
        for kind, turn, name, start, end, facts in spans_of(row)
    ]
    resource = {"attributes": [{"key": "service.name", "value": any_value("everturn")}]}
    return {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": {"name": "everturn"}, "spans": spans}]}]}


def any_value(value):
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": str(value)}


def main(arguments):
    if not arguments or arguments[1:] not in ([], ["--otlp"]):
        sys.exit("usage: traces.py rows.jsonl [--otlp]")
    number = 0

    def rows(lines):
        nonlocal number
        for number, line in enumerate(lines, start=1):
            yield json.loads(line)

    try:
        with open(arguments[0], encoding="utf-8") as lines:
            texts = map(otlp, rows(lines)) if arguments[1:] else [timeline(rows(lines))]
            for text in texts:
                print(json.dumps(text))
    except KeyError as error:
        sys.exit(f"{arguments[0]}:{number}: the row has no field {error}: export rows with --texts")
    except (OSError, ValueError) as error:
        sys.exit(f"{arguments[0]}:{number}: {error}" if number else str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
