// What every store keeps, wherever it keeps it: each record whole, once, by name, and found again.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { RolloutId } from '../../domain/names/ids.ts';
import type { EndRecord } from '../../domain/rollout/trajectory.ts';
import { nothingSeen } from '../../records/ended/ended.ts';
import type { Store } from '../../records/store.ts';
import { aQuery, putRun, RUN, someSettings, turnRecord } from '../records/play.ts';

/** `create` opens an empty store of the run `r1`; `again` a second one of the same place, as another process would. */
export interface StorePlace {
  readonly create: () => Store;
  readonly again: (store: Store) => Store;
  /** False: a log appears when it is put for good. Default true. */
  readonly drafts?: boolean;
}

const END: Omit<EndRecord, 'turns'> = {
  outcome: 'complete',
  stopReason: 'success',
  failure: null,
  turnRewards: [1],
  returns: [1],
  success: [1],
  finishedAt: 9,
};
const logOf = (...turns: readonly string[]) => ({ txt: turns.join(''), jsonl: turns.join('').toUpperCase() });

export function storeContract(name: string, { create, again, drafts = true }: StorePlace): void {
  const idOf = (query: string, sample = 0, attempt = 1): RolloutId => ({ run: RUN, query, sample, attempt });
  const rolloutOf = (id: RolloutId) => ({
    run: id.run,
    query: aQuery(id.query),
    index: 0,
    sample: id.sample,
    attempt: id.attempt,
    settings: someSettings(),
    birthTime: 1,
  });

  test(`${name}: an empty store holds nothing, and says so without an error`, async () => {
    const store = create();
    const id = idOf('q');
    expect(await store.get('run')).toBeUndefined();
    expect(await store.get('result')).toBeUndefined();
    expect(await store.get('rollout', id)).toBeUndefined();
    expect(await store.get('turn', id, 1)).toBeUndefined();
    expect(await store.get('verdict', id, 1)).toBeUndefined();
    expect(await store.get('end', id)).toBeUndefined();
    expect(await store.getLog(0, 'q', 'txt')).toBeUndefined();
    expect(await store.countQueries()).toBe(0);
    expect(await store.listRolloutsOf('q')).toEqual([]);
    expect(await all(store.listRollouts())).toEqual([]);
  });

  test(`${name}: what was put is what another opener gets, with the same hash`, async () => {
    const store = create();
    const id = idOf('q');
    const rollout = await store.put('rollout', id, rolloutOf(id));
    const turn = await store.put('turn', id, { ...turnRecord(1, 'What?'), previous: rollout.hash });
    const verdict = await store.put('verdict', id, {
      turn: 1,
      verdict: 'right',
      reason: 'equal',
      of: turn.hash,
      tookMs: 3,
    });
    const end = await store.put('end', id, { ...END, turns: [turn.hash] });
    const other = again(store);
    const kept = { created: false };
    expect(await other.get('rollout', id)).toEqual({ ...rollout, ...kept });
    expect(await other.get('turn', id, 1)).toEqual({ ...turn, ...kept });
    expect(await other.get('verdict', id, 1)).toEqual({ ...verdict, ...kept });
    expect(await other.get('end', id)).toEqual({ ...end, ...kept });
    expect([rollout, turn, verdict, end].map(({ created }) => created)).toEqual([true, true, true, true]);
    expect(turn.record).toEqual({ ...turnRecord(1, 'What?'), previous: rollout.hash });
    expect(turn.hash).toMatch(/^[0-9a-f]{64}$/);
  });

  test(`${name}: experts are found by their hash, written once, and none where there are none`, async () => {
    const store = create();
    const data = Uint8Array.from({ length: 5000 }, (_, i) => i % 7);
    const of = await store.putExperts(data);
    expect(of).toEqual({ sha256: createHash('sha256').update(data).digest('hex'), bytes: 5000 });
    expect(await again(store).putExperts(data)).toEqual(of);
    expect(await again(store).readExperts(of)).toEqual(Buffer.from(data));
    expect(await store.readExperts({ ...of, bytes: 4999 })).toBeUndefined();
  });

  test(`${name}: a rollout in flight is a row with the step that it waits for, told again when that changes`, async () => {
    const store = create();
    const id = idOf('q');
    const reader = again(store);
    const seen = nothingSeen();
    const news = async () =>
      (await all(reader.listRows({ seen, inFlight: true }))).map(({ state, doing }) => [
        state,
        doing?.turn,
        doing?.what,
      ]);
    expect(await news()).toEqual([]);
    const rollout = await store.put('rollout', id, rolloutOf(id));
    expect(await news()).toEqual([['open', 1, 'answer']]);
    expect(await news()).toEqual([]);
    const turn = await store.put('turn', id, { ...turnRecord(1, 'What?'), previous: rollout.hash });
    expect(await news()).toEqual([['open', 1, 'judge']]);
    await store.put('verdict', id, { turn: 1, verdict: 'wrong', reason: 'other', of: turn.hash, tookMs: 3 });
    expect(await news()).toEqual([['open', 2, 'answer']]);
    expect(await all(again(store).listRows())).toEqual([]);
    await store.put('end', id, { ...END, turns: [turn.hash], success: [0], turnRewards: [0], returns: [0] });
    expect(await news()).toEqual([['complete', undefined, undefined]]);
    expect(await news()).toEqual([]);
  });

  test(`${name}: the first put wins: a second changes nothing and returns the first`, async () => {
    const store = create();
    const id = idOf('q');
    const first = await store.put('turn', id, turnRecord(1, 'first'));
    const second = await again(store).put('turn', id, turnRecord(1, 'second'));
    expect(second).toEqual({ ...first, created: false });
    await putRun(store, [aQuery('a')], { samples: 2 });
    await putRun(again(store), [aQuery('b'), aQuery('c')], { samples: 3 });
    expect((await store.get('run'))!.record.samples).toBe(2);
    expect(await store.readQueries(0, 9)).toEqual([aQuery('a')]);
    await store.put('result', null, { total: 1 } as never);
    expect((await store.put('result', null, { total: 2 } as never)).record).toMatchObject({ total: 1 });
  });

  test(`${name}: of many racing writers one wins, and all return what it wrote`, async () => {
    const stores = Array.from({ length: 8 }, (_, i) => i).map(() => undefined as Store | undefined);
    const first = create();
    const results = await Promise.all(
      stores.map((_, i) => again(first).put('turn', idOf('q'), turnRecord(1, `writer ${i}`))),
    );
    expect(results.filter(({ created }) => created)).toHaveLength(1);
    expect(new Set(results.map(({ hash }) => hash)).size).toBe(1);
    expect(new Set(results.map(({ record }) => record.contextText)).size).toBe(1);
    expect((await first.get('turn', idOf('q'), 1))!.hash).toBe(results[0]!.hash);
  });

  test(`${name}: numbers survive exactly`, async () => {
    const store = create();
    let turn = 0;
    const double = fc.double({ noNaN: true, noDefaultInfinity: true });
    await fc.assert(
      fc.asyncProperty(fc.array(double, { maxLength: 20 }), fc.array(fc.maxSafeNat()), async (logprobs, outputIds) => {
        const record = { ...turnRecord(++turn, 'x'), logprobs: logprobs.map((x) => x + 0), outputIds };
        await store.put('turn', idOf('q'), record);
        expect((await store.get('turn', idOf('q'), turn))!.record).toEqual(record);
      }),
      { numRuns: 30 },
    );
  });

  test(`${name}: any id and any text comes back as it was, and no two ids share a place`, async () => {
    const store = create();
    const ids = [
      'q',
      'Q',
      'q/0',
      '../q',
      '.',
      'con',
      'a b',
      'é',
      'e\u0301',
      'x'.repeat(1000),
      '∞'.repeat(300),
      'q@1',
      '\u2028',
    ];
    for (const query of ids) {
      const turn = { ...turnRecord(1, `${query} \u0000 \ud83d\ude00 \u2028 \ufffd \ufeff`), answer: query };
      await store.put('rollout', idOf(query), rolloutOf(idOf(query)));
      await store.put('turn', idOf(query), turn);
    }
    for (const query of ids) {
      expect((await store.get('turn', idOf(query), 1))!.record.answer).toBe(query);
      expect(await store.listRolloutsOf(query)).toEqual([idOf(query)]);
    }
    const listed = await all(store.listRollouts((breach) => expect.unreachable(JSON.stringify(breach))));
    expect(listed.map(({ query }) => query).sort()).toEqual([...ids].sort());
  });

  test(`${name}: samples and attempts are told apart, and listed by sample, then attempt`, async () => {
    const store = create();
    const ids = [idOf('q', 10), idOf('q', 2, 2), idOf('q', 2), idOf('q', 0)];
    for (const id of ids) await store.put('rollout', id, rolloutOf(id));
    expect(await store.listRolloutsOf('q')).toEqual([ids[3], ids[2], ids[1], ids[0]]);
    expect((await store.get('rollout', idOf('q', 2, 2)))!.record.attempt).toBe(2);
  });

  test(`${name}: queries are read by place, in order, any page of them`, async () => {
    const store = create();
    const queries = Array.from({ length: 300 }, (_, i) => aQuery(`q${i}`, { solutions: ['é'.repeat(i % 7)] }));
    expect(await store.putQueries(asyncly(queries))).toBe(300);
    expect(await again(store).countQueries()).toBe(300);
    for (const [from, count] of [
      [0, 1],
      [0, 300],
      [299, 1],
      [298, 10],
      [300, 1],
      [17, 0],
      [100, 57],
    ] as const) {
      expect(await store.readQueries(from, count)).toEqual(queries.slice(from, from + count));
    }
  });

  test(`${name}: a failing source of queries leaves no queries behind`, async () => {
    const store = create();
    const broken = async function* () {
      yield aQuery('a');
      throw new Error('the source broke');
    };
    await expect(store.putQueries(broken())).rejects.toThrow('the source broke');
    expect(await store.countQueries()).toBe(0);
    expect(await store.putQueries([aQuery('b')])).toBe(1);
  });

  test(`${name}: a log is put as a whole, and never in place of a later state of itself`, async () => {
    const store = create();
    await store.putLog(3, 'q', logOf('one\n'));
    await store.putLog(3, 'q', logOf('one\n', 'two\n'));
    await store.putLog(3, 'q', logOf('one\n'));
    expect(await again(store).getLog(3, 'q', 'txt')).toBe('one\ntwo\n');
    expect(await again(store).getLog(3, 'q', 'jsonl')).toBe('ONE\nTWO\n');
    expect(await store.getLog(4, 'q', 'jsonl')).toBeUndefined();
    await store.putLog(3, 'q', logOf('other\n'));
    expect(await store.getLog(3, 'q', 'txt')).toBe('other\n');
  });

  (drafts ? keepsDrafts : writesNoDrafts)(name, { create, again });

  test(`${name}: what JSON cannot hold is refused, not altered`, async () => {
    const store = create();
    await expect(store.put('turn', idOf('q'), { ...turnRecord(1, 'x'), logprobs: [Number.NaN] })).rejects.toMatchObject(
      {
        reason: 'not-json',
      },
    );
    expect(await store.get('turn', idOf('q'), 1)).toBeUndefined();
  });
}

