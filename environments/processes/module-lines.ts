// Shared by the processes of users' modules, environments and tools: the bundle, whose bytes must have the run's hash, and
// the calls, one JSON line each. Standard output belongs to the messages; console.log goes to the log.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire, SourceMap, type SourceMapping, type SourceMapPayload } from 'node:module';
import { compileFunction } from 'node:vm';

const put = process.stdout.write.bind(process.stdout);
const say = (line: object): void => void put(`${JSON.stringify(line)}\n`);

/** A result as one line. A value that JSON does not have is no null: the line says so, and cannot be read. */
function sayResult(id: number, result: unknown): void {
  const none = unsayable(result);
  if (none === undefined) say({ id, result });
  else put(`{"id":${id},"result":${none}}\n`);
}

/** A replacer of JSON: NaN and the infinities become texts, and no null. */
export const spellNonFinite = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;

/** NaN and the infinities anywhere, and a named reward, or one of a span, that is undefined: without it the sum is another. */
function unsayable(result: unknown): string | undefined {
  const none = firstOf(result, (value) => typeof value === 'number' && !Number.isFinite(value));
  if (none !== undefined) return String(none);
  const { reward, credit } = Object(result) as { readonly reward?: unknown; readonly credit?: unknown };
  const isPartial = (one: unknown) => (Object.values(Object(one) as object) as unknown[]).includes(undefined);
  return [reward, ...(Array.isArray(credit) ? (credit as unknown[]) : [])].some(isPartial) ? 'undefined' : undefined;
}

/** The first value in a tree for which this holds. Of cycles, which no JSON has, the first round alone. */
function firstOf(value: unknown, holds: (value: unknown) => boolean, seen = new Set<unknown>()): unknown {
  if (holds(value)) return value;
  if (typeof value !== 'object' || value === null || seen.has(value) || 'toJSON' in value) return undefined;
  seen.add(value);
  for (const one of Object.values(value)) {
    const found = firstOf(one, holds, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Refuses a field that is a known one but for a letter or two, or its beginning: it would be passed over. */
export function mustBeSpelt(what: string, value: object, known: readonly string[]): void {
  for (const name of Object.keys(value)) {
    const meant = known.includes(name) ? undefined : known.find((one) => isNear(name.toLowerCase(), one.toLowerCase()));
    if (meant !== undefined) throw new Unfit(`${what} has the field \`${name}\`: \`${meant}\` is meant`);
  }
}

/** Plurals are often a module's own. */
const isNear = (name: string, known: string): boolean =>
  name.replaceAll(/[_-]/g, '') === known ||
  (known.endsWith('seconds') && name.length >= 4 && known.startsWith(name)) ||
  (known.length >= 5 && name !== `${known}s` && edits(name, known) <= 1);

/** Letters to be changed, added or left out: 0, 1, or 2 for more. */
function edits(a: string, b: string): number {
  if (a === b) return 0;
  let i = 0;
  while (a[i] === b[i]) i++;
  const rests = [
    [a.slice(i + 1), b.slice(i + 1)],
    [a.slice(i + 1), b.slice(i)],
    [a.slice(i), b.slice(i + 1)],
  ];
  return rests.some(([x, y]) => x === y) ? 1 : 2;
}
process.stdout.write = process.stderr.write.bind(process.stderr);

/** The module lacks an export that it needs. The message is complete, so no stack is logged. */
export class Unfit extends Error {}

/** The message, and the places in the user's own files from which it came; the log gets them too. */
export function reportOf(error: unknown): { readonly message: string; readonly trace?: string } {
  if (!(error instanceof Error)) return { message: String(error) };
  const frames = error instanceof Unfit ? [] : framesOf(error);
  if (frames.length === 0) return { message: error.message };
  const trace = [`${error.name}: ${error.message.slice(0, MESSAGE_CHARS)}`, ...frames].join('\n');
  process.stderr.write(`${trace}\n`);
  return { message: error.message, trace };
}

const FRAME = /^ +at (?:(?:Object\.)?(.*) \()?.*\.cjs:(\d+):(\d+)\)?$/;
const FRAMES = 6;
const MESSAGE_CHARS = 1_000;

/** The innermost ones in the module. */
function framesOf({ stack }: Error): string[] {
  const frames = String(stack)
    .split('\n')
    .flatMap((line) => {
      const [frame, name, row, column] = FRAME.exec(line) ?? [];
      const found = frame === undefined ? {} : sources?.findEntry(Number(row) - 1, Number(column) - 1);
      const at: Partial<SourceMapping> = found ?? {};
      if (at.originalSource === undefined) return [];
      return [`  at ${at.originalSource}:${(at.originalLine ?? 0) + 1}${name ? ` in ${name}` : ''}`];
    });
  return [...new Set(frames)].slice(0, FRAMES);
}

let sources: SourceMap | undefined;

/** The bundle's own map, on its last line. */
function sourcesIn(code: string): SourceMap | undefined {
  const [, encoded] = /\n\/\/# sourceMappingURL=data:application\/json;charset=utf-8;base64,(.*)\s*$/.exec(code) ?? [];
  return encoded === undefined
    ? undefined
    : new SourceMap(JSON.parse(Buffer.from(encoded, 'base64').toString()) as SourceMapPayload);
}

/** The exports of a bundle. */
function loaded(path: string, sha256: string): Readonly<Record<string, unknown>> {
  const code = readFileSync(path);
  const found = createHash('sha256').update(code).digest('hex');
  if (found !== sha256) throw new Unfit(`the bundle has the hash ${found}, and the run names ${sha256}`);
  const text = code.toString('utf8');
  sources = sourcesIn(text);
  const parts = ['module', 'exports', 'require'];
  const run = compileFunction(text, parts, { filename: path }) as (...parts: unknown[]) => void;
  const bundle: { exports: Readonly<Record<string, unknown>> } = { exports: {} };
  run(bundle, bundle.exports, createRequire(path));
  if (bundle.exports instanceof Promise)
    throw new Unfit('it has a top-level `await`, which a bundle cannot have: do that work in a function');
  return bundle.exports;
}

/** The first line, and the answers to calls. */
export interface Module<Call> {
  readonly hello: object;
  answer(call: Call): Promise<unknown>;
  /** The error that is sent in place of a result. */
  failure(error: unknown): object;
}

/** Arguments of the process: the bundle's path, and its SHA-256. `open` takes the bundle's exports. */
export async function serveModule<Call extends { readonly id: number }>(
  open: (exported: Readonly<Record<string, unknown>>) => Module<Call>,
): Promise<void> {
  try {
    const [path = '', sha256 = ''] = process.argv.slice(2);
    const { hello, answer, failure } = open(loaded(path, sha256));
    put(`${JSON.stringify({ hello: { protocol: 1, ...hello } }, spellNonFinite)}\n`);
    let rest = '';
    process.stdin.setEncoding('utf8');
    for await (const chunk of process.stdin) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const call = JSON.parse(line) as Call;
        try {
          sayResult(call.id, await answer(call));
        } catch (error) {
          say({ id: call.id, error: failure(error) });
        }
      }
    }
  } catch (error) {
    say({ error: reportOf(error) });
    process.exitCode = 1;
  }
}
