"""The surviving line of a trainer's log: what was really trained into the newest weights, whoever was killed.

    python3 examples/train/surviving.py train-first/log.jsonl runs/first

compares it with the run's own ledger (docs/feed.md) and names each group that was trained twice, or only on one side.
Standard library only."""
import json
import os
import re
import sys
from collections import Counter


def read_log(path):
    """The log's objects. A line that a kill cut off is left out if a restart follows it: its checkpoint was never written."""
    entries, torn = [], None
    with open(path, encoding="utf-8") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                entry = json.loads(line)
            except ValueError:
                torn = number
                continue
            if torn is not None and entry["event"] != "started":
                raise ValueError(f"{path}, line {torn}: no JSON, and line {number} is not the start of a trainer")
            torn = None
            entries.append(entry)
    return entries


def surviving(entries):
    """{version: the `trained` entry that made it}: a trainer that starts at version v ends whatever was trained above v."""
    line = {}
    for entry in entries:
        if entry["event"] == "started":
            line = {version: kept for version, kept in line.items() if version <= entry["version"]}
            if len(line) != entry["version"]:
                raise ValueError(f"the trainer started at version {entry['version']}, and its log has {len(line)} versions up to there")
        if entry["event"] == "trained":
            if entry["version"] != len(line) + 1:
                raise ValueError(f"version {entry['version']} was trained after version {len(line)}")
            line[entry["version"]] = entry
    return line


def evaluations(entries):
    """[(version, entry)] of the surviving line, the last evaluation of each version, in order of versions."""
    found = {}
    for entry in entries:
        if entry["event"] == "started":
            found = {version: kept for version, kept in found.items() if version <= entry["version"]}
        if entry["event"] == "evaluated":
            found[entry["version"]] = entry
    return sorted(found.items())


def twice(line):
    """The groups that more than one version of the line was trained on."""
    counts = Counter(group for entry in line.values() for group in entry["groups"])
    return sorted(group for group, count in counts.items() if count > 1)


def ledger(run):
    """{version: (lease, ids of groups)} along the surviving line of the ledger in the folder of a run."""
    with open(os.path.join(run, "queries.jsonl"), encoding="utf-8") as lines:
        queries = [re.sub("#|%(?=23|25)", lambda char: "%23" if char[0] == "#" else "%25", json.loads(one)["queryId"]) for one in lines]
    line = {}
    for folder, _, names in sorted(os.walk(os.path.join(run, "feed"))):
        for name in sorted(name for name in names if name[:-5].isdigit()):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                entry = json.load(file)
            if entry["kind"] == "rewind":
                line = {version: kept for version, kept in line.items() if version <= entry["to"]}
            if entry["kind"] == "trained":
                places = [divmod(n, len(queries)) for first, last in entry["groups"] for n in range(first, last + 1)]
                groups = [queries[place] + (f"#{epoch}" if epoch else "") for epoch, place in places]
                line[entry["version"]] = (entry["lease"], sorted(groups))
    return line


def differences(line, told):
    """Sentences: where the trainer's line and the ledger's (`ledger`) are not the same. None if they agree."""
    mine = {version: (entry["lease"], sorted(entry["groups"])) for version, entry in line.items()}
    return [f"version {version}: the trainer has {mine.get(version)}, the ledger {told.get(version)}"
            for version in sorted(mine.keys() | told.keys()) if mine.get(version) != told.get(version)]


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: surviving.py <log.jsonl> <folder of the run>")
    entries = read_log(sys.argv[1])
    line = surviving(entries)
    wrong = [f"trained twice: {group}" for group in twice(line)] + differences(line, ledger(sys.argv[2]))
    starts = sum(entry["event"] == "started" for entry in entries)
    lost = sum(entry["event"] == "trained" for entry in entries) - len(line)
    print(f"{len(line)} versions of {sum(len(e['groups']) for e in line.values())} groups; "
          f"{starts} starts, {lost} trained steps of ended lines; {len(wrong)} differences")
    sys.exit("\n".join(wrong) if wrong else 0)


if __name__ == "__main__":
    main()
