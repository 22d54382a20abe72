// Rollouts, each ended, failed or steered in another way. `npm run record-histories` plays those that have
// no file yet.

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll } from 'vitest';
import { JudgeError, ModelError, StoreError } from '../../domain/errors/errors.ts';
import { PAUSED_AGAIN } from '../../workflows/patches.ts';
import { RUN } from '../../workflows/search-attributes.ts';
import { type Reached, recorder, RIGHT, type Scenario, send, WRONG } from './recorder.ts';

const { rig, open, close, rollout, scenario, script, start } = recorder();
beforeAll(open);
afterAll(close);

const always = () => WRONG;
const never = () => new Promise<string>(() => {});
const secondTurn = ({ turn }: Reached) => (turn === 1 ? WRONG : RIGHT);
const gone = (retryable: boolean) => new StoreError('The disk is gone.', { reason: 'io-error', retryable });
const code = { task: 'code', input_output: { inputs: ['1'], outputs: ['1'] } };

// What ends it.
rollout('rollout-right-at-once', { settings: { numTurns: 3 } });
rollout('rollout-never-right', { settings: { numTurns: 5 } }, { answer: always });
rollout('rollout-stop-on-success', { settings: { numTurns: 5, stop: 'success' } }, { answer: secondTurn });
rollout('rollout-many-turns', { settings: { numTurns: 12, turnDiscount: 0.9 } }, { answer: always });
rollout('rollout-context-length', { settings: { numTurns: 9 } }, { answer: () => `${'so '.repeat(100)}${RIGHT}` });
rollout('rollout-truncated', { settings: { numTurns: 2, maxNewTokens: 4 } });
rollout('rollout-undecided', { row: code });
rollout('rollout-second-sample', { sample: 1, attempt: 2, settings: { numTurns: 1 } });
rollout('rollout-chunks-over-versions', { settings: { numTurns: 2, newTokensPerChunk: 4 } }, { version: (n) => n });
rollout('rollout-delta-feedback', { settings: { numTurns: 3, feedback: 'delta' } }, { answer: always });

// A person's message, sent twice while the first answer is generated.
rollout(
  'rollout-said',
  { settings: { numTurns: 3 } },
  {
    answer: always,
    async at({ step, turn }, handle) {
      if (step !== 'generate' || turn !== 1) return;
      const args: [object] = [{ text: 'Check the sign.', by: 'anna' }];
      for (let i = 0; i < 2; i++) handle.executeUpdate<unknown, [object]>('say', { args }).catch(() => {});
      await sleep(300);
    },
  },
);

// What fails.
const busy = new ModelError('Busy.', { reason: 'server-busy', retryable: true });
const refused = new ModelError('No such model.', { reason: 'model-not-found' });
rollout(
  'rollout-retried-generation',
  { settings: { numTurns: 2 } },
  {
    at({ step, tries }) {
      if (step === 'generate' && tries < 3) throw busy;
    },
  },
);
rollout(
  'rollout-failed',
  { settings: { numTurns: 3 } },
  {
    at({ step, turn }) {
      if (step === 'generate' && turn === 2) throw refused;
    },
  },
);
// Since failures carry their boundary; those recorded before have none.
rollout(
  'rollout-failed-with-its-boundary',
  {},
  { at: ({ step }) => (step === 'generate' ? Promise.reject(refused) : 0) },
);
rollout('rollout-failed-prompt-too-long', { row: { question: 'x'.repeat(1000) } });
rollout('rollout-failed-no-such-row', { row: { question: 7 } });
scenario('rollout-failed-no-query', {}, async () => {
  const handle = await start('rollout', 'recorded/nothing/0', { run: 'recorded' });
  await handle.result().catch(() => {});
  return handle;
});
/** A step that fails for good, or so many times. */
const failing = (wanted: Reached['step'], times: number, error: Error): Scenario => ({
  answer: always,
  at({ step, tries }) {
    if (step === wanted && tries <= times) throw error;
  },
});
rollout('rollout-failed-in-judging', {}, failing('judge', Infinity, gone(false)));
rollout('rollout-failed-in-logging', {}, failing('log', Infinity, gone(false)));
rollout('rollout-failed-in-finishing-once', { settings: { numTurns: 1 } }, failing('finish', 1, gone(false)));
rollout('rollout-failed-in-finishing', { settings: { numTurns: 1 } }, failing('finish', Infinity, gone(false)));
rollout('rollout-broken-judge', {}, failing('judge', Infinity, new JudgeError('Broken.', { reason: 'judge-process' })));
rollout('rollout-broken-judge-for-code', { row: code }, failing('judge', Infinity, gone(false)));
rollout('rollout-retried-judging', { settings: { numTurns: 2 } }, failing('judge', 2, gone(true)));
rollout('rollout-retried-logging', { settings: { numTurns: 2 } }, failing('log', 3, gone(true)));
rollout('rollout-retried-finishing', { settings: { numTurns: 1 } }, failing('finish', 2, gone(true)));
// Retries that wait longer than a local activity may: the wait becomes a timer of the workflow.
rollout('rollout-folder-away-for-a-minute', { settings: { numTurns: 1 } }, failing('open', 8, gone(true)));
rollout('rollout-folder-away-between-turns', { settings: { numTurns: 2 } }, failing('log', 8, gone(true)));

