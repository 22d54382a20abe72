// `everturn watch <run>`: follows a run to its end, from any terminal.

import { type Command, Option } from 'commander';
import { resolveOptions } from '../../run/config.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { showEnding } from '../play/ending.ts';
import type { ExitCode } from '../exit.ts';
import { jsonOption, outOption } from '../flags.ts';
import { fillsScreen, followToEnd } from '../play/follow-to-end.ts';
import { locateRun } from '../find/locate.ts';
import { say, type Io } from '../io.ts';
import { openLink } from '../find/link.ts';
import { knownResult } from '../find/recorded.ts';

interface Flags {
  readonly out: string;
  readonly json?: boolean;
  readonly plain?: boolean;
  readonly maxFailed?: string;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(
      new Option(
        '--max-failed <n>',
        `exit with code 3 if more rollouts than this fail (default: ${DEFAULT_OPTIONS.maxFailed})`,
      ),
    )
    .addOption(new Option('--plain', 'one line instead of the whole terminal'))
    .addOption(jsonOption('events as JSON lines on stdout, everything else on stderr'))
    .addHelpText(
      'after',
      '\nCtrl-C detaches; the run continues. Exit codes as of `everturn run`.\n\nExample:\n  everturn watch my-run',
    )
    .action(async (named: string, flags: Flags) => exit(await watch(io, named, flags)));
}

async function watch(io: Io, named: string, flags: Flags): Promise<ExitCode> {
  const { maxFailed } = resolveOptions({ environment: io.env, flags: { maxFailed: flags.maxFailed } }).options;
  const json = flags.json === true;
  const place = await locateRun(io, named, flags.out);
  const result = await knownResult(place);
  if (result) return showEnding(io, { place, result, maxFailed, url: null, local: false, tookMs: null }, json);
  const link = await openLink(io);
  try {
    const screen = !json && flags.plain !== true;
    if (!json && !(screen && fillsScreen(io))) say(io, 'Ctrl-C detaches; the run continues.');
    return await followToEnd(io, link, place, { maxFailed, json, screen });
  } finally {
    await link.close();
  }
}
