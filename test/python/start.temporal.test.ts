// A run that Python starts and follows by the library's own process: played once, with a bar, found again by the same call, and
// refused with the library's reasons. Needs dist/ (npm run build); skipped where there is no python3.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { PYTHON } from '../support/needs.ts';
import { type Everturn, openSharedEverturn } from '../support/everturn.ts';

const ROOT = join(import.meta.dirname, '../..');

const PROGRAM = `
import json, sys, types
import everturn

told = []
class Bar:
    def __init__(self, **given):
        told.append(given["total"])
    def update(self):
        told.append("rollout")
    def __enter__(self):
        return self
    def __exit__(self, *_):
        pass
sys.modules.update({"tqdm": types.ModuleType("tqdm"), "tqdm.auto": types.SimpleNamespace(tqdm=Bar)})

command = json.loads(sys.argv[1])
given = dict(name="by-python", num_turns=1, samples=2, max_new_tokens=16, command=command)
events = []
run = everturn.run("rows.jsonl", on_event=lambda event: events.append(event["type"]), **given)
again = everturn.start("rows.jsonl", **given)
reasons = []
for refused in ({"turns": 3}, {"num_turns": 0}, {"temperature": 0}):
    try:
        everturn.start("rows.jsonl", **{**given, **refused})
    except everturn.EverturnError as error:
        reasons.append(error.reason)
fork = run.fork("q1", from_turn=1, by="anna")
forked = [fork.found, fork.result()["total"]]
table = everturn.evaluate(["rows.jsonl", "none.csv"], "tiny", repeats=2, name="evaluated", max_new_tokens=16, command=command)
[cell] = table["benchmarks"][0]["runs"]
[refused] = table["refused"]
evaluated = [cell["run"], cell["ended"], refused["reason"], refused["fix"]]
print(json.dumps([told, run.found, again.found, run.result()["state"], "made" in events, reasons, forked, evaluated]))
`;

let everturn: Everturn;
beforeAll(() => {
  everturn = openSharedEverturn();
  everturn.write(
    'rows.jsonl',
    [1, 2].map((n) => ({ id: `q${n}`, question: `What is ${n} + 1?`, answer: `${n + 1}` })),
  );
});
afterAll(() => everturn.close());

describe('a run that Python starts', () => {
  test.skipIf(!PYTHON)('is followed to its end, found again, and refused with reasons', () => {
    const command = JSON.stringify([process.execPath, join(ROOT, 'dist/cli/index.js')]);
    const printed = execFileSync(PYTHON!, ['-c', PROGRAM, command], {
      cwd: everturn.folder,
      encoding: 'utf8',
      env: {
        ...process.env,
        PYTHONPATH: join(ROOT, 'python'),
        EVERTURN_HOME: inject('sharedHome'),
        EVERTURN_TEMPORAL_CLI: inject('temporalBinary'),
        EVERTURN_IDLE_MINUTES: '5',
        EVERTURN_UI: 'on',
      },
    });
    expect(JSON.parse(printed)).toEqual([
      [4, ...Array.from({ length: 4 }, () => 'rollout')],
      ...['new', 'ended', 'ended', true],
      ['unknown-option', 'bad-value', 'run-differs'],
      ['new', 1],
      ['evaluated-rows-tiny', 4, 'dataset-missing', 'Check the path.'],
    ]);
  });
});
