// The workflows, broken on purpose: one place of the source each. A simulator that does not find them proves
// nothing. `npm run simulate -- --mutants` prints after how many seeds each was found, and fails if one was not.

import { type Alteration, alteredBundle } from '../support/altered-bundle.ts';
import { openSandbox } from './sandbox.ts';
import { playShare } from './share.ts';

export interface Mutant {
  readonly name: string;
  readonly alteration: Alteration;
}

const MOST_SEEDS = 5000;
const mutant = (name: string, file: string, from: string, to: string): Mutant => ({
  name,
  alteration: { file, from, to },
});

export const MUTANTS: readonly Mutant[] = [
  mutant('a turn is skipped', 'workflows/rollout.ts', 'turn++', 'turn += 2'),
  mutant(
    'a turn is generated twice',
    'workflows/rollout.ts',
    'const answer = await generate(rollout, turn);',
    'await generate(rollout, turn); const answer = await generate(rollout, turn);',
  ),
  mutant('a turn is not logged', 'workflows/rollout.ts', 'await log(rollout, answer, reply);', ''),
  mutant(
    'a right answer does not stop',
    'domain/rollout/ending.ts',
    "verdict === 'right' && limits.stop",
    "verdict === 'wrong' && limits.stop",
  ),
  mutant(
    'an undecided turn goes on',
    'domain/rollout/ending.ts',
    "if (verdict === 'undecided') return 'undecided';",
    '',
  ),
  mutant(
    'undecided loses its reason',
    'domain/rollout/ending.ts',
    'turns.at(-1)?.verdict?.reason : undefined',
    'undefined : undefined',
  ),
  mutant(
    'undecided counts as wrong',
    'domain/rollout/ending.ts',
    "verdict === 'wrong' ? 0 : null",
    "verdict === 'wrong' || verdict === 'undecided' ? 0 : null",
  ),
  mutant(
    'a failed rollout has a reward',
    'domain/rollout/ending.ts',
    "outcome === 'complete' ?",
    "outcome !== 'cancelled' ?",
  ),
  mutant(
    'a failure counts as an end of turns',
    'workflows/rollout.ts',
    "return end('failed', error);",
    "return end('max-turns');",
  ),
  mutant(
    'a stop is forgotten',
    'workflows/progress.ts',
    'setHandler(stop, () => scope.cancel()',
    'setHandler(stop, () => {}',
  ),
  mutant('a stopped rollout fails', 'workflows/rollout.ts', ' && !scope.consideredCancelled', ''),
  mutant(
    'a cancelled rollout says complete',
    'workflows/rollout.ts',
    'CancellationScope.current().consideredCancelled) throw',
    'false) throw',
  ),
  mutant(
    'the end is cancelled with the rest',
    'workflows/rollout.ts',
    'CancellationScope.nonCancellable(() => finish',
    'CancellationScope.cancellable(() => finish',
  ),
  mutant('a pause is ignored by a rollout', 'workflows/progress.ts', 'paused = value;', 'paused = false; void value;'),
  mutant('a pause on the heels of a resume is ignored', 'workflows/progress.ts', 'while (paused)', 'if (paused)'),
  mutant('an end that was kept before is not heard of', 'workflows/rollout.ts', 'stored ?? wanted', 'wanted'),
  mutant(
    'the last failure is hidden by its limit',
    'workflows/failure.ts',
    'const type = last?.applicationFailureInfo?.type;',
    'const type = undefined as string | undefined;',
  ),
  mutant('a failure loses its boundary', 'workflows/failure.ts', '() => details?.[0]', '() => undefined'),
  mutant('the last failure loses its boundary', 'workflows/failure.ts', '() => detailIn(last)', '() => undefined'),
  mutant('a pause is ignored by a collection', 'domain/run/window.ts', ': !w.paused;', ': true;'),
  mutant(
    'a stop is ignored by a collection',
    'domain/run/window.ts',
    'w.stopping ? w.counting === true : !w.paused',
    '!w.paused',
  ),
  mutant(
    'one rollout too many is in flight',
    'domain/run/window.ts',
    'w.inFlight.length < w.maxConcurrent',
    'w.inFlight.length <= w.maxConcurrent',
  ),
  mutant('tune is ignored', 'workflows/steering.ts', 'steer({ maxConcurrent })', 'void maxConcurrent'),
  mutant('the memo is written all the time', 'workflows/steering.ts', '++untold < mostUntold()', 'false'),
  mutant('an update does not write the memo', 'workflows/steering.ts', 'if (state) publish();', ''),
  mutant('tune takes anything', 'workflows/steering.ts', '|| (n as number) < 1 ||', '||'),
  mutant('what comes early is forgotten', 'workflows/steering.ts', '!input.carried || steeredEarly', '!input.carried'),
  mutant(
    'a rollout in flight is lost with the history',
    'workflows/play-window.ts',
    'children.follow(state.inFlight);',
    '',
  ),
  mutant('a start in the air is left behind', 'workflows/play-window.ts', 'children.starting() === 0 &&', ''),
  mutant(
    'a rollout is counted twice',
    'domain/run/window.ts',
    'w.inFlight.splice(at, 1);\n  addResult',
    'w.inFlight.splice(at, 1);\n  addResult(w.counts, result, w.numTurns);\n  addResult',
  ),
  mutant('a unit is left out', 'domain/run/window.ts', ': unit + 1;', ': unit + 2;'),
  mutant('rollouts in flight are not cancelled', 'workflows/play-window.ts', 'player.onStop(children.cancelAll);', ''),
  mutant(
    'a start that crosses a stop is not cancelled',
    'workflows/children.ts',
    'if (state.stopping) cancel(unit);',
    '',
  ),
  mutant(
    'a cancelled collection says complete',
    'workflows/collection.ts',
    'if (root.consideredCancelled) throw',
    'if (false) throw',
  ),
  mutant(
    'a rollout that is there is started over',
    'workflows/children.ts',
    'error instanceof WorkflowExecutionAlreadyStartedError ||',
    '',
  ),
  mutant(
    'an end that cannot be learned is nobody’s',
    'workflows/children.ts',
    'follow: (units) => void follow(units).catch(fail)',
    'follow: (units) => void follow(units)',
  ),
  mutant(
    'the time decides when a history is left behind',
    'workflows/history-length.ts',
    'EVENTS_PER_STEP * steps >=',
    'EVENTS_PER_STEP * steps + (Date.now() % 40) >=',
  ),
];

/** The number of seeds that it took; undefined when it was not found. */
export async function seedsToFind(
  root: string,
  { alteration }: Mutant,
): Promise<{ seeds: number; message: string } | undefined> {
  const sandbox = openSandbox(await alteredBundle([alteration], { root, sharesDomain: true }), '/workflow-bundle.js');
  const { runs, breaches } = await playShare(sandbox, { first: 1, last: MOST_SEEDS, step: 1, mostBreaches: 1 });
  return breaches[0] && { seeds: runs, message: breaches[0].message };
}

export async function huntMutants(root: string): Promise<number> {
  let survived = 0;
  for (const mutant of MUTANTS) {
    const found = await seedsToFind(root, mutant);
    if (!found) survived++;
    console.log(`${found ? `seed ${String(found.seeds).padStart(4)}` : 'NOT FOUND'}  ${mutant.name}`);
    if (found && process.env['VERBOSE']) console.log(`           ${found.message.slice(0, 160)}`);
  }
  console.log(`${MUTANTS.length - survived} of ${MUTANTS.length} mutants found within ${MOST_SEEDS} seeds each`);
  return survived;
}
