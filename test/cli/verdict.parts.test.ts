// `everturn verdict` and `note` on a played run: what people said is beside the records, exports change only where asked,
// and `check` proves what is there. The oracle of rewards is written out here and shares nothing with the product.

import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { main } from '../../cli/main.ts';
import type { VerdictAct } from '../../domain/run/steering.ts';
import { exporterNamed } from '../../formats/exports/index.ts';
import { checkRun } from '../../records/check/check.ts';
import { exportRun } from '../../records/export/export-run.ts';
import { openFileStore } from '../../records/file-store.ts';
import { rolloutFolder } from '../../records/format/layout.ts';
import { putAct } from '../../records/run/steering.ts';
import type { Breach } from '../../records/store.ts';
import { playGoodRun } from '../records/check/good-run.ts';
import { RUN } from '../records/play.ts';
import { jsonLines } from '../support/json-lines.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { scriptedIo } from './scripted-io.ts';

const root = scratchFolder();
beforeAll(() => playGoodRun(join(root, 'good')));

function aRun(): string {
  const out = mkdtempSync(join(root, 'out-'));
  cpSync(join(root, 'good'), out, { recursive: true });
  return out;
}

async function everturn(out: string, ...args: string[]) {
  const io = scriptedIo({ cwd: out, env: { EVERTURN_HOME: join(root, 'home'), NO_COLOR: '1' } });
  io.clock.ms = Date.now();
  const [command, run, ...rest] = args;
  const code = await main(io, [command!, run!, '--out', out, ...rest]);
  return { code, ...io.text };
}

async function breachesOf(out: string): Promise<Breach[]> {
  const breaches: Breach[] = [];
  await checkRun(openFileStore(out, RUN), (breach) => breaches.push(breach));
  return breaches;
}

interface Row {
  readonly id: string;
  readonly turn_returns: number[];
}

async function rowsOf(out: string, how: object = {}): Promise<{ text: string; skipped: object; rows: Row[] }> {
  const file = join(out, 'rows.jsonl');
  const { skipped } = await exportRun(openFileStore(out, RUN), exporterNamed('rows'), file, how);
  const text = readFileSync(file, 'utf8');
  return { text, skipped, rows: jsonLines(text) };
}

/** Reward 1 of right, −1 of wrong; discount 0.5: the settings of the played run. */
function returns(success: readonly boolean[]): number[] {
  return success.map((_, t) => success.slice(t).reduce((sum, one, i) => sum + (one ? 1 : -1) * 0.5 ** i, 0));
}

const VERDICTS_OF: Readonly<Record<string, readonly (boolean | null)[]>> = {
  one: [false, true, false],
  two: [false, null],
  FOUR: [false, true, false],
};

