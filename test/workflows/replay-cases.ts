// For replay.test.ts: workflows that do something else than those of today, each with the histories that must
// catch it, and the blocks that no replay can run.

import type { Alteration } from '../support/altered-bundle.ts';
import { altered, type AlteredWorkflow, OF_BLOCKS } from './replay-block-cases.ts';

const JUDGE = 'const reply = await evaluate(rollout, answer, task, environment);\n';
const LOG = '    await log(rollout, answer, reply);\n';

export const ALTERED: readonly AlteredWorkflow[] = [
  altered(
    'a turn is logged before it is judged',
    /rollout-right/,
    'rollout',
    JUDGE + LOG,
    LOG.replace('verdict', "{ verdict: 'right', reason: '' }") + JUDGE,
  ),
  altered('a turn is not logged', /rollout-right/, 'rollout', LOG, ''),
  altered('a turn is logged twice', /rollout-right/, 'rollout', LOG, LOG + LOG),
  {
    what: 'a timer before each turn',
    caughtBy: /rollout-right/,
    alterations: [
      { file: 'workflows/rollout.ts', from: 'isCancellation }', to: 'isCancellation, sleep }' },
      { file: 'workflows/rollout.ts', from: 'await progress.mayBegin(turn);', to: 'await sleep(1);' },
    ],
  },
  altered(
    'math is judged as code is',
    /rollout-right/,
    'steps',
    "task === 'code' ? judgingCode : light",
    'judgingCode',
  ),
  altered('code is judged as math is', /of-code/, 'steps', "task === 'code' ? judgingCode : light", 'light'),
  altered(
    'an activity of another type',
    /rollout-right/,
    'steps',
    'light.log.executeWithOptions',
    'light.evaluate.executeWithOptions',
  ),
  altered(
    'calls that change nothing, one after the other',
    /rollout-tools/,
    'steps',
    'if (pure) running = [...running, asked];',
    'if (pure) await asked;',
  ),
  altered(
    'no last step after a cancellation',
    /rollout-cancelled/,
    'rollout',
    'await CancellationScope.nonCancellable(() => finish(wanted, failure?.message ?? null));',
    'await finish(wanted, failure?.message ?? null);',
  ),
  altered(
    'a cancelled generation is not waited for',
    /rollout-(cancelled|stopped)/,
    'steps',
    'ActivityCancellationType.WAIT_CANCELLATION_COMPLETED',
    'ActivityCancellationType.TRY_CANCEL',
  ),
  altered(
    'no search attributes at the end',
    /rollout-right/,
    'progress',
    '      upsertSearchAttributes([\n        { key: RUN',
    '      void ([\n        { key: RUN',
  ),
  altered(
    'a pause that holds nothing',
    /rollout-paused/,
    'progress',
    'while (paused) await condition(() => !paused);',
    '',
  ),
  altered(
    'a paused run that goes on',
    /collection-paused/,
    'steering',
    'setHandler(pause, () => steer({ paused: true })',
    'setHandler(pause, () => steer({ paused: false })',
  ),
  altered(
    'a failure that ends the workflow',
    /rollout-(timed-out|queue-not-begun)/,
    'rollout',
    "return end('failed', error);",
    'throw error;',
  ),
  altered(
    'a window that is one too wide',
    /collection-continued/,
    '../domain/run/window',
    'w.inFlight.length < w.maxConcurrent',
    'w.inFlight.length <= w.maxConcurrent',
  ),
  altered(
    'no stored result of a run',
    /collection-again/,
    'collection',
    'await conclude({ out: input.out, result: ended });',
    '',
  ),
  altered(
    'rollouts that start late and are not cancelled',
    /collection-stopped/,
    'children',
    'if (state.stopping) cancel(unit);',
    '',
  ),
  altered(
    'rollouts that are played again',
    /collection-again/,
    'children',
    'if (rest.ended) return count(unit, rest.ended);',
    '',
  ),
  altered(
    'rollouts in flight that are forgotten',
    /collection-continued/,
    'play-window',
    'children.follow(state.inFlight);',
    '',
  ),
  altered(
    'a history that is left behind later',
    /collection-continued/,
    'history-length',
    '>= maxHistoryEvents',
    '>= 9 + maxHistoryEvents',
  ),
  {
    what: 'a length that is another one where a page lasted through several tasks',
    caughtBy: /collection-alike-first/,
    alterations: [
      {
        file: 'workflows/history-length.ts',
        from: 'export interface HistoryLength',
        to: "import { workflowInfo } from '@temporalio/workflow';\nexport interface HistoryLength",
      },
      {
        file: 'workflows/history-length.ts',
        from: 'EVENTS_PER_STEP * steps >= maxHistoryEvents',
        to: 'workflowInfo().historyLength >= maxHistoryEvents',
      },
    ],
  },
  altered('a stop that cancels nothing', /collection-stopped/, 'play-window', 'player.onStop(children.cancelAll);', ''),
  altered(
    'a stop on which failing work makes the rollout failed',
    /while-(refusing|judging)/,
    'rollout',
    ' && !scope.consideredCancelled',
    '',
  ),
  altered('a memo that is written all the time', /collection-told/, 'steering', '++untold < mostUntold()', 'false'),
  altered('an update that does not write the memo', /collection-told/, 'steering', 'if (state) publish();', ''),
  ...OF_BLOCKS,
];

