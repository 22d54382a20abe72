// `everturn fork <run> <query> --from-turn k`: a new run that plays a rollout again from one of its turns on.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import type { ExitCode } from '../exit.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRun } from '../find/place.ts';
import { findRollout, whole } from '../find/rollout.ts';
import { sourceOf } from '../find/source.ts';
import type { Io } from '../io.ts';
import { actArguments, type ActFlags, MOST_REASON_CHARS, MOST_TEXT_CHARS, reasonOption } from '../play/act.ts';
import { launchFork } from '../play/fork-launch.ts';

interface Flags extends ActFlags {
  readonly fromTurn: string;
  readonly say?: string;
  readonly samples: string;
  readonly name?: string;
  readonly detach?: boolean;
}

const MOST_SAMPLES = 10_000;

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .addOption(new Option('--from-turn <k>', 'the first turn that is played again').makeOptionMandatory())
    .addOption(new Option('--say <text>', 'a message to the model, behind the feedback before that turn'))
    .addOption(new Option('--samples <n>', 'rollouts of the fork').default('1'))
    .addOption(new Option('--name <run>', 'name of the new run (default: derived from its content)'))
    .addOption(reasonOption())
    .addOption(new Option('--detach', 'return as soon as the fork has started'))
    .addHelpText(
      'after',
      '\nThe turns before it are carried over as copies with their hashes; the run itself is only read. Own turns alone are\n' +
        'trained on; a fork with --say is exported with --human-turns include. docs/steer.md\n\nExample:\n' +
        '  everturn fork my-run arith-0007 --from-turn 2 --say "Check the sign." --name what-if',
    )
    .action(async (named: string, query: string, flags: Flags) => exit(await fork(io, named, query, flags)));
}

async function fork(io: Io, named: string, query: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  const turn = whole('--from-turn', flags.fromTurn, 1);
  const samples = whole('--samples', flags.samples, 1);
  if (samples > MOST_SAMPLES) {
    throw new UsageError(`--samples is ${samples}.`, { reason: 'bad-value', fix: `It takes 1 to ${MOST_SAMPLES}.` });
  }
  const said = flags.say === undefined ? null : mustBeText('--say', flags.say, MOST_TEXT_CHARS, true);
  if (said !== null && turn === 1) {
    throw new UsageError('Turn 1 shows the question, and no feedback that a message could follow.', {
      reason: 'not-allowed',
      fix: 'Fork from turn 2 or later, or play a row with another question.',
    });
  }
  const reason = flags.reason === undefined ? null : mustBeText('--reason', flags.reason, MOST_REASON_CHARS);
  const id = await findRollout(place, query, flags);
  const { numTurns = 1 } = (await place.store.getRollout(id))?.record.settings ?? {};
  const source = await sourceOf(io, place, id, { turn, numTurns: () => numTurns });
  return launchFork(io, {
    ...{ place, source, how: 'fork', said, by: await personOf(io, flags.by), reason, numTurns, samples },
    name: flags.name,
    detach: flags.detach === true,
    dryRun: flags.dryRun === true,
    json: flags.json === true,
  });
}
