// `everturn extend <run> <query> --turns n`: a new run that plays n further turns of a rollout that played all of its own.

import { type Command, Option } from 'commander';
import { UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { unfitRewards } from '../../domain/rollout/reward.ts';
import { resolveOptions } from '../../run/config.ts';
import type { ExitCode } from '../exit.ts';
import { mustBeText, personOf } from '../find/person.ts';
import { findRun, programName, runArgument, shellQuoted } from '../find/place.ts';
import { findRollout, whole } from '../find/rollout.ts';
import { sourceOf } from '../find/source.ts';
import type { Io } from '../io.ts';
import { actArguments, type ActFlags, MOST_REASON_CHARS, MOST_TEXT_CHARS, nameOf, reasonOption } from '../play/act.ts';
import { launchFork } from '../play/fork-launch.ts';

interface Flags extends ActFlags {
  readonly turns: string;
  readonly say?: string;
  readonly name?: string;
  readonly detach?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  actArguments(command)
    .addOption(new Option('--turns <n>', 'further turns').makeOptionMandatory())
    .addOption(new Option('--say <text>', 'a message to the model, behind the feedback before the first of them'))
    .addOption(new Option('--name <run>', 'name of the new run (default: derived from its content)'))
    .addOption(reasonOption())
    .addOption(new Option('--detach', 'return as soon as it has started'))
    .addHelpText(
      'after',
      '\nA fork behind the last turn: the rollout itself, its returns and its accuracy stay as they are. docs/steer.md\n\n' +
        'Example:\n  everturn extend my-run arith-0007 --turns 2',
    )
    .action(async (named: string, query: string, flags: Flags) => exit(await extend(io, named, query, flags)));
}

async function extend(io: Io, named: string, query: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  const further = whole('--turns', flags.turns, 1);
  const said = flags.say === undefined ? null : mustBeText('--say', flags.say, MOST_TEXT_CHARS, true);
  const reason = flags.reason === undefined ? null : mustBeText('--reason', flags.reason, MOST_REASON_CHARS);
  const id = await findRollout(place, query, flags);
  const end = (await place.store.getEnd(id))?.record;
  if (end && end.stopReason !== 'max-turns') {
    const me = `${programName(io)} ${end.outcome === 'complete' ? 'fork' : 'retry'} ${runArgument(io, place)}`;
    throw new UsageError(
      `${oneLine(nameOf(id, null))} ended by ${end.stopReason}; only a rollout that played all of its turns is extended.`,
      {
        reason: 'not-allowed',
        fix:
          end.outcome === 'cancelled'
            ? 'Begin another run.'
            : `\`${me} ${shellQuoted(oneLine(query))}\` plays it again.`,
      },
    );
  }
  const source = await sourceOf(io, place, id, { turn: undefined, numTurns: (played) => played + further });
  // The same limits as of --num-turns.
  const { numTurns } = resolveOptions({ flags: { numTurns: String(source.parent.turn - 1 + further) } }).options;
  const unfit = unfitRewards(source.trajectory.rollout.settings, numTurns);
  if (unfit !== null) {
    throw new UsageError(`With ${numTurns} turns, the rewards of this run ${unfit}.`, {
      reason: 'bad-rewards',
      fix: 'Give fewer --turns.',
    });
  }
  return launchFork(io, {
    ...{ place, source, how: 'extend', said, by: await personOf(io, flags.by), reason, numTurns, samples: 1 },
    name: flags.name,
    detach: flags.detach === true,
    dryRun: flags.dryRun === true,
    json: flags.json === true,
  });
}