// How people steer it: in each of its steps.
const when = (wanted: Reached['step'], turn: number, ...what: Parameters<typeof send>[1][]): Scenario => ({
  answer: always,
  async at({ step, ...at }, handle) {
    if (step === wanted && Math.max(at.turn, at.tries) === turn) for (const one of what) await send(handle, one);
  },
});
const hanging = (what: Parameters<typeof send>[1]): Scenario => ({ ...when('generate', 1, what), answer: never });
/** So long that the server asks for a sign of life, and what was asked for arrives in the middle. */
const slowly = (wanted: Reached['step'], scenario: Scenario): Scenario => ({
  ...scenario,
  async at(reached, handle) {
    await scenario.at?.(reached, handle);
    if (reached.step === wanted && reached.tries === 1) await sleep(10_000);
  },
});
rollout('rollout-cancelled', {}, hanging('cancel'));
rollout('rollout-cancelled-in-opening', {}, when('open', 1, 'cancel'));
rollout('rollout-cancelled-in-judging', {}, when('judge', 1, 'cancel'));
rollout('rollout-cancelled-in-long-judging', {}, slowly('judge', when('judge', 1, 'cancel')));
rollout('rollout-cancelled-in-judging-of-code', { row: code }, when('judge', 1, 'cancel'));
rollout('rollout-cancelled-in-logging', {}, when('log', 2, 'cancel'));
rollout('rollout-cancelled-in-finishing', { settings: { numTurns: 1 } }, when('finish', 1, 'cancel'));
rollout('rollout-stopped', {}, hanging('stop'));
rollout('rollout-stopped-in-opening', {}, when('open', 1, 'stop'));
rollout('rollout-stopped-in-judging', {}, when('judge', 2, 'stop'));
rollout('rollout-stopped-in-long-judging', {}, slowly('judge', when('judge', 1, 'stop')));
rollout('rollout-stopped-in-logging', {}, when('log', 1, 'stop'));
rollout('rollout-stopped-in-finishing', { settings: { numTurns: 1 } }, when('finish', 1, 'stop'));
rollout(
  'rollout-cancelled-while-retrying',
  {},
  {
    async at({ step, tries }, handle) {
      if (step !== 'generate') return;
      if (tries === 3) await send(handle, 'cancel');
      throw busy;
    },
  },
);
rollout(
  'rollout-cancelled-while-folder-is-away',
  {},
  {
    async at({ step, tries }, handle) {
      if (step !== 'log') return;
      if (tries === 8) void sleep(3000).then(() => handle.cancel());
      throw gone(true);
    },
  },
);
rollout('rollout-stopped-and-cancelled', {}, { ...when('generate', 1, 'stop', 'cancel'), answer: never });

/** Paused in a step, then, a while later, this. */
const paused = (name: string, step: Reached['step'], turn: number, ...then: Parameters<typeof send>[1][]) =>
  scenario(name, when(step, turn, 'pause'), async () => {
    const handle = await start('rollout', `recorded/${name}/0`, {
      run: 'recorded',
      row: { query_id: name, question: 'What is 2 + 2?', answer: '4' },
      settings: { numTurns: 3 },
    });
    await sleep(3000);
    for (const one of then) await send(handle, one);
    await handle.result().catch(() => {});
    return handle;
  });
