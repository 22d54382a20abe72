// `everturn log <run>`: the numbers of a run at each weight version, one JSON line each, until the run has ended.
// `python3 -m everturn.log` hands them to Weights & Biases or TensorBoard.

import { versionsOfRun } from '../../library/versions.ts';
import { command } from '../command.ts';
import { findRun } from '../find/place.ts';
import { OUT, RUN_ARGUMENT } from '../flags.ts';
import { printJson, say } from '../io.ts';

export const log = command({
  args: RUN_ARGUMENT,
  flags: { out: OUT, follow: { no: 'only what is known now, without waiting for the end', fallback: true } },
  help: 'A line: {"version", "rollouts", "meanReturn", "right", "tokens", "staleness"}, null where nothing is known; an\nevaluated version (--eval) also has {"eval": {"run", "rollouts", "right", "meanReturn", "tokens", "answeredBy"}}.\n\nExample:\n  everturn log first > first.jsonl',
  async run(io, { run, out, follow }) {
    const onWait = (version: number, why: string) => say(io, `Version ${version} waits: ${why}.`);
    const following = { follow, signal: io.interrupted(), onWait };
    for await (const at of versionsOfRun(await findRun(io, run, out), following)) printJson(io, at);
  },
});