describe('everturn verdict', () => {
  test('is recorded beside the judge’s verdict, told by show, why and status, and proved by check', async () => {
    const out = aRun();
    const before = (await rowsOf(out)).text;
    const words = ['verdict', RUN, 'one', 'right', '--turn', '3', '--by', 'anna', '--reason', 'an equal form'];
    const given = await everturn(out, ...words);
    expect(given).toMatchObject({ code: 0, out: expect.stringContaining('anna says that turn 3 of one is right') });
    expect(given.out).toContain('the judge said wrong (scripted)');
    expect((await everturn(out, 'show', RUN, 'one')).out).toMatch(
      /turn 3 .*wrong[^]*anna says ✓ right \(an equal form\)/,
    );
    expect((await everturn(out, 'why', RUN, 'one')).out).toMatch(/turn 3: wrong .*\n {4}anna says ✓ right/);
    expect((await everturn(out, 'status', RUN)).out).toContain(
      '1 person: verdicts on 1 turn (0 as the judge, 1 otherwise).',
    );
    expect(await breachesOf(out)).toEqual([]);
    expect((await rowsOf(out)).text).toBe(before);
    const { rows } = await rowsOf(out, { verdicts: 'human' });
    expect(rows.find(({ id }) => id === 'one')!.turn_returns).toEqual(returns([false, true, true]));
  });

  test('given twice is recorded once, and a changed mind is recorded after the first', async () => {
    const out = aRun();
    const give = (verdict: string) =>
      everturn(out, 'verdict', RUN, 'one', verdict, '--turn', '3', '--by', 'anna', '--json');
    const acts = () => readdirSync(join(out, RUN, 'steering'));
    await give('right');
    expect(JSON.parse((await give('right')).out)).toMatchObject({ recorded: false });
    expect(acts()).toHaveLength(1);
    await give('wrong');
    await give('right');
    expect(acts()).toHaveLength(3);
    const { rows } = await rowsOf(out, { verdicts: 'human' });
    expect(rows.find(({ id }) => id === 'one')!.turn_returns).toEqual(returns([false, true, true]));
    expect(await breachesOf(out)).toEqual([]);
  });

  test('of two people who disagree are both recorded and told, and the rollout is left out by name', async () => {
    const out = aRun();
    await everturn(out, 'verdict', RUN, 'one', 'right', '--turn', '3', '--by', 'anna');
    const second = await everturn(out, 'verdict', RUN, 'one', 'wrong', '--turn', '3', '--by', 'bob');
    expect(second.err).toContain('anna says right');
    const shown = (await everturn(out, 'show', RUN, 'one')).out;
    expect(shown).toContain('anna says ✓ right');
    expect(shown).toContain('bob says ✗ wrong');
    expect(shown).toContain('People disagree');
    expect((await rowsOf(out, { verdicts: 'human' })).skipped).toMatchObject({ 'people-disagree': 1 });
  });

  test('that contradicts feedback is left out, cut or kept, as asked; an undecided turn becomes decided', async () => {
    const out = aRun();
    await everturn(out, 'verdict', RUN, 'one', 'right', '--turn', '1', '--by', 'anna');
    await everturn(out, 'verdict', RUN, 'two', 'right', '--turn', '2', '--by', 'anna');
    const dropped = await rowsOf(out, { verdicts: 'human' });
    expect(dropped.skipped).toMatchObject({ 'feedback-contradicts': 1, undecided: 1 });
    expect(dropped.rows.find(({ id }) => id === 'two')!.turn_returns).toEqual(returns([false, true]));
    const cut = await rowsOf(out, { verdicts: 'human', contradicted: 'truncate' });
    expect(cut.rows.find(({ id }) => id === 'one')!.turn_returns).toEqual(returns([true]));
    const whole = await rowsOf(out, { verdicts: 'human', contradicted: 'keep' });
    expect(whole.rows.find(({ id }) => id === 'one')!.turn_returns).toEqual(returns([true, true, false]));
  });

  test.each([
    [['verdict', 'no-run', 'one', 'right', '--turn', '1'], 'There is no run "no-run"'],
    [['verdict', RUN, 'one', 'right', '--turn', '9'], '--turn 9: that rollout has 3 turns. Give a turn from 1 to 3.'],
    [['verdict', RUN, 'one', 'right', '--turn', '0'], '--turn is "0"'],
    [['verdict', RUN, 'seven', 'right', '--turn', '1'], 'has no query "seven"'],
    [['verdict', RUN, 'one', 'maybe', '--turn', '1'], 'Allowed choices are right, wrong'],
    [['verdict', RUN, 'one', 'right'], '--turn'],
    [['verdict', RUN, 'one', 'right', '--turn', '1', '--by', 'a\u001b[2J'], '--by has control characters'],
    [['verdict', RUN, 'one', 'right', '--turn', '1', '--reason', ' '], '--reason is empty'],
    [['verdict', RUN, 'three/3', 'right', '--attempt', '1', '--turn', '2'], 'is still being judged'],
    [['note', RUN, 'one', '--turn', '4', 'x'], 'that rollout has 3 turns'],
    [['note', RUN, 'one', '\n'], 'The note is empty'],
    [['export', RUN, '--format', 'rows', '--contradicted', 'keep'], 'Give it with --verdicts human'],
  ])('refuses %j with one paragraph and exit code 2, and leaves nothing', async (args, said) => {
    const out = aRun();
    const { code, err } = await everturn(out, ...args);
    expect(code).toBe(2);
    expect(err).toContain(said);
    expect(err.trimEnd()).not.toContain('\n');
    expect(existsSync(join(out, RUN, 'steering'))).toBe(false);
  });

  test('with --dry-run says what it would record, and records nothing', async () => {
    const out = aRun();
    const { out: text } = await everturn(out, 'verdict', RUN, 'one', 'right', '--turn', '1', '--dry-run');
    expect(text).toContain('Would record');
    expect(existsSync(join(out, RUN, 'steering'))).toBe(false);
  });

  test('and notes steer no terminal', async () => {
    const out = aRun();
    const store = openFileStore(out, RUN);
    const id = { query: 'one', sample: 0, attempt: 1 };
    const { hash } = (await store.get('rollout', { run: RUN, ...id }))!;
    const text = '\u001b]0;owned\u0007\u202egnp.exe';
    const of = { ...id, turn: null, hash };
    await putAct(store, { act: 'note', of, text, by: 'eve\u001b[2J', via: 'cli', at: Date.now() });
    for (const command of ['show', 'why'])
      expect((await everturn(out, command, RUN, 'one')).out).not.toMatch(/[\u001b\u0007\u202e]/);
  });

  test('leaves every other file and export as it was, whatever is said in whatever order', async () => {
    const turn = fc.constantFrom(
      ...Object.entries(VERDICTS_OF).flatMap(([query, of]) => of.map((_, i) => ({ query, turn: i + 1 }))),
    );
    const step = fc.record({
      at: turn,
      by: fc.constantFrom('anna', 'bob'),
      verdict: fc.constantFrom('right' as const, 'wrong' as const),
      note: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        const out = aRun();
        const before = (await rowsOf(out)).text;
        const last = new Map<string, boolean>();
        for (const { at, by, verdict, note } of steps) {
          const args = note ? ['note', RUN, at.query, `${verdict} says ${by}`] : ['verdict', RUN, at.query, verdict];
          expect((await everturn(out, ...args, '--turn', String(at.turn), '--by', by)).code).toBe(0);
          if (!note) last.set(`${at.query} ${at.turn} ${by}`, verdict === 'right');
        }
        expect(await breachesOf(out)).toEqual([]);
        expect((await rowsOf(out)).text).toBe(before);
        const { rows } = await rowsOf(out, { verdicts: 'human', contradicted: 'keep' });
        for (const [query, judge] of Object.entries(VERDICTS_OF)) {
          const people = judge.map((_, i) =>
            ['anna', 'bob'].flatMap((by) => last.get(`${query} ${i + 1} ${by}`) ?? []),
          );
          const disagree = people.some((said) => new Set(said).size > 1);
          const success = judge.map((own, i) => people[i]![0] ?? own);
          const expected = disagree || success.includes(null) ? undefined : returns(success as boolean[]);
          expect(rows.find(({ id }) => id === query)?.turn_returns).toEqual(expected);
        }
      }),
      { numRuns: 15 },
    );
  }, 120_000);
});

