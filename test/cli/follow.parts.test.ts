// Following a run: only the run's own end, or the user, ends it.

import { getEventListeners } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '@temporalio/client';
import { beforeAll, describe, expect, test } from 'vitest';
import { follow, followToEnd } from '../../cli/play/follow.ts';
import type { Link } from '../../local/service/link.ts';
import type { ProgressView } from '../../cli/view/progress-view.ts';
import { openLoose } from '../records/ended-rig.ts';
import { aQuery, putRun, RUN } from '../records/play.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';
import { countsOf, progressOf, scriptedIo } from './scripted-io.ts';

type Answer = 'RUNNING' | 'COMPLETED' | 'TERMINATED' | Error;

/** A server that answers so, one answer a poll; and what was asked of the link. */
function scriptedLink(
  answers: Answer[],
  progress: () => unknown = () => progressOf(),
  memo: () => object = () => ({}),
) {
  const asked = { keepUp: 0, closed: 0 };
  const client = {
    withDeadline: (_: number, call: () => unknown) => call(),
    workflow: {
      getHandle: () => ({
        async describe() {
          const answer = answers.shift() ?? 'COMPLETED';
          if (answer instanceof Error) throw answer;
          return { status: { name: answer }, memo: memo() };
        },
        query: async () => progress(),
      }),
    },
  };
  const link = {
    session: { client, address: 'a', namespace: 'n', close: async () => {} },
    ui: null,
    local: true,
    keepUp: async () => void asked.keepUp++,
    close: async () => {},
  } as unknown as Link;
  return { link, asked };
}

function rememberingView() {
  const seen = { progress: 0, notes: new Set<string>(), ended: 0 };
  const view: ProgressView = {
    progress: () => seen.progress++,
    note: (text) => text !== null && seen.notes.add(text),
    end: () => seen.ended++,
  };
  return { view, seen };
}

