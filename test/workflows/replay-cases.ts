// For replay.test.ts: workflows that do something else than those of today, each with the histories that must
// catch it, and the blocks that no replay can run.

import type { Alteration } from '../support/altered-bundle.ts';
import { NEXT_RELEASE, PREVIOUS_RELEASE, UNPATCHED } from '../support/releases.ts';
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
      { file: 'workflows/rollout.ts', from: 'isCancellation, patched }', to: 'isCancellation, patched, sleep }' },
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
  altered(
    'code is judged as math is',
    /for-code|of-code|undecided/,
    'steps',
    "task === 'code' ? judgingCode : light",
    'light',
  ),
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
  altered('a pause that holds nothing', /rollout-paused/, 'progress', '\n      await condition(() => !paused);', ''),
  altered(
    'a paused run that goes on',
    /collection-paused/,
    'steering',
    'setHandler(pause, () => steer({ paused: true })',
    'setHandler(pause, () => steer({ paused: false })',
  ),
  altered(
    'a failure that ends the workflow',
    /rollout-failed/,
    'rollout',
    "return end('failed', error);",
    'throw error;',
  ),
  altered(
    'a window that is one too wide',
    /collection-tuned/,
    '../domain/window',
    'w.inFlight.length < w.maxConcurrent',
    'w.inFlight.length <= w.maxConcurrent',
  ),
  altered(
    'no stored result of a run',
    /collection-whole/,
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
    'if (rest.ended) count(unit, rest.ended);\n      else ',
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
    'history-steps',
    'historyLength >= maxHistoryEvents',
    'historyLength >= 9 + maxHistoryEvents',
  ),
  altered(
    'a length that is another one where a page lasted through several tasks',
    /collection-alike-first/,
    'history-steps',
    'if (byCount) return EVENTS_PER_STEP * steps >= maxHistoryEvents;',
    '',
  ),
  altered(
    'a lease whose timer goes on when it is renewed',
    /feed-alike-leases/,
    'feed-verbs',
    'if (history.byCount) rules.renewLease(stateOf()!, found, until);',
    'if (history.byCount) found.until = until;',
  ),
  altered('a stop that cancels nothing', /collection-stopped/, 'play-window', 'player.onStop(children.cancelAll);', ''),
  altered(
    'a stop on which failing work makes the rollout failed',
    /while-(refusing|judging)/,
    'rollout',
    'scope.consideredCancelled && patched(STOPPED_NOT_FAILED)',
    'false',
  ),
  altered(
    'what comes before a continued collection is there, forgotten',
    /steered-early/,
    'steering',
    '(steeredEarly && patched(STEERED_EARLY))',
    'false',
  ),
  altered('a memo that is written all the time', /collection-told/, 'steering', 'now - toldAt < MEMO_MS', 'false'),
  altered('an update that does not write the memo', /collection-told/, 'steering', 'if (state) publish();', ''),
  altered('a patch of the memo that goes', /^0\.1\.0\/collection/, 'steering', ' || !patched(TOLD_IN_MEMO)', ''),
  ...OF_BLOCKS,
  // The procedure of CONTRIBUTING.md, broken.
  { what: 'a change without a patch', caughtBy: /^0\.1\.0\/rollout-(right|folder)/, alterations: UNPATCHED },
  { what: 'a change that is taken back', caughtBy: /rollout-found/, alterations: PREVIOUS_RELEASE },
  {
    what: 'a patch that goes while older rollouts play',
    caughtBy: /^0\.1\.0\/rollout-(right|folder)/,
    alterations: NEXT_RELEASE,
  },
];

/** Limits and titles are no commands: these change in any release. */
export const HARMLESS: readonly Alteration[] = [
  { file: 'workflows/steps.ts', from: "'2 hours'", to: "'3 hours'" },
  { file: 'workflows/steps.ts', from: "summary: 'fix the query'", to: "summary: 'fixes the query'" },
  { file: 'workflows/collection-steps.ts', from: "'6 hours'", to: "'7 hours'" },
];

