// An OpenEnv server behind an address, `#openenv`: a session is one WebSocket at `<address>/ws`, `reset` begins it and each
// answer is a `step`. It is held by the worker that began it: with the connection it is lost, and never begun afresh. The
// server's schemas are the run's, or the session does not begin. Its tools (MCP) are not called.

import { createHash } from 'node:crypto';
import {
  type Begun,
  DEFAULT_TIMEOUT_SECONDS,
  type EnvironmentRecord,
  isEnvironmentName,
  type Reply,
} from '../../domain/environment.ts';
import { EnvironmentError } from '../../domain/errors.ts';
import { short } from '../../domain/foreign-text.ts';
import { turnSeed } from '../../domain/ids.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Message } from '../../domain/query.ts';
import type { Environment, Played } from '../environment.ts';
import { type Address, addressOf } from './address.ts';
import { type Described, mismatch } from './command.ts';
import { heldEnvironment } from './held-environment.ts';
import { JsonSocket } from './json-socket.ts';
import { actionForm, type ActionForm, actionOf, observationText } from './openenv-action.ts';
import { post } from './post.ts';
import { broken, parseBegun, parseReply } from './reply.ts';
import { type Connection, openConnections } from './connections.ts';
import { episodeOf, respondParams } from './wire.ts';

/** Without a call for so long a session is closed. */
const IDLE_SECONDS = 600;
/** Between two tries to get a session of a server that has no free one. */
const FULL_MS = 2_000;

interface Server {
  readonly name: string;
  readonly version: string;
  readonly form: ActionForm;
  readonly fingerprint: string;
}