// Each waits for polls.
describe.concurrent('following a run', () => {
  const file = join(scratchFolder(), 'file');
  writeFileSync(file, '');

  test('a server that fails to answer is asked again, and kept up, until the run ends', async () => {
    const { link, asked } = scriptedLink([new Error('gone'), new Error('gone'), 'RUNNING', 'COMPLETED']);
    const { view, seen } = rememberingView();
    expect(await follow(scriptedIo(), link, 'r', view)).toBe('completed');
    expect(asked.keepUp).toBe(4);
    expect(seen).toMatchObject({ progress: 1, ended: 1 });
  });

  test('a worker that does not answer ends nothing', async () => {
    const { link } = scriptedLink(['RUNNING', 'RUNNING', 'COMPLETED'], () =>
      Promise.reject(new ServiceError('no worker')),
    );
    const { view, seen } = rememberingView();
    expect(await follow(scriptedIo(), link, 'r', view)).toBe('completed');
    expect(seen.progress).toBe(0);
  });

  test('a worker that is too busy to answer is followed by what it tells, each word once', async () => {
    const told = [1, 1, 2].map((toldAt) => ({ progress: { ...progressOf(), toldAt } }));
    const noAnswer = () => Promise.reject(new ServiceError('no worker'));
    const { link } = scriptedLink(['RUNNING', 'RUNNING', 'RUNNING', 'COMPLETED'], noAnswer, () => told.shift() ?? {});
    const { view, seen } = rememberingView();
    expect(await follow(scriptedIo(), link, 'r', view)).toBe('completed');
    expect(seen.progress).toBe(2);
  });

  test('trouble is said once it has lasted, with its cause', async () => {
    const io = scriptedIo();
    const { link } = scriptedLink([new Error('gone'), 'COMPLETED']);
    const { view, seen } = rememberingView();
    const late = { ...io, now: () => (io.clock.ms += 60_000) };
    await follow(late, link, 'r', view);
    expect([...seen.notes]).toEqual([expect.stringContaining('gone')]);
  });

  test('as many runs as an evaluation has cells are followed with one signal, without a warning, and leave nothing on it', async () => {
    const warned: Error[] = [];
    const hear = (warning: Error) => warned.push(warning);
    process.on('warning', hear);
    const { signal } = new AbortController();
    const io = { ...scriptedIo(), interrupted: () => signal };
    const cells = Array.from({ length: 30 }, () => scriptedLink(['RUNNING', 'COMPLETED']).link);
    const ends = await Promise.all(cells.map((link) => follow(io, link, 'r', rememberingView().view)));
    process.off('warning', hear);
    expect(new Set(ends)).toEqual(new Set(['completed']));
    expect(warned.filter(({ name }) => name === 'MaxListenersExceededWarning')).toEqual([]);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  test('a run that was ended from outside is told as such', async () => {
    const { link } = scriptedLink(['RUNNING', 'TERMINATED']);
    expect(await follow(scriptedIo(), link, 'r', rememberingView().view)).toBe('terminated');
  });

  test('the user may leave at once, also while the server hangs', async () => {
    const leave = new AbortController();
    const hanging = { ...scriptedLink([]).link, keepUp: () => new Promise<void>(() => {}) } as Link;
    const { view, seen } = rememberingView();
    const end = follow({ ...scriptedIo(), interrupted: () => leave.signal }, hanging, 'r', view);
    leave.abort();
    expect(await end).toBe('detached');
    expect(seen.ended).toBe(1);
  });

  test.each<[string, Answer[], () => unknown]>([
    ['Temporal does not answer', Array.from({ length: 6 }, () => new Error('gone')), () => progressOf()],
    ['no worker answers', Array<Answer>(6).fill('RUNNING'), () => undefined],
    ['nothing moves', Array<Answer>(6).fill('RUNNING'), () => progressOf()],
  ])(
    'a disk that cannot be written is said within seconds, also while %s',
    async (_, answers, progress) => {
      const { link } = scriptedLink(answers, progress);
      const { view, seen } = rememberingView();
      const io = scriptedIo();
      const began = io.clock.ms;
      const at: number[] = [];
      const noting: ProgressView = {
        ...view,
        note(text) {
          view.note(text);
          if (text?.startsWith('Waiting for the disk: cannot write')) at.push(io.clock.ms);
        },
      };
      const ticking = setInterval(() => (io.clock.ms += 1500), 250);
      const ended = await follow(io, link, 'r', noting, file).finally(() => clearInterval(ticking));
      expect(ended).toBe('completed');
      expect([...seen.notes].join('\n')).toContain('Waiting for the disk: cannot write');
      expect(at[0]! - began).toBeLessThan(15_000);
    },
    60_000,
  );
});

describe('status --follow', () => {
  const out = scratchFolder();
  beforeAll(async () => {
    const store = openLoose(out, RUN);
    await putRun(store, [aQuery('a')], { run: RUN });
    const counts = countsOf({ outcomes: { complete: 3, undecided: 0, failed: 2, cancelled: 0 } });
    await store.put('result', null, { run: RUN, total: 5, cancelled: false, numTurns: 3, counts });
  });
  const status = (...args: string[]) => call(out, ['status', RUN, '--out', out, ...args]);

  test.each([
    [[], 3, '2 rollouts failed, more than --max-failed 0'],
    [['--max-failed', '1'], 3, '2 rollouts failed, more than --max-failed 1'],
    [['--max-failed', '2'], 0, ''],
  ])('ends as the run did, with a sentence where too many failed: %j', async (args, wanted, said) => {
    const { code, err, out: shown } = await status('--follow', ...args);
    expect([code, err]).toEqual([wanted, expect.stringContaining(said)]);
    expect(shown).toContain('3 complete, 2 failed');
    const { out: json } = await status('--follow', '--json', ...args);
    expect(JSON.parse(json)).toMatchObject({ event: 'ended', exitCode: wanted, total: 5 });
  });

  test('is what --max-failed needs', async () => {
    const { code, err } = await status('--max-failed', '1');
    expect([code, err]).toEqual([2, expect.stringContaining('Give --follow too')]);
  });

  test.each([
    [0, '--follow`'],
    [2, '--follow --max-failed 2`'],
  ])(
    'ends with the code of the run from which the user detaches, if that allows %d to fail',
    async (maxFailed, said) => {
      const io = { ...scriptedIo(), interrupted: () => AbortSignal.abort() };
      const place = { out, run: RUN, store: openLoose(out, RUN) };
      expect(await followToEnd(io, scriptedLink([]).link, place, { maxFailed, json: false })).toBe(130);
      expect(io.text.err).toContain(said);
    },
  );

  test('with --json prints progress on stderr, and the end alone on stdout', async () => {
    const io = scriptedIo();
    const { link } = scriptedLink(['RUNNING', 'COMPLETED'], () => progressOf({ done: 1 }));
    const place = { out, run: RUN, store: openLoose(out, RUN) };
    const answer = await followToEnd(io, link, place, { maxFailed: 2, json: true, endAlone: true });
    expect(io.text).toMatchObject({ out: '', err: expect.stringContaining('1/100') });
    expect(answer).toMatchObject({ code: 0, json: { event: 'ended', exitCode: 0 } });
  });
});
