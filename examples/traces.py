"""What happened when, of the complete rollouts of a run, without any text: from `everturn export RUN --format rows --texts`.

    python3 examples/traces.py rows.jsonl > first.json           a timeline for ui.perfetto.dev and chrome://tracing
    python3 examples/traces.py rows.jsonl --otlp > first.jsonl   OpenTelemetry spans: a line is a request for a collector's /v1/traces

An evaluation is drawn from the end of its answer on: waiting for the judge is not recorded."""
import hashlib
import json
import os
import sys
from urllib.parse import urlsplit


def spans_of(row):
    """(kind, turn from 1, name, from, to, facts) of a rollout in milliseconds: itself, then its answers and their evaluations or calls."""
    spans = []
    for turn, (start, end) in enumerate(zip(row["started_at"], row["finished_at"])):
        tokens = row["turn_ids"].count(turn)
        facts = {"turn": turn + 1, "output tokens": tokens, "finish": row["turn_finish"][turn], "server": place(row["servers"][turn])}
        spans.append(("answer", turn + 1, row["models"][turn], start, end, facts))
        if row["judged_ms"][turn] is not None:
            name, right = ("call", {}) if is_call(row, turn) else ("evaluate", {"right": row["turn_success"][turn]})
            spans.append((name, turn + 1, name, end, end + row["judged_ms"][turn], {"turn": turn + 1, **right}))
    begin = min(row["birth_time"], *(span[3] for span in spans))
    finish = max(row["ended_at"], *(span[4] for span in spans))
    return [("rollout", 0, f"{row['run']} {row['id']}", begin, finish, {"stop": row["stop_reason"], "return": float(row["reward"])}), *spans]


def is_call(row, turn):
    """Whether the answer called tools, or an agent went on after it: neither is judged."""
    goes_on = "turn_calls" in row and turn < len(row["started_at"]) - 1
    return goes_on or any(message["role"] == "tool" for message in row["feedback"][turn])


def place(server):
    """Never more of an address than host and port: the rest may be a secret."""
    return "embedded model" if server is None else urlsplit(server).netloc.rpartition("@")[2] or server


def timeline(rows):
    """Chrome's trace events: a lane for each row in flight (of an agent's rollout each branch), and for each answer that a server gave at once."""
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
        return hashlib.sha256(f"{trace} {row['id']} {kind} {turn}".encode("utf-8", "replace")).hexdigest()[:16]

    spans = [
        {
            **{"traceId": hashlib.sha256(trace.encode("utf-8", "replace")).hexdigest()[:32], "spanId": span_id(kind, turn), "name": name, "kind": 1},
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
        ended(2, "usage: traces.py rows.jsonl [--otlp]")
    path, number = arguments[0], 0

    def rows():
        nonlocal number
        with open(path, "rb") as lines:
            for number, line in enumerate(lines, start=1):
                yield json.loads(line.decode("utf-8"))

    try:
        for text in map(otlp, rows()) if arguments[1:] else [timeline(rows())]:
            if number > 0:
                print(json.dumps(text))
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would try again at its end, and say so.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except OSError as error:
        ended(2, f"{f'{path} cannot be read' if error.filename else 'standard output cannot be written'}: {error.strerror}")
    except KeyError as error:
        ended(1, f"{path}:{number}: the row has no field {error}: {WRITES} it")
    except UnicodeDecodeError:
        ended(1, f"{path}:{number}: the line is not in UTF-8: {WRITES} it so")
    except json.JSONDecodeError as error:
        ended(1, f"{path}:{number}: the line is no JSON ({error.msg}, column {error.colno}): {WRITES} a row a line")
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        ended(1, f"{path}:{number}: the line is no row, or a field of it has another form ({error}): {WRITES} rows")
    if number == 0:
        ended(8, f"Nothing is drawn: {path} has no rows.")
    print(f"{number} row{'' if number == 1 else 's'} drawn.", file=sys.stderr)


WRITES = "`everturn export RUN --format rows --texts` writes"


def ended(code, why):
    print(why, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main(sys.argv[1:])