export async function describeOpenEnv(href: string): Promise<Described> {
  const address = addressOf(href);
  const { idleSeconds = IDLE_SECONDS, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = address.options;
  const { name, version, fingerprint } = await readServer(address, href, timeoutSeconds * 1000);
  const own = { name, version, fingerprint, state: 'held', begins: true, ends: true, claimed: true } as const;
  return { record: { door: 'url', spec: [href], ...own, timeoutSeconds, idleSeconds }, agents: [] };
}

/** Its schemas, and what it says of itself. */
async function readServer(
  { who, base, options }: Address,
  href: string,
  timeoutMs: number,
  signal = AbortSignal.timeout(timeoutMs),
): Promise<Server> {
  const get = (path: string) => post(who, path, `${base}/${path}`, null, { signal, timeoutMs });
  const schema = await get('schema');
  const action = isObject(schema) ? schema['action'] : undefined;
  if (!isObject(action)) throw broken(who, 'schema', 'it has no schema of an action', 'Is it a server of OpenEnv?');
  const form = actionForm(action, options.action);
  if (!form) {
    throw broken(
      who,
      'schema',
      `its action has no field ${JSON.stringify(short(options.action ?? '', 40))}`,
      'Name one of its fields with #openenv&action=<field>.',
    );
  }
  const about = await get('metadata').catch(absent);
  const { name: title, version } = isObject(about) ? about : {};
  const hash = createHash('sha256').update(href).digest('hex').slice(0, 12);
  const words = typeof title === 'string' ? title.replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2') : '';
  const slug = words.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const said = typeof version === 'string' && version !== '' ? short(version, 100) : 'claimed';
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([href, title ?? null, said, action]))
    .digest('hex');
  return { name: isEnvironmentName(slug) ? slug : `openenv-${hash}`, version: said, form, fingerprint };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An older server does not say who it is. */
function absent(error: unknown): null {
  if (error instanceof EnvironmentError && error.reason === 'environment-error') return null;
  throw error;
}

export function openEnvEnvironment(record: EnvironmentRecord, words: readonly string[]) {
  const href = words[0]!;
  const address = addressOf(href);
  const { who, base, options } = address;
  const timeoutMs = record.timeoutSeconds * 1000;
  const connections = openConnections();

  async function server(signal: AbortSignal): Promise<Server> {
    const found = await readServer(address, href, timeoutMs, signal);
    if (found.fingerprint !== record.fingerprint)
      throw mismatch(record, `${found.name} ${found.version}`, found.fingerprint);
    return found;
  }

  const environment: Environment = heldEnvironment(record, connections, {
    async begin(seat: Connection, rollout, signal): Promise<Begun> {
      const { form } = await server(signal);
      const { key, row } = episodeOf(rollout);
      const socket = await JsonSocket.open(who, `${base}/ws`, { signal, timeoutMs });
      seat.socket = socket;
      seat.form = form;
      const given = isObject(row['reset']) ? row['reset'] : {};
      const data = { seed: seedOf(rollout), episode_id: key, ...given };
      const { observation, done } = await asked(socket, 'reset', { type: 'reset', data }, signal);
      if (done) throw broken(who, 'reset', 'the episode is over before it begins');
      const shown = observationText(observation, options.show);
      const messages = firstMessages(rollout, shown, form.says);
      const begun = parseBegun(who, 'held', messages.length > 0 ? { messages } : {});
      seat.live.set(key, 0);
      return begun;
    },

    async respond({ socket, form, live }, move, before, signal): Promise<Reply> {
      const { episode, answer } = respondParams(move, before, 'none');
      live.delete(episode.key);
      const said = actionOf(answer, form!);
      const stepping = 'fault' in said ? badAction(said.fault) : stepped(socket!, form!, said.action, signal);
      const reply = parseReply(who, 'held', await stepping, undefined);
      live.set(episode.key, move.turn);
      return reply;
    },

    async end({ socket }) {
      socket?.close({ type: 'close' });
    },
  });

  async function stepped(socket: JsonSocket, form: ActionForm, data: JsonObject, signal: AbortSignal): Promise<object> {
    const { observation, reward, done, fault } = await asked(socket, 'step', { type: 'step', data }, signal);
    if (fault !== undefined) return badAction(`Your action is not valid: ${fault} ${form.says}`.trim());
    const scored = reward === null ? {} : { reward };
    if (done) return { done, ...scored };
    const content = observationText(observation, options.show);
    // An observation without text still asks for the next action.
    return { ...scored, messages: [{ role: 'user', content: content === '' ? '(nothing to see)' : content }] };
  }

  async function asked(socket: JsonSocket, method: string, message: object, signal: AbortSignal) {
    const value = await socket.call(method, message, { signal, timeoutMs });
    const { type, data } = isObject(value) ? value : {};
    const body = isObject(data) ? data : {};
    if (type === 'error') return { ...NOTHING, fault: faultOf(method, body) };
    const { observation, reward = null, done = false } = body;
    if (type !== 'observation' || !isObject(observation))
      throw broken(who, method, 'the reply is no {"type": "observation", "data": {"observation": {…}}}');
    if (reward !== null && typeof reward !== 'number' && typeof reward !== 'boolean')
      throw broken(who, method, `its reward is ${short(JSON.stringify(reward), 40)}, and no number`);
    return { observation, reward: reward === null ? null : Number(reward), done: done === true, fault: undefined };
  }

  /** An action that the server's schema refuses is the model's fault; every other error is no reply. */
  function faultOf(method: string, { code, message, errors }: JsonObject): string {
    if (method === 'step' && code === 'VALIDATION_ERROR') return short(faultsIn(errors) || String(message), 500);
    const isFull = code === 'CAPACITY_REACHED';
    throw new EnvironmentError(
      `The environment ${who} failed in \`${method}\`: ${short(String(message ?? code), 500)}`,
      isFull
        ? {
            reason: 'environment-not-served',
            fix: 'Give its server more sessions (`max_concurrent_envs`), or the run a smaller --max-concurrent.',
            retryable: true,
            retryAfterMs: FULL_MS,
          }
        : { reason: 'environment-error', retryable: method === 'reset' && code !== 'VALIDATION_ERROR' },
    );
  }

  return {
    environment,
    isUsed: () => connections.isBusy() || connections.holds(),
    close: () => connections.close(),
  };
}

const NOTHING = { observation: {}, reward: null, done: false } as const;

/** No step was made: it counts 0, and the model may try again. */
const badAction = (content: string): object => ({
  reward: 0,
  metrics: { bad_action: 1 },
  messages: [{ role: 'user', content }],
});

/** Pydantic's errors: the field and the fault of each. */
function faultsIn(errors: Json | undefined): string {
  return (Array.isArray(errors) ? (errors as readonly Json[]) : [])
    .flatMap((one) => {
      if (!isObject(one)) return [];
      const place = Array.isArray(one['loc']) ? (one['loc'] as readonly Json[]).join('.') : '';
      return [`${place === '' ? '' : `${place}: `}${String(one['msg'])}.`];
    })
    .join(' ');
}

/** Equal for all samples of a query: they play the same game. Fits the generators of numpy. */
const seedOf = ({ settings, query }: Played): number => turnSeed(settings.seed, query.queryId, 0, 0) % 2 ** 31;

/** The row's prompt, and behind it what the environment shows. A row with its own words explains the form of an action itself. */
function firstMessages({ query: { prompt } }: Played, shown: string, says: string): Message[] {
  const own = prompt.kind === 'messages' ? prompt.messages : [{ role: 'user', content: prompt.text }];
  const text = [shown, ...(own.length === 0 ? [says] : [])].filter((part) => part !== '').join('\n\n');
  const last = own.at(-1);
  if (text === '') return [...own];
  if (last?.role !== 'user') return [...own, { role: 'user', content: text }];
  return [...own.slice(0, -1), { role: 'user', content: `${last.content}\n\n${text}` }];
}
