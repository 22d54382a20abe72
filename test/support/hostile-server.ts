// The hostile model server, a process of its own: SGLang, vLLM or OpenAI's chat by their own wire shapes, with
// seeded faults. It writes down every generation it was asked for, and what became of it, before it answers: the
// count outside the system under test. Ends with the process that started it.

import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, openSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { type Canned, hashOf, hostileEngine } from './hostile-engine.ts';
import { commit, type FaultKind, PASSING } from './hostile-faults.ts';
import { openai } from './toy-chat.ts';
import { sglang } from './toy-sglang.ts';
import { vllm } from './toy-vllm.ts';

export interface HostileConfig extends Canned {
  readonly port: number;
  /** Default loopback. */
  readonly host?: string;
  /** JSON lines of `Ask`, appended to. */
  readonly asksFile: string;
  readonly seed: number;
  /** Part of the generations that meet a passing fault. */
  readonly faultRate?: number;
  readonly faults?: readonly FaultKind[];
  readonly retryAfterSeconds?: number;
  /** Where the runs' folders are: an ask for a turn that is there already is marked. */
  readonly runs?: string;
}

export interface Ask {
  readonly event: 'ask' | 'end';
  /** Epoch milliseconds. */
  readonly at: number;
  readonly n: number;
  readonly pid: number;
  /** `<run>/<query>/<sample>/<turn>`; with OpenAI's shape `<session>/<turn>`. */
  readonly key: string;
  readonly context: string;
  readonly inFlight: number;
  /** At the end: `answered`, `gone` (nobody waited any more) or the fault. */
  readonly how?: 'answered' | 'gone' | FaultKind;
  /** Hash of the ids that were answered; of a chat, of its text. */
  readonly output?: string;
  /** The turn's record stood in its folder when it was asked for. */
  readonly known?: boolean;
}

type Body = Record<string, unknown>;

const config = JSON.parse(process.argv[2]!) as HostileConfig;
const engine = hostileEngine(config);
const answer = { sglang, vllm, openai }[config.kind](engine);
const asks = openSync(config.asksFile, 'a');
const tries = new Map<string, number>();
const UNREADABLE: ReadonlySet<FaultKind> = new Set(['cut', 'hollow']);
const unreadable = new Map<string, number>();
let count = 0;
let inFlight = 0;

const chance = (...what: (string | number)[]) =>
  Number.parseInt(
    createHash('sha256')
      .update(JSON.stringify([config.seed, ...what]))
      .digest('hex')
      .slice(0, 8),
    16,
  ) /
  2 ** 32;

const server = createServer((request, response) => {
  void respond(request, response).catch((error: unknown) => response.destroy(error as Error));
});
server.listen(config.port, config.host ?? '127.0.0.1', () => process.send?.('ready'));
process.once('disconnect', () => process.exit(0));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString();
  const { method = 'GET', url: path = '/' } = request;
  const body = (text === '' ? null : JSON.parse(text)) as Body | null;
  const reply = () => answer({ method, path, text, body, broken: false, gone: () => response.destroyed });
  const send = (status: number, said: string) => {
    if (response.destroyed) return;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(said);
  };
  const context = contextOf(body);
  if (!context) {
    const { status, body: said } = await reply();
    return send(status, said === undefined ? '' : JSON.stringify(said));
  }

  const n = count++;
  const key = keyOf(request, body!);
  const known = isKnown(key);
  const write = (more: Pick<Ask, 'event' | 'how' | 'output' | 'known'>) => {
    const ask: Ask = { at: Date.now(), n, pid: process.pid, key, context, inFlight, ...more };
    appendFileSync(asks, `${JSON.stringify(ask)}\n`);
  };
  inFlight++;
  write({ event: 'ask', ...(known === undefined ? {} : { known }) });
  let closed = false;
  response.once('close', () => {
    inFlight--;
    closed = true;
  });
  const fault = faultOf(key);
  if (fault && fault !== 'reset' && fault !== 'drip' && fault !== 'cut') return fail(fault, '');
  const { status, body: said } = await reply();
  const whole = JSON.stringify(said);
  if (fault) return fail(fault, whole);
  if (closed) return write({ event: 'end', how: 'gone' });
  write({ event: 'end', how: 'answered', output: outputHash(said) });
  send(status, whole);

  function fail(kind: FaultKind, whole: string): void {
    write({ event: 'end', how: kind });
    const { retryAfterSeconds = 1 } = config;
    commit(kind, { response, server, port: config.port, answer: whole, retryAfterSeconds, chance: chance(key, n) });
  }
}

/** Undefined for what start-up asks, and for what is no generation. */
function contextOf(body: Body | null): string | undefined {
  if (!body) return undefined;
  const params = (body['sampling_params'] ?? body) as Body;
  const max = params['max_new_tokens'] ?? params['max_tokens'] ?? params['max_completion_tokens'];
  const messages = body['messages'] as { content: string }[] | undefined;
  if (messages?.[0]?.content === 'Say yes.' || max === 1 || max === undefined) return undefined;
  const ids = (body['input_ids'] ?? body['token_ids'] ?? body['prompt']) as number[] | undefined;
  return ids ? hashOf(ids) : createHash('sha256').update(JSON.stringify(messages)).digest('hex');
}

/** The client names its calls `<run>_<query>_<sample>_<turn>-<random>`; a chat is named by its rollout only. */
function keyOf(request: IncomingMessage, body: Body): string {
  const name = String(body['rid'] ?? body['request_id'] ?? request.headers['x-request-id'] ?? '');
  if (name) return name.replace(/-[0-9a-f]{8}$/, '').replaceAll('_', '/');
  const said = (body['messages'] as { role: string }[]).filter(({ role }) => role === 'assistant').length;
  return `${String(request.headers['x-session-id'])}/${said + 1}`;
}

function isKnown(key: string): boolean | undefined {
  const [run, query, sample, turn] = key.split('/');
  if (!config.runs || !turn) return undefined;
  const shard = createHash('sha256').update(query!).digest('hex').slice(0, 2);
  const file = `turn-${turn.padStart(3, '0')}.json`;
  return existsSync(join(config.runs, run!, 'rollouts', shard, query!, `${sample}.1`, file));
}

function faultOf(key: string): FaultKind | undefined {
  const attempt = (tries.get(key) ?? 0) + 1;
  tries.set(key, attempt);
  if (chance('fault', key, attempt) >= (config.faultRate ?? 0)) return undefined;
  const kinds = config.faults ?? PASSING;
  const kind = kinds[Math.floor(chance('kind', key, attempt) * kinds.length)]!;
  // The third answer of one kind that cannot be read ends a turn: no passing fault any more.
  const unread = UNREADABLE.has(kind) ? (unreadable.get(key) ?? 0) + 1 : 0;
  if (unread > 2) return 'reset';
  if (unread > 0) unreadable.set(key, unread);
  return kind;
}

function outputHash(said: unknown): string {
  const { output_ids: ids, choices } = said as {
    output_ids?: number[];
    choices?: { token_ids?: number[]; message?: { content: string } }[];
  };
  const text = choices?.[0]?.message?.content;
  if (text !== undefined) return createHash('sha256').update(text).digest('hex');
  return hashOf(ids ?? choices?.[0]?.token_ids ?? []);
}
