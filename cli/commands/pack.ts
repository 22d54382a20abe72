// `everturn pack <run>`: the files of ended rollouts become a few zips, which every command reads as it reads the files.

import { type Command, Option } from 'commander';
import { oneLine } from '../../domain/foreign-text.ts';
import { UsageError } from '../../domain/errors.ts';
import { calledAgain } from '../../storage/disk/errors.ts';
import { packRun } from '../../storage/pack/pack.ts';
import { isServerFailure } from '../../temporal/connection.ts';
import { rolloutsInFlight } from '../../temporal/runs.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openLinkIfUp } from '../find/link.ts';
import { findRun } from '../find/place.ts';
import { jsonOption, outOption } from '../flags.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { plural } from '../view/format.ts';

interface Flags {
  readonly out: string;
  readonly olderThan: string;
  readonly json?: boolean;
}

const LISTED = 20;

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  command
    .argument('<run>', "a run's name, or its folder")
    .addOption(outOption())
    .addOption(new Option('--older-than <seconds>', 'leave out rollouts that ended within this time').default('60'))
    .addOption(jsonOption('the summary as one JSON object'))
    .addHelpText(
      'after',
      '\nThe records and logs of rollouts that have ended move, byte for byte, into zips of 2,000 rollouts in `packs/`; any\n' +
        'unzip opens them. It may be killed and called again at any time, also while the run is played. Rollouts that have\n' +
        'not ended, whose workflow is not closed, or that have a flaw, stay loose. `everturn unpack` makes files of them again.\n' +
        'A pack whose manifest is gone is proved, and gets it again. Exit code 1 if a rollout with a flaw stays loose, or a\n' +
        'pack is damaged.\n\nExample:\n  everturn pack my-run',
    )
    .action(async (named: string, flags: Flags) => exit(await pack(io, named, flags)));
}

async function pack(io: Io, named: string, { out, olderThan, json }: Flags): Promise<ExitCode> {
  if (!/^\d{1,9}$/.test(olderThan)) {
    throw new UsageError(`--older-than is ${JSON.stringify(olderThan)}.`, {
      reason: 'bad-value',
      fix: 'It takes a whole number of seconds.',
    });
  }
  const { store, run } = await findRun(io, named, out);
  let listed = 0;
  const summary = await packRun(store, {
    minAgeMs: Number(olderThan) * 1000,
    inFlight: inFlightOf(io, run),
    onPack: (one) => say(io, `packs/${one.pack}: ${plural(one.rollouts.length, 'rollout')}, ${megabytes(one.bytes)}`),
    onNamedAgain: (one) => say(io, `packs/${one.pack}: its manifest was gone, and is made again`),
    onProblem(path, problem) {
      if (++listed <= LISTED) say(io, oneLine(`${path}: ${problem}`));
    },
  }).catch((error: unknown) => {
    throw calledAgain(error);
  });
  const { packs, rollouts, bytes, notEnded, problems } = summary;
  if (listed > LISTED) say(io, `… and ${listed - LISTED} more.`);
  if (json) printJson(io, { folder: store.folder, ...summary });
  else {
    const open = notEnded > 0 ? ` ${plural(notEnded, 'rollout')} not ended, or just now.` : '';
    print(io, `${plural(rollouts, 'rollout')} packed into ${plural(packs, 'file')} of ${megabytes(bytes)}.${open}`);
    if (problems > 0) say(io, `${plural(problems, 'problem')}: \`everturn check\` says more.`);
  }
  return problems > 0 ? EXIT.breach : EXIT.ok;
}

/** Without a server, or without its answer, the age of a rollout's end decides alone. */
function inFlightOf(io: Io, run: string): () => Promise<ReadonlySet<string>> {
  let saidWhy = false;
  return async () => {
    const link = await openLinkIfUp(io).catch(() => undefined);
    try {
      if (link) return await rolloutsInFlight(link.session, run);
    } catch (error) {
      if (!isServerFailure(error)) throw error;
    } finally {
      await link?.close();
    }
    if (!saidWhy) say(io, 'No Temporal server answers: a rollout counts as over if it ended long enough ago.');
    saidWhy = true;
    return new Set();
  };
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
