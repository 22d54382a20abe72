// Lines of a data set as careless hands, broken tools and hostile ones leave them: by kind, each from a number and a
// stream of random numbers. None holds a line feed.

import type { Random } from './seed.ts';

type Line = string | Uint8Array;
type Mutation = (n: number, random: Random) => Line;

const row = (n: number): Record<string, unknown> => ({
  id: `odd-${n}`,
  question: `How many are ${n} and 1?`,
  answer: String(n + 1),
});
const code = (n: number, inputOutput: unknown) => ({
  id: `odd-${n}`,
  task: 'code',
  question: '?',
  input_output: inputOutput,
});
const pick = <T>(random: Random, from: readonly T[]): T => from[Math.floor(random() * from.length)]!;
const whole = (random: Random, most: number) => Math.floor(random() * most);
const FIELDS = ['id', 'question', 'answer'] as const;

/** A field's value as JSON text of its own making. */
const withText = (n: number, field: string, json: string): string => {
  const { [field]: _, ...rest } = row(n);
  return `${JSON.stringify(rest).slice(0, -1)},${JSON.stringify(field)}:${json}}`;
};
const inBytes = (n: number, random: Random, bytes: readonly number[]): Uint8Array => {
  const line = Buffer.from(JSON.stringify(row(n)));
  const at = whole(random, line.length);
  return Buffer.concat([line.subarray(0, at), Buffer.from(bytes), line.subarray(at)]);
};
const noLineFeed = (byte: number) => (byte === 10 ? 11 : byte);

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'bytes that are not UTF-8': (n, random) =>
    inBytes(n, random, pick(random, [[0xc3, 0x28], [0xff], [0xed, 0xa0, 0x80], [0xf8, 0x88, 0x80, 0x80], [0x80]])),
  'a byte order mark': (n) => `\ufeff${JSON.stringify(row(n))}`,
  'a carriage return': (n) => `${JSON.stringify(row(n))}\r`,
  'carriage returns between': (n) => JSON.stringify(row(n)).replaceAll(',', ',\r'),
  'a raw NUL': (n, random) => inBytes(n, random, [0]),
  'an escaped NUL': (n, random) => withText(n, pick(random, FIELDS), '"a\\u0000b"'),
  'half a character': (n, random) => withText(n, pick(random, FIELDS), '"a\\ud800b"'),
  'nested lists': (n, random) => {
    const depth = 10 ** (1 + whole(random, 5));
    return withText(n, pick(random, [...FIELDS, 'extra', 'solutions']), '['.repeat(depth) + ']'.repeat(depth));
  },
  'nested objects': (n, random) => {
    const depth = 10 ** (1 + whole(random, 5));
    return withText(n, pick(random, [...FIELDS, 'extra', 'messages']), `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  },
  'nesting without an end': (_, random) => pick(random, ['[', '{"a":', '{"id":[']).repeat(10 ** (1 + whole(random, 4))),
  'a huge number': (n, random) =>
    withText(
      n,
      pick(random, FIELDS),
      pick(random, ['1e999', '-1e999', '1e-400', '9007199254740993', '9'.repeat(5000), '-0']),
    ),
  'an id of before': (n) => JSON.stringify({ ...row(n), id: `good-${n}` }),
  'an id twice in the line': (n) => `{"id":"good-${n}","id":"odd-${n}","question":"?","answer":"1"}`,
  __proto__: (n, random) =>
    withText(
      n,
      pick(random, ['__proto__', 'constructor']),
      pick(random, ['{"polluted":1}', '{"prototype":{"polluted":1}}', 'null', '1']),
    ),
  '__proto__ with all in it': (n) => `{"__proto__":${JSON.stringify(row(n))}}`,
  '__proto__ in messages': () => '{"messages":[{"__proto__":{"role":"user","content":"hi"}}],"answer":"1"}',
  'a field missing': (n, random) => {
    const { [pick(random, FIELDS)]: _, ...rest } = row(n);
    return JSON.stringify(rest);
  },
  'every field missing': () => '{}',
  'a field of another kind': (n, random) =>
    JSON.stringify({
      ...row(n),
      [pick(random, FIELDS)]: pick(random, [1.5, true, [], {}, [1], { a: 1 }, '', ' ', null]),
    }),
  'a prompt twice': (n, random) => JSON.stringify({ ...row(n), [pick(random, ['prompt', 'problem'])]: '?' }),
  'messages that are none': (n, random) =>
    JSON.stringify({
      id: `odd-${n}`,
      answer: '1',
      messages: pick<unknown>(random, [[], [1], [{}], [{ role: 'user' }], 'hi', [null]]),
    }),
  'solutions that are none': (n, random) =>
    JSON.stringify({ ...row(n), solutions: pick<unknown>(random, [[], [[]], 'x', [null], [{}], [''], { 0: 'x' }]) }),
  'an unknown task': (n, random) =>
    JSON.stringify({ ...row(n), task: pick<unknown>(random, ['poetry', 1, {}, '__proto__', 'toString']) }),
  'cases that are none': (n, random) =>
    JSON.stringify(
      code(
        n,
        pick<unknown>(random, [
          null,
          1,
          'x',
          '{',
          {},
          { inputs: [] },
          { inputs: [1], outputs: [] },
          { inputs: ['1'], outputs: ['1'], fn_name: 1 },
        ]),
      ),
    ),
  'cases nested deeply': (n, random) => {
    const depth = 10 ** (1 + whole(random, 4));
    const cases = `{"inputs":[${'['.repeat(depth)}${']'.repeat(depth)}],"outputs":["1"]}`;
    return random() < 0.5
      ? `{"id":"odd-${n}","task":"code","question":"?","input_output":${cases}}`
      : JSON.stringify(code(n, cases));
  },
  'an id that climbs': (n, random) =>
    JSON.stringify({ ...row(n), id: `${pick(random, ['../', '/etc/', '..\\', 'a/../../', '%2e%2e/'])}${n}` }),
  'an id of odd characters': (n, random) =>
    JSON.stringify({
      ...row(n),
      id: `${pick(random, ['\u001b[2J', '\u202e', '\t', '\r', '\u0085', 'é', '💥', '\u2028'])}${n}`,
    }),
  'an id that is long': (n, random) =>
    JSON.stringify({ ...row(n), id: `${n}`.padEnd(10 ** (2 + whole(random, 4)), 'x') }),
  'a text that is long': (n, random) =>
    JSON.stringify({ ...row(n), [pick(random, FIELDS)]: 'x '.repeat(10 ** (3 + whole(random, 3))) }),
  'many keys': (n, random) =>
    `{${Array.from({ length: 10 ** (2 + whole(random, 3)) }, (_, i) => `"k${i}":${i}`).join()},${JSON.stringify(row(n)).slice(1)}`,
  'JSON that is no object': (n, random) =>
    pick(random, ['[]', '1', 'null', '"text"', 'true', `[${JSON.stringify(row(n))}]`]),
  'almost JSON': (n, random) => {
    const line = JSON.stringify(row(n));
    return pick(random, [
      `${line},`,
      line.replaceAll('"', "'"),
      `${line}${line}`,
      `// ${line}`,
      line.replace('}', ',}'),
      `data: ${line}`,
      line.replace(/"answer":"\d+"/, '"answer":NaN'),
    ]);
  },
  'an end that is missing': (n, random) => JSON.stringify(row(n)).slice(0, whole(random, 60)),
  'one byte changed': (n, random) => {
    const line = Buffer.from(JSON.stringify(row(n)));
    line[whole(random, line.length)] = noLineFeed(whole(random, 256));
    return line;
  },
  'many bytes changed': (n, random) => {
    const line = Buffer.from(JSON.stringify(row(n)));
    for (let i = 0; i < 10; i++) line[whole(random, line.length)] = noLineFeed(whole(random, 256));
    return line;
  },
  noise: (_, random) => Uint8Array.from({ length: 1 + whole(random, 300) }, () => noLineFeed(whole(random, 256))),
};
