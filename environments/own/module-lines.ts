// Shared by the processes of users' modules, environments and tools: the bundle, whose bytes must have the run's hash, and
// the calls, one JSON line each. Standard output belongs to the messages; console.log goes to the log.

import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { compileFunction } from 'node:vm';

const put = process.stdout.write.bind(process.stdout);
const say = (line: object): void => void put(`${JSON.stringify(line)}\n`);
process.stdout.write = process.stderr.write.bind(process.stderr);

/** The module lacks an export that it needs. The message is complete, so no stack is logged. */
export class Unfit extends Error {}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export function logStack(error: unknown): void {
  if (error instanceof Error && error.stack && !(error instanceof Unfit)) process.stderr.write(`${error.stack}\n`);
}

/** The exports of a bundle. */
function loaded(path: string, sha256: string): Readonly<Record<string, unknown>> {
  const code = readFileSync(path);
  const found = createHash('sha256').update(code).digest('hex');
  if (found !== sha256) throw new Unfit(`the bundle has the hash ${found}, and the run names ${sha256}`);
  const parts = ['module', 'exports', 'require'];
  const run = compileFunction(code.toString('utf8'), parts, { filename: path }) as (...parts: unknown[]) => void;
  const bundle: { exports: Readonly<Record<string, unknown>> } = { exports: {} };
  run(bundle, bundle.exports, createRequire(path));
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
    say({ hello: { protocol: 1, ...hello } });
    let rest = '';
    process.stdin.setEncoding('utf8');
    for await (const chunk of process.stdin) {
      const lines = (rest + String(chunk)).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        const call = JSON.parse(line) as Call;
        try {
          say({ id: call.id, result: await answer(call) });
        } catch (error) {
          say({ id: call.id, error: failure(error) });
        }
      }
    }
  } catch (error) {
    logStack(error);
    say({ error: { message: messageOf(error) } });
    process.exitCode = 1;
  }
}