/** Queries and validators of Updates are never part of a history; a bug is in none that we keep. */
export const NEVER_REPLAYED: readonly { readonly file: string; readonly code: RegExp }[] = [
  // A history has no worker's version: test/local/service/worker-versions.test.ts.
  { file: 'index.ts', code: /^\? (void 0|\{\s*versioningBehavior: 'PINNED'\s*\})$/ },
  { file: 'steering.ts', code: /^\(\)=>progressOf\(/ },
  { file: 'steering.ts', code: /^\(tuning\)=>\{/ },
  // Progress before the window is open is asked for by queries only.
  {
    file: 'steering.ts',
    code: /^(: asked|\? 'accepting'|\? void 0|: 0|: \(0,_domain_progress_ts\S*\.noCounts\)\(\))$/,
  },
  { file: 'progress.ts', code: /^\(\)=>\{\s*var _ref;\s*return \{\s*query:/ },
  // Its validator, and what only the validator asks for.
  { file: 'say.ts', code: /^\((?:message|param)\)=>\{/ },
  { file: 'progress.ts', code: /numTurns/ },
  // A stop while the start of a rollout that is there already is refused; that of late ones is caught above.
  { file: 'children.ts', code: /^(else throw error;|: 'error'|cancel\(unit\);)$/ },
  // What the compiler makes of `?.` and `??` where nothing is missing: a failure has a type, its details have payloads.
  { file: 'failure.ts', code: /^(: 'error'|\? void 0|\|\| _failure_applicationFailureInfo_details === void 0)$/ },
  // A kind of failure that no server sends for an activity today.
  { file: 'failure.ts', code: /^(&& unknown\(activity\)|function unknown\()/ },
  { file: 'rollout.ts', code: /^throw error;$/ },
  // The compiler's helper for `...`, which opens the module behind this one in the bundle.
  { file: 'payloads.ts', code: /^(\{\s*Object\.defineProperty\(obj, key|: \{\}$|function\(sym\))/ },
  // A user's queue without a worker for a day; failures that no server sends for an activity, and those without a type.
  {
    file: 'own-queue.ts',
    code: /^(throw error;|: \{\s*reason: 'environment-not-served'|: 'error'|: String\(cause)/,
  },
  // What the bundler adds for names that one file takes from another, and the compiler for `{ ...spread }`; below, too.
  { file: 'messages.ts', code: /\bbinding\b/ },
  { file: 'collection-steps.ts', code: /\bObject\b|^: \{\}$/ },
  { file: 'search-attributes.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'collection.ts', code: /\bObject\b|^: \{\}$/ },
  // Validators and queries leave nothing in a history.
  { file: 'feed-verbs.ts', code: /^(\(\)=>true|\(given\)=>\{|\(state, given\)=>given\.wait|\(\)=>stateOf\(\) \?)/ },
  // A rule that changed between validator and handler: only where two updates come in one task.
  { file: 'feed-verbs.ts', code: /^throw .*refusal\)\(checked\);$/ },
  // The same version published by another feed while the weights were loaded.
  { file: 'feed-verbs.ts', code: /^return \{\s*version: given\.version,\s*already: true/ },
  { file: 'feed-ledger.ts', code: /^(throw error;|\? error\.cause)$/ },
  { file: 'feed-weights.ts', code: /^(\? void 0|: ''|\? cause\.message|\? rootOf\(error\.cause\))$/ },
  { file: 'feed.ts', code: /^(throw error;|\? _s_restarts_key)$/ },
  // Nobody hears of an end whose report fails: records have it. What stops a block is set before anything can stop it.
  { file: 'block.ts', code: /^\(\)=>\{\}$/ },
  // Only where a block continues as new in the seconds between its stop and its end.
  { file: 'block.ts', code: /^act\(\);$/ },
  // The execution behind that of blocks-outgrown.
  { file: 'blocks.ts', code: /^\? before$/ },
  { file: 'play-window.ts', code: /^\? void 0$/ },
  // A bug of ours; and the last look of a run that is over.
  { file: 'blocks.ts', code: /^(failure = \{|: error|return;)/ },
  { file: 'block.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'blocks.ts', code: /\bObject\b|^: \{\}$|ownKeys|_object_without|^(return \{\};|continue;)$/ },
  { file: 'patches.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'steering.ts', code: /^: \{\s*done: 0,/ },
  {
    file: 'failure.ts',
    code: /^(\{|: \{\}|else \{|function\(sym\) \{|function\(key\) \{|function ownKeys|\(\) => \(\/\* binding)/,
  },
  { file: 'feed-ledger.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'feed-leases.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'feed-steps.ts', code: /\bbinding\b|\bObject\b|^: \{\}$|ownKeys|_object_without|^(return \{\};|continue;)$/ },
  { file: 'feed-verbs.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'feed-weights.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'feed.ts', code: /\breexport\b/ },
  { file: 'update-weights.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  { file: 'steps.ts', code: /\bObject\b|^: \{\}$|ownKeys/ },
  // A bug of ours, not a step that failed.
  { file: 'update-weights.ts', code: /^throw error;\s*\}?$/ },
  { file: 'weights-steps.ts', code: /^throw error;$/ },
];