describe('the check of people’s acts', () => {
  const file = (out: string) => join(out, RUN, 'steering', readdirSync(join(out, RUN, 'steering'))[0]!);
  const changed = (change: (act: VerdictAct) => object) => async (out: string) => {
    const path = file(out);
    const { sha256: _, ...act } = JSON.parse(readFileSync(path, 'utf8')) as VerdictAct & { sha256: string };
    const { format: _format, ...body } = { ...act, ...change(act) } as VerdictAct & { format?: string };
    rmSync(path);
    await putAct(openFileStore(out, RUN), body as VerdictAct);
  };
  test.each<[string, (out: string) => void | Promise<void>, RegExp]>([
    [
      'a verdict that was edited',
      (out) => writeFileSync(file(out), readFileSync(file(out), 'utf8').replace('"right"', '"wrong"')),
      /is changed/,
    ],
    ['a torn one', (out) => writeFileSync(file(out), readFileSync(file(out), 'utf8').slice(0, 80)), /torn/],
    ['one on a turn that is not there', changed((act) => ({ of: { ...act.of, turn: 8 } })), /which is not there/],
    [
      'one on another record',
      changed((act) => ({ of: { ...act.of, hash: 'a'.repeat(64) } })),
      /another record of turn 3/,
    ],
    ['one before its turn was played', changed(() => ({ at: 5 })), /was recorded at 5, before/],
    [
      'one after a verdict that is gone',
      changed(() => ({ after: `verdict-${'0'.repeat(32)}` })),
      /replaces .* not there/,
    ],
    ['one with a field of its own', changed(() => ({ weight: 2 })), /"weight", which Everturn does not write/],
    ['one on a whole rollout', changed((act) => ({ of: { ...act.of, turn: null } })), /against its kind/],
    ['a file of another kind', (out) => writeFileSync(join(out, RUN, 'steering', 'notes.txt'), 'x'), /not of this run/],
  ])('finds %s', async (_, harm, problem) => {
    const out = aRun();
    await everturn(out, 'verdict', RUN, 'one', 'right', '--turn', '3', '--by', 'anna');
    expect(await breachesOf(out)).toEqual([]);
    await harm(out);
    const breaches = await breachesOf(out);
    expect(breaches.map((breach) => breach.problem).join('\n')).toMatch(problem);
    expect(breaches.every(({ path }) => path.startsWith('steering/'))).toBe(true);
    expect(existsSync(join(out, RUN, rolloutFolder({ query: 'one', sample: 0, attempt: 1 })))).toBe(true);
  });
});
