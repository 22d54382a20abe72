// `everturn check <run>`: proves what a run's folder promises; one line per breach.

import type { Command } from 'commander';
import { checkRun } from '../storage/check.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { jsonOption, outOption } from './flags.ts';
import { oneLine, plural } from './format.ts';
import { type Io, print, printJson, say } from './io.ts';
import { findRun } from './place.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(jsonOption('one breach a line as JSON, then the summary'))
    .addHelpText(
      'after',
      '\nEach (query, sample, turn) stands once, contiguous, judged and logged once; every hash and reward is right.\n' +
        'Exit code 1 and one line per breach where that is not so.\n\nExample:\n  everturn check my-run',
    )
    .action(async (named: string, flags: Flags) => {
      const { store } = findRun(io, named, flags.out);
      const summary = await checkRun(store, (breach) => {
        if (flags.json) printJson(io, { event: 'breach', ...breach });
        else print(io, `${oneLine(breach.path)}: ${oneLine(breach.problem)}`);
      });
      if (flags.json) printJson(io, { event: 'summary', folder: store.folder, ...summary });
      else {
        const { rollouts, turns, ended, unfinished, breaches } = summary;
        const open = unfinished > 0 ? `, ${unfinished} not ended` : '';
        const all = `${plural(rollouts, 'rollout')} (${ended} ended${open}), ${plural(turns, 'turn')}`;
        if (breaches === 0) print(io, `${all}: all is right.`);
        else say(io, `${all}: ${plural(breaches, 'breach', 'breaches')}.`);
      }
      exit(summary.breaches === 0 ? EXIT.ok : EXIT.breach);
    });
}