/** Limits and titles are no commands: these change in any release. */
export const HARMLESS: readonly Alteration[] = [
  { file: 'workflows/steps.ts', from: "'2 hours'", to: "'3 hours'" },
  { file: 'workflows/steps.ts', from: "summary: 'fix the query'", to: "summary: 'fixes the query'" },
  { file: 'workflows/collection-steps.ts', from: "'6 hours'", to: "'7 hours'" },
];

/** `file`: without it, any. */
export interface NeverReplayed {
  readonly file?: RegExp;
  readonly code: RegExp;
}

export const NEVER_REPLAYED: readonly NeverReplayed[] = [
  // What the compiler and the bundler add: helpers of `...`, names that one file takes from another, `?.` where nothing is missing.
  {
    code: /\bObject\b|\bownKeys\b|_object_without|\/\* (binding|reexport)|^(: \{\}|: 0|return \{\};|continue;|\? void 0)$/,
  },
  // Queries, and validators of Updates, leave nothing in a history; nor does progress before it is open.
  { file: /^(agent|feed-verbs|progress|say|steering)$/, code: /^\((|asked|given|message|state, given|tuning)\)=>/ },
  { file: /^steering$/, code: /^(: asked|\? 'accepting'|: \{\s*done: 0)/ },
  // A bug of ours, not a step that failed; and failures of kinds that no server sends today.
  {
    code: /^((else )?throw error;\s*\}?|: error|: 'error'|: 'activity'|: cause\.message|: String\(cause.*|\? error\.cause|\? rootOf\(error\.cause\)|: ''|&& unknown\(activity\)|(failure = \{|function unknown\()[^]*)$/,
  },
  // Two requests in one task, of which the first decides: a second stop, the same version twice, a block that ends as it is told to.
  {
    file: /^(blocks?|collection|feed-verbs|steering)$/,
    code: /^(return;|act\(\);|\(\)=>\{\}|return \{\s*version,\s*already: true\s*\};)$/s,
  },
  // Fields that these histories lack: several epochs, rollouts of before a run outgrew its workflow, a second try of one member.
  {
    file: /^(blocks|feed|play-window)$/,
    code: /^(: \{\s*(epochs|queries)\s*\}|\? _s_restarts_key|\(cause\)=>failure = .*)$/s,
  },
  // A start that the server refuses after the window was told to stop.
  { file: /^children$/, code: /^cancel\(unit\);$/ },
  // A worker's version (test/local/service/worker-versions.test.ts), and a user's queue without a worker for a day.
  { file: /^(index|own-queue)$/, code: /'PINNED'|'environment-not-served'/ },
];
