// Configurations, data set rows, requests and replies that name an object's prototype change nothing but themselves.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseSettings, resolveOptions } from '../../run/config.ts';
import { openDataset } from '../../formats/datasets/index.ts';
import { queryFromRow } from '../../formats/datasets/row.ts';
import { parseExactJson } from '../../environments/code/exact-json.ts';
import { testFolder } from '../support/scratch-folder.ts';

const NAMES = ['__proto__', 'constructor', 'constructor.prototype', 'toString', '__defineGetter__', 'then'];
const VALUES = ['{"x":1}', '{"polluted":true,"__proto__":{"polluted":true}}', '"text"', '[1]', 'null', '{"get":1}'];
/** JSON texts: only `JSON.parse` makes `__proto__` a key like any other. */
const OBJECTS = NAMES.flatMap((name) =>
  VALUES.map((value) => ({ name, value, text: `{${JSON.stringify(name)}:${value}}` })),
);

const clean = Object.getOwnPropertyNames(Object.prototype).toSorted();

/** What every object has is what it was. */
const seen = () => ({
  added: ['x', 'polluted'].filter((name) => name in {}),
  names: Object.getOwnPropertyNames(Object.prototype).toSorted(),
  above: Object.getPrototypeOf(Object.prototype) as unknown,
});
const untouched = { added: [], names: clean, above: null };

const settled = (work: () => unknown) => {
  try {
    return work();
  } catch {
    // Refused: as good.
    return undefined;
  }
};

describe('keys that name prototypes', () => {
  test.each(['json', 'yaml'])('change nothing from configuration files (%s)', (kind) => {
    const folder = testFolder();
    for (const [i, { name, value, text }] of OBJECTS.entries()) {
      const file = join(folder, `${i}.${kind}`);
      const yaml = `${name}: ${value}\n? ${JSON.stringify(name)}\n: ${value}\n<<: ${value}\n`;
      writeFileSync(file, kind === 'json' ? text : yaml);
      settled(() => resolveOptions({ environment: {}, flags: {}, configFile: file }));
    }
    expect(seen()).toEqual(untouched);
  });

  test('change nothing from values of --set, and of the environment', () => {
    for (const { name, value } of OBJECTS) {
      settled(() => resolveOptions({ environment: {}, flags: {}, set: [`${name}=${value}`] }));
      settled(() => resolveOptions({ environment: { [`EVERTURN_${name}`]: value }, flags: {} }));
      settled(() =>
        resolveOptions({ environment: {}, flags: JSON.parse(`{${JSON.stringify(name)}:${value}}`) as never }),
      );
    }
    expect(seen()).toEqual(untouched);
  });

  test('change nothing from settings of a request to a workflow', () => {
    for (const { text } of OBJECTS) settled(() => parseSettings('r', JSON.parse(text) as never));
    expect(seen()).toEqual(untouched);
  });

  test('change nothing from data set rows', async () => {
    const lines: string[] = [];
    for (const { name, value, text } of OBJECTS)
      for (const row of [
        `{"id":${JSON.stringify(name)},"question":"1 + 1?","answer":"2",${text.slice(1)}`,
        `{"id":"${name}${value.length}","messages":[{"role":"user","content":"x",${text.slice(1)}],"answer":"2"}`,
        `{"id":"c","task":"code","question":"x","input_output":{"inputs":[${value}],"outputs":[${text}],${text.slice(1)}}`,
      ]) {
        lines.push(row);
        queryFromRow(JSON.parse(row), '1');
      }
    const path = join(testFolder(), 'rows.jsonl');
    writeFileSync(path, lines.join('\n'));
    let read = 0;
    for await (const row of openDataset(path).rows()) read += row ? 1 : 0;
    expect(read).toBe(lines.length);
    expect(seen()).toEqual(untouched);
  });

  test('change nothing from values of a program', () => {
    for (const { text } of OBJECTS) {
      const value = parseExactJson(text) as Record<string, unknown>;
      expect(Object.getPrototypeOf(value)).toBeNull();
      expect(Object.keys(value)).toHaveLength(1);
    }
    expect(seen()).toEqual(untouched);
  });
});
