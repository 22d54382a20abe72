// `everturn show <run> <query>`: prints one trajectory, turn by turn.

import { type Command, Option } from 'commander';
import { explain, UsageError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import { actsOn, readActs } from '../../records/steering.ts';
import { readTrajectory } from '../../records/trajectories.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { findRollout, noRollout, rolloutArguments, whole, type WhichRollout } from '../find/rollout.ts';
import { jsonOption } from '../flags.ts';
import { plural } from '../view/format.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { paintFor } from '../view/paint.ts';
import { findRun } from '../find/place.ts';
import { trajectoryText } from '../view/trajectory-text.ts';

interface Flags extends WhichRollout {
  readonly turn?: string;
  readonly tokens?: boolean;
  readonly json?: boolean;
}

export function define(command: Command, io: Io, exit: (code: ExitCode) => void): void {
  rolloutArguments(command)
    .addOption(new Option('--turn <n>', 'only this turn'))
    .addOption(new Option('--tokens', 'each sampled token id with its log probability'))
    .addOption(jsonOption('the trajectory as one JSON object on stdout'))
    .addHelpText('after', '\nExample:\n  everturn show my-run arith-0001 --turn 2')
    .action(async (named: string, query: string, flags: Flags) => exit(await show(io, named, query, flags)));
}

async function show(io: Io, named: string, query: string, flags: Flags): Promise<ExitCode> {
  const place = await findRun(io, named, flags.out);
  // A rollout's own records say enough to show it.
  await place.store.getRun().catch((error: unknown) => say(io, `everturn: ${explain(error)}`));
  const id = await findRollout(place, query, flags);
  const trajectory = await readTrajectory(place.store, id);
  if (!trajectory) throw await noRollout(place, query);
  const only = flags.turn === undefined ? undefined : whole('--turn', flags.turn, 1);
  if (only !== undefined && only > trajectory.turns.length) {
    throw new UsageError(`--turn ${only}: that rollout has ${plural(trajectory.turns.length, 'turn')}.`, {
      reason: 'no-such-turn',
      fix: `Give a turn from 1 to ${trajectory.turns.length}.`,
    });
  }
  const acts = actsOn(await readActs(place.store, ({ message }) => say(io, `Left out: ${oneLine(message)}`)), id);
  if (flags.json) {
    const turns = trajectory.turns.filter(({ record }) => only === undefined || record.turn === only);
    printJson(io, { ...trajectory, turns, ...(acts.length > 0 && { acts: acts.map(({ act }) => act) }) });
  } else {
    print(
      io,
      trajectoryText(trajectory, { only, tokens: flags.tokens === true, paint: paintFor(io.out, io.env), acts }),
    );
  }
  return EXIT.ok;
}