export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

async function* asyncly<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
}

function keepsDrafts(name: string, { create, again }: Pick<StorePlace, 'create' | 'again'>): void {
  test(`${name}: a log's draft grows whoever writes it and however often, and is never half there`, async () => {
    const first = create();
    const turns = ['ünö\n', 'zwei\n', '∞ three\n'];
    const draft = (store: Store, count: number) =>
      store.putLog(3, 'q', logOf(...turns.slice(0, count)), { draft: true });
    await draft(first, 1);
    await draft(first, 2);
    await draft(first, 2); // the same step, tried again
    await Promise.all([draft(first, 3), draft(again(first), 3)]);
    await draft(first, 2); // by one who was thought dead
    for (const kind of ['txt', 'jsonl'] as const)
      expect(await again(first).getLog(3, 'q', kind)).toBe(logOf(...turns)[kind]);
  });
}

/** As a bucket, in which a draft would be asked for and paid for with each turn. */
function writesNoDrafts(name: string, { create, again }: Pick<StorePlace, 'create' | 'again'>): void {
  test(`${name}: a log appears when it is put for good, and no draft does`, async () => {
    const store = create();
    await store.putLog(3, 'q', logOf('one\n'), { draft: true });
    expect(await again(store).getLog(3, 'q', 'txt')).toBeUndefined();
    await store.putLog(3, 'q', logOf('one\n'));
    await again(store).putLog(3, 'q', logOf('other\n'), { draft: true });
    expect(await again(store).getLog(3, 'q', 'txt')).toBe('one\n');
  });
}
