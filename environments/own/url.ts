// The door `url`: a server that answers the same calls over HTTP, `POST <address>/respond` and so on; or a reward server
// in the shape of OpenRLHF, slime or NeMo Gym, which gives a number for an answer and has no version of its own; or one of
// OpenEnv (openenv.ts). No redirect is followed, and a reply is read up to its limit only.

import { createHash } from 'node:crypto';
import { DEFAULT_TIMEOUT_SECONDS, type EnvironmentRecord, type RespondParams } from '../../domain/environment.ts';
import type { Json } from '../../domain/json.ts';
import type { Environment, EnvironmentCall } from '../environment.ts';
import { addressOf, type Shape } from './address.ts';
import { type Described, mismatch } from './command.ts';
import { reported } from './line-process.ts';
import { nemoGymEnvironment } from './nemo-gym.ts';
import { describeOpenEnv } from './openenv.ts';
import { post } from './post.ts';
import { broken, parseBegun, parseHello, parseReply } from './reply.ts';
import { beginParams, endParams, episodeOf, respondParams, stateAfter } from './wire.ts';

/** Of a reward server, as OpenRLHF has it. */
const REWARD_TIMEOUT_SECONDS = 180;
const DESCRIBE_MS = 30_000;

export async function describeUrl(href: string): Promise<Described> {
  const { base, shape, who } = addressOf(href);
  const common = { door: 'url', spec: [href] } as const;
  if (shape === 'openenv') return describeOpenEnv(href);
  if (shape !== 'everturn') {
    const name = `${shape}-${createHash('sha256').update(href).digest('hex').slice(0, 12)}`;
    const begins = shape === 'nemo-gym';
    const claimed = { version: 'claimed', state: 'none', begins, ends: false, claimed: true } as const;
    const record = { ...common, name, ...claimed, timeoutSeconds: REWARD_TIMEOUT_SECONDS, fingerprint: hashOf(href) };
    return { record, agents: [] };
  }
  const signal = AbortSignal.timeout(DESCRIBE_MS);
  const value = await post(who, 'describe', `${base}/describe`, {}, { signal, timeoutMs: DESCRIBE_MS, key: null });
  const { fingerprint, agents = [], ...hello } = parseHello(who, resultOf(who, 'describe', value).result);
  if (hello.state === 'replay') {
    throw broken(
      who,
      'describe',
      'its state is "replay", which needs a process of its own',
      'Keep the state as a value, or serve it as a command.',
    );
  }
  const own = fingerprint ?? `${hello.name} ${hello.version} ${href}`;
  const claimed = fingerprint === undefined ? ({ claimed: true } as const) : {};
  return { record: { ...common, ...hello, fingerprint: hashOf(own), ...claimed }, agents };
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

export function urlEnvironment(record: EnvironmentRecord, words: readonly string[]): Environment {
  const { base, shape, who } = addressOf(words[0]!);
  const { state: kind, begins, ends, timeoutSeconds = DEFAULT_TIMEOUT_SECONDS } = record;
  const timeoutMs = timeoutSeconds * 1000;

  async function call(method: string, params: object, key: string, { signal }: EnvironmentCall): Promise<unknown> {
    const value = await post(who, method, `${base}/${method}`, params, { signal, timeoutMs, key });
    const { result, fingerprint } = resultOf(who, method, value);
    const found = fingerprint === undefined ? null : hashOf(fingerprint);
    if (!record.claimed && found !== record.fingerprint)
      throw mismatch(record, found === null ? 'a reply without a fingerprint' : who, found ?? '');
    return result;
  }

  if (shape === 'nemo-gym') return nemoGymEnvironment(who, base, record);
  if (shape !== 'everturn') {
    return {
      async respond(move, { signal }) {
        const params = respondParams(move, await move.before(), 'none');
        const key = `${params.episode.key}/${move.turn}`;
        const value = await post(who, shape, base, rewardBody(shape, params), { signal, timeoutMs, key });
        return parseReply(who, 'none', rewardReply(who, shape, value), undefined);
      },
    };
  }
  return {
    ...(begins && {
      begin: async (rollout, options) =>
        parseBegun(who, kind, await call('begin', beginParams(rollout), episodeOf(rollout).key, options)),
    }),
    async respond(move, options) {
      const before = await move.before();
      const params = respondParams(move, before, kind);
      const result = await call('respond', params, `${params.episode.key}/${move.turn}`, options);
      return parseReply(who, kind, result, kind === 'value' ? stateAfter(move.rollout, before) : undefined);
    },
    ...(ends && {
      end: async ({ rollout, before }, options) => {
        const params = endParams(rollout, await before(), kind);
        await call('end', params, `${params.episode.key}/end`, options);
      },
    }),
  };
}

/** `{"result": …, "fingerprint"}`, or `{"error": …}`. */
function resultOf(who: string, method: string, value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw broken(who, method, 'the reply is not an object');
  const { result, error, fingerprint } = value as Record<string, unknown>;
  if (error !== undefined && error !== null) throw reported(who, method, error);
  if (!('result' in value)) throw broken(who, method, 'the reply has neither `result` nor `error`');
  if (fingerprint !== undefined && typeof fingerprint !== 'string')
    throw broken(who, method, 'its `fingerprint` is no text');
  return { result, fingerprint };
}

function rewardBody(shape: Shape, { episode: { row }, answer, messages }: RespondParams): object {
  const [only, ...more] = messages;
  const prompt =
    only && more.length === 0 ? only.content : messages.map(({ role, content }) => `${role}: ${content}\n`).join('');
  const label = labelOf(row);
  return shape === 'slime'
    ? { prompt, response: answer, label }
    : { query: [`${prompt}${answer}`], prompts: [prompt], labels: [label] };
}

function labelOf(row: Readonly<Record<string, Json>>): Json {
  const { label, answer, ground_truth: truth, solutions } = row;
  return label ?? answer ?? truth ?? (Array.isArray(solutions) ? (solutions as Json[])[0] : undefined) ?? null;
}

/** A number, a list of one, or an object that holds one. */
function rewardReply(who: string, shape: Shape, value: unknown): object {
  const first = (item: unknown): unknown => (Array.isArray(item) && item.length === 1 ? (item as unknown[])[0] : item);
  if (typeof first(value) === 'number') return { reward: first(value) };
  const { rewards, reward, score, extra_logs: logs } = (value ?? {}) as Record<string, unknown>;
  const found = first(rewards) ?? first(reward) ?? first(score);
  if (typeof found !== 'number') throw broken(who, shape, 'the reply holds no single reward');
  const metrics = Object.entries((logs ?? {}) as object).flatMap(([name, item]): [string, number][] => {
    const one = first(item);
    return typeof one === 'number' ? [[name, one]] : [];
  });
  return { reward: found, ...(metrics.length > 0 ? { metrics: Object.fromEntries(metrics) } : {}) };
}
