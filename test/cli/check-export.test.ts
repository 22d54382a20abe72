// `everturn check <run> --export <file>`: an export of each format, layout and kind of advantages is seen as what it is, and
// proved; a line that is another is named; a file whose format cannot be told, or cannot be proved, is refused by the reason.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { EXPORTERS, formatOf, PROVED } from '../../formats/exports/index.ts';
import { openFileStore } from '../../records/file-store.ts';
import { someRun } from '../formats/exports/some-run.ts';
import { RUN } from '../records/play.ts';
import { jsonLines } from '../support/json-lines.ts';
import { scratchFolder } from '../support/scratch-folder.ts';
import { call } from './command-line.ts';

const folder = scratchFolder();
beforeAll(() => someRun(openFileStore(join(folder, 'runs'), RUN)));

async function exported(name: string, ...flags: readonly string[]): Promise<string> {
  const { code, err } = await call(folder, ['export', RUN, '--to', name, '--overwrite', ...flags]);
  expect(code, err).toBe(0);
  return name;
}
/** The format as it is seen, and the breaches of the export alone: the run is made of scripts. */
async function checked(name: string, ...flags: readonly string[]) {
  const { code, out, err } = await call(folder, ['check', RUN, '--export', name, '--no-tokenizer', ...flags]);
  const breaches = out.split('\n').filter((line) => /^export|^[^:]*\.jsonl:/.test(line) || line.includes(`${name}: `));
  return { code, breaches, err, seen: /The export is of the format (.*)\.$/m.exec(err)?.[1] };
}

describe('an export', () => {
  test.each([
    ...PROVED,
    'areal --sequences turn',
    'rows --advantages mean',
    'rows --advantages std',
    'rows --texts',
    'rows --texts --advantages mean',
  ])('as %s is seen as such, and holds what the records give', async (made) => {
    const name = await exported('seen.jsonl', '--format', ...made.split(' '));
    expect(await checked(name)).toMatchObject({ seen: made, breaches: [] });
  });

  test.each([
    ['--drop-zero-variance'],
    ['--min-members 2'],
    ['--success-rate 0.1:0.9'],
    ['--undecided finished-turns'],
    ['--max-token-gap 1'],
  ])('of rows with %s is proved with the same flag', async (flags) => {
    const name = await exported('chosen.jsonl', ...`--format rows --advantages mean ${flags}`.split(' '));
    expect(await checked(name, ...flags.split(' '))).toMatchObject({ seen: 'rows --advantages mean', breaches: [] });
  });

  test('with stale tokens masked is another one without the flag, or with another gap', async () => {
    const name = await exported('young.jsonl', '--format', 'rows', '--max-token-gap', '1');
    for (const flags of [[], ['--max-token-gap', '0']])
      expect((await checked(name, ...flags)).breaches).toEqual([expect.stringMatching(/line \d+ is another/)]);
  });

  test('whose first line is torn is seen by the next one, and its first line is named', async () => {
    const whole = await exported('whole.jsonl', '--format', 'rows', '--advantages', 'std');
    writeFileSync(join(folder, 'torn.jsonl'), readFileSync(join(folder, whole), 'utf8').slice(20));
    const { seen, breaches } = await checked('torn.jsonl');
    expect(seen).toMatch(/^rows/);
    expect(breaches).toEqual([expect.stringContaining('line 1 is another')]);
  });

  test('with an advantage that is another is seen as the nearest, and the line is named', async () => {
    const near = await exported('near.jsonl', '--format', 'rows', '--advantages', 'std');
    const lines = jsonLines<{ turn_advantages: number[] }>(readFileSync(join(folder, near), 'utf8'));
    lines.at(-1)!.turn_advantages[0]! += 1;
    writeFileSync(join(folder, 'near.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await checked('near.jsonl')).toMatchObject({
      seen: 'rows --advantages std',
      breaches: [expect.stringContaining(`line ${lines.length} is another`)],
    });
  });

  test('of which no proof is known is refused by its format', async () => {
    for (const { name: format, extension } of EXPORTERS.filter(({ name }) => !PROVED.includes(name))) {
      const { code, err } = await checked(await exported('other', '--format', format));
      expect(code).toBe(2);
      expect(err).toContain(`no proof is known for a file of the format ${extension === 'jsonl' ? format : extension}`);
      expect(err).toContain('rows');
    }
  });
});

describe('a file whose format cannot be told', () => {
  test.each([
    ['', 'it is empty'],
    ['no JSON\n', 'its first line has not the fields of one'],
    ['{"id": "q1"}\n[1]\n\n', 'none of its first 3 lines has the fields of one'],
    ['{"messages": []}', 'its first line has not the fields of one'],
    ['\u0000'.repeat(5000), 'its first line has not the fields of one'],
  ])('%j is refused, and says why', async (text, why) => {
    writeFileSync(join(folder, 'foreign.jsonl'), text);
    const { code, err } = await checked('foreign.jsonl');
    expect(code).toBe(2);
    expect(err).toContain(`cannot be told: ${why}`);
    expect(err).toContain('--format');
  });

  test('is compared as the format that is given', async () => {
    writeFileSync(join(folder, 'foreign.jsonl'), 'no JSON\n');
    const { seen, breaches } = await checked('foreign.jsonl', '--format', 'rows');
    expect(seen).toBe('rows');
    expect(breaches).toEqual([expect.stringContaining('line 1 is another')]);
  });
});

describe('the fields of a format', () => {
  test('are of its lines alone', async () => {
    for (const { name, extension } of EXPORTERS) {
      if (extension !== 'jsonl') continue;
      const [line] = readFileSync(join(folder, await exported('one.jsonl', '--format', name)), 'utf8').split('\n');
      expect(formatOf(line!)).toBe(name);
    }
  });
});