paused('rollout-paused-in-opening', 'open', 1, 'resume');
paused('rollout-paused-in-generating', 'generate', 2, 'resume');
paused('rollout-paused-in-judging', 'judge', 1, 'resume');
paused('rollout-paused-in-logging', 'log', 2, 'resume');
paused('rollout-paused-in-finishing', 'finish', 1, 'resume');
paused('rollout-paused-twice', 'generate', 1, 'pause', 'resume', 'resume');
paused('rollout-paused-and-stopped', 'judge', 1, 'stop');
paused('rollout-paused-and-cancelled', 'judge', 1, 'cancel');
paused('rollout-paused-and-stopped-late', 'log', 1, 'resume', 'stop');

// Found by its run while it is played: patched since 0.1.0. The scenarios above were recorded without.
rollout('rollout-found', { settings: { numTurns: 2 } });
rollout('rollout-found-and-cancelled', {}, hanging('cancel'));
rollout('rollout-found-and-stopped-in-opening', {}, when('open', 1, 'stop'));
paused('rollout-found-and-paused', 'open', 1, 'resume');
scenario('rollout-found-as-of-a-collection', {}, async () => {
  const args = [
    { run: 'recorded', out: rig().out, row: { query_id: 'of-a-collection', question: '2 + 2?', answer: '4' } },
  ];
  const typedSearchAttributes = [{ key: RUN, value: 'recorded' }];
  const options = { workflowId: 'recorded/of-a-collection/0', taskQueue: 'everturn', args, typedSearchAttributes };
  const handle = await rig().client.workflow.start('rollout', options);
  await handle.result();
  return handle;
});

// Asked to end, work fails before it hears of that.
const refusing = (wanted: Reached['step'], what: Parameters<typeof send>[1]): Scenario => ({
  async at({ step }, handle) {
    if (step !== wanted) return;
    await send(handle, what);
    throw wanted === 'generate' ? refused : gone(false);
  },
});
rollout('rollout-stopped-while-refusing', {}, refusing('generate', 'stop'));
rollout('rollout-cancelled-while-refusing', {}, refusing('generate', 'cancel'));
rollout('rollout-stopped-while-judging-fails', { row: code }, refusing('judge', 'stop'));
rollout('rollout-cancelled-while-judging-fails', { row: code }, refusing('judge', 'cancel'));
/** Started again over a folder that keeps its end. `rollout-ended-otherwise-before` is of workflows that played on. */
scenario('rollout-ended-before', hanging('cancel'), async () => {
  const name = 'rollout-ended-before';
  const row = { query_id: name, question: 'What is 2 + 2?', answer: '4' };
  const input = { run: 'recorded', row, settings: { numTurns: 1 } };
  await (await start('rollout', `recorded/${name}/0`, input)).result().catch(() => {});
  script(name, {});
  const handle = await start('rollout', `recorded/${name}/0`, input);
  await handle.result().catch(() => {});
  return handle;
});
/** Resumed and paused in one breath, which one task of the workflow hears. */
scenario('rollout-paused-again-at-once', when('log', 1, 'pause'), async () => {
  const name = 'rollout-paused-again-at-once';
  const row = { query_id: name, question: 'What is 2 + 2?', answer: '4' };
  const handle = await start('rollout', `recorded/${name}/0`, { run: 'recorded', row, settings: { numTurns: 4 } });
  await sleep(2500);
  await Promise.all([handle.executeUpdate('resume'), handle.executeUpdate('pause')]);
  await sleep(500);
  await send(handle, 'resume');
  await handle.result();
  const { events } = await handle.fetchHistory();
  const markers = (events ?? []).flatMap(
    ({ markerRecordedEventAttributes: m }) => m?.details?.['patch-data']?.payloads ?? [],
  );
  if (!markers.some(({ data }) => Buffer.from(data!).toString().includes(PAUSED_AGAIN)))
    throw new Error('The server gave them to two tasks: record it again.');
  return handle;
});
