// Records of calls of tools: each value of each one that is changed alone is named.

import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TurnRecord } from '../../../domain/rollout/turn.ts';
import { createTools } from '../../../environments/tools/index.ts';
import { everturnVersion } from '../../../local/machine/package-root.ts';
import { openFacts } from '../../../records/check/facts.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { rewrite } from './damage.ts';
import { folderOf, openPlayed, rehash } from './played-runs.ts';

const { copyOf, problemsOf } = await openPlayed();

describe('a check of calls', () => {
  test('finds each value of each record that is changed alone', async () => {
    let changes = 0;
    const missed: string[] = [];
    const out = copyOf('tools');
    const store = openFileStore(out, 'tools');
    const facts = { calls: createTools({}), everturn: everturnVersion() };
    const prove = openFacts(store, (await store.getRun())!.record, facts);
    for (const query of ['calls', 'order', 'bad']) {
      const folder = join(out, 'tools', folderOf(query));
      for (const name of readdirSync(folder).filter((each) => /^(call|intent)-|^verdict-00[123]/.test(each))) {
        const [place] = /-\d{3}/.exec(name)!;
        const file = join(folder, name);
        const text = readFileSync(file, 'utf8');
        const { format, of_rollout: owner, sha256: _, ...record } = JSON.parse(text) as Record<string, unknown>;
        if (name.startsWith('verdict-') && record['verdict'] !== 'called') continue;
        for (const path of pathsIn(record)) {
          for (const changed of othersOf(valueAt(record, path))) {
            const other = { format, of_rollout: owner, ...(withAt(record, path, changed) as object) };
            rehash(file, () => JSON.stringify(other).slice(0, -1));
            changes++;
            // The proof of one rollout alone, which a check of the run has for each.
            const { breaches } = await prove({ run: 'tools', query, sample: 0, attempt: 1 });
            if (!breaches.some((breach) => breach.path.includes(`${place}.`)))
              missed.push(`${query}/${name}: ${path.join('.')} as ${JSON.stringify(changed)}`);
          }
        }
        writeFileSync(file, text);
      }
    }
    expect(missed).toEqual([]);
    expect(changes).toBeGreaterThan(300);
  });

  test.each([
    [
      'a record of a call removed',
      'calls',
      'call-001.001.json',
      /call-001.001.json: is missing, though the reply to its turn is there/,
    ],
    [
      'an intent removed',
      'order',
      'intent-001.001.json',
      /intent-001.001.json: is missing, though the tool must not be called twice/,
    ],
  ])('finds %s', async (_, query, file, problem) => {
    const out = copyOf('tools');
    rmSync(join(out, 'tools', folderOf(query), file));
    expect(await problemsOf('tools', out)).toMatch(problem);
  });

  test('finds calls that a reply does not hold, and the code of a tool changed', async () => {
    const out = copyOf('tools');
    rewrite(`${folderOf('calls')}/turn-001.json`, (record) => ({
      calls: (record as unknown as TurnRecord).calls!.toReversed(),
    }))(join(out, 'tools'));
    const [code] = readdirSync(join(out, 'tools/code'));
    writeFileSync(join(out, 'tools/code', code!), 'exports.tools = [];');
    const problems = await problemsOf('tools', out);
    expect(problems).toMatch(/turn-001.json: says calls\[\d\].*; the records say/);
    expect(problems).toMatch(/code\/[0-9a-f]{64}\.cjs: is changed/);
  });
});

type Path = readonly (string | number)[];

/** The place of each value, lists included. */
function pathsIn(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const inner = Object.entries(value).flatMap(([key, one]) =>
    pathsIn(one, [...at, Array.isArray(value) ? Number(key) : key]),
  );
  return Array.isArray(value) ? [at, ...inner] : inner;
}

const valueAt = (record: object, path: Path): unknown =>
  path.reduce<unknown>((one, key) => (one as Record<string, unknown>)[key], record);

function withAt(value: unknown, [key, ...rest]: Path, changed: unknown): unknown {
  if (key === undefined) return changed;
  if (Array.isArray(value)) return value.map((one, i) => (i === key ? withAt(one, rest, changed) : one));
  const one = value as Record<string, unknown>;
  return { ...one, [key]: withAt(one[key], rest, changed) };
}

/** Values of the same type. */
function othersOf(value: unknown): unknown[] {
  if (typeof value === 'string') return [/^[0-9a-f]{64}$/.test(value) ? 'f'.repeat(64) : `${value}x`, ''];
  if (typeof value === 'number') return [value + 1, value + 1_000_000];
  if (value === null) return ['x'];
  if (Array.isArray(value))
    return [value.slice(0, -1), [...value, value.at(-1)], ...(value.length > 1 ? [value.toReversed()] : [])];
  return [!value];
}
