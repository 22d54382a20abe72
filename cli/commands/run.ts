// `everturn run <dataset>`: plays a data set, or attaches to the run that does. `everturn demo`: plays the shipped data set
// with the shipped model, as a new run each time.

import { join } from 'node:path';
import { DEMO_DEFAULTS } from '../../domain/run/defaults.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import { command, flag, text } from '../command.ts';
import { shortPath } from '../../library/command-line.ts';
import { OUT } from '../flags.ts';
import { say } from '../io.ts';
import { playRun } from '../play/play-run.ts';
import { resolveRunFlags, runFlags } from '../run-flags.ts';

const EVENTS = flag('events as JSON lines on stdout, everything else on stderr');

export const run = command({
  args: {
    '<dataset>':
      'a file of problems: JSON lines, CSV, TSV or Parquet; hf:<org>/<name>[@revision][/config/split] of the Hugging Face hub; harbor:<folder> of task directories; a benchmark, or the page of one (./my.yaml)',
  },
  flags: {
    out: OUT,
    name: text('<run>', 'name of the run (default: derived from data and settings)'),
    detach: flag('return as soon as the run has started'),
    dryRun: flag('say what would be played and what it takes at most; start and write nothing'),
    strict: flag('refuse a data set with a bad row'),
    json: EVENTS,
    ...runFlags(),
  },
  help: `The same command attaches to the run that it started. Ctrl-C detaches: the run continues.

Exit codes: 0 ended; 2 wrong flags, or the name is taken by another run; 3 more rollouts failed than
--max-failed, none is complete, or the run was cancelled; 4 Temporal; 5 the model; 6 the data set; 130 detached.
A rollout that the judge could not decide counts as undecided, not as failed.

Example:
  everturn run examples/arithmetic.jsonl --num-turns 4 --max-concurrent 16

Several models, or benchmarks by one turn: \`everturn eval\`.`,
  run: (io, given) => playRun(io, { ...given, resolved: resolveRunFlags(given, io) }),
});

export const demo = command({
  flags: {
    out: OUT,
    tools: flag('show calls of a tool: a script calls a calculator in place of the model'),
    json: EVENTS,
    ...runFlags(DEMO_DEFAULTS),
  },
  help: 'Example:\n  everturn demo --num-turns 3',
  run(io, given) {
    if (given.tools) say(io, 'A script stands in for the model: no model that can call tools ships with Everturn.');
    const defaults = given.tools ? TOOLS_DEMO : DEMO_DEFAULTS;
    return playRun(io, {
      ...{ out: given.out, json: given.json, strict: true, detach: false, viewer: true },
      dataset: shortPath(io, join(packageRoot(), 'examples', 'arithmetic.jsonl')),
      name: demoName(io.now()),
      resolved: resolveRunFlags(given, io, { defaults }),
    });
  },
});

const TOOLS_DEMO = {
  ...DEMO_DEFAULTS,
  model: 'scripted',
  tool: [join(packageRoot(), 'examples', 'tools', 'calculator.ts')],
  numTurns: 1,
  limit: 12,
};

/** `demo-20261121-091355`: each demo is a new run, whose random streams are derived from its name. */
export function demoName(nowMs: number): string {
  const digits = new Date(nowMs).toISOString().replace(/\D/g, '');
  return `demo-${digits.slice(0, 8)}-${digits.slice(8, 14)}`;
}
