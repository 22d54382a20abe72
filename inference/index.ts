// The registry of backends, by the scheme of --model. Help, errors, permissions and the check of a fleet read its
// entries, and no other file lists the schemes. Importing it loads no backend.

import { join } from 'node:path';

import { DEFAULT_SETTINGS, type RolloutSettings } from '../domain/rollout/settings.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import type { ModelIdentity } from '../domain/weights/model-identity.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { parseOpenaiTarget, parseServerUrls } from './http/server-url.ts';

interface Entry {
  /** Its notation, for help and messages. */
  readonly usage: string;
  /**
   * The part after the colon: `nothing`; `files`: a folder or hub id, which a worker reads; `server`: the url of one;
   * `fleet`: the urls of several; `program`: a function of the program that makes the run.
   */
  readonly target: 'nothing' | 'files' | 'server' | 'fleet' | 'program';
  /** The urls in a target; throws a UsageError if it is not valid. */
  readonly servers?: (target: string) => readonly string[];
  /** Settings with which every rollout would fail, each with the cause. */
  readonly cannot?: Readonly<Partial<Record<keyof RolloutSettings, string>>>;
  /** Settings that change nothing, each with the cause and what is right instead. */
  readonly ignores?: Readonly<Partial<Record<keyof RolloutSettings, string>>>;
  /** It answers in text, without token ids: no sample for training. */
  readonly text?: true;
  /** How it holds a reply to a form: by parameters of its own, or as chat completions have it. Absent: not at all. */
  readonly holds?: 'constrain' | 'pass';
  create(options: BackendOptions): Promise<Backend>;
}

const NOT_IN_CHAT = 'chat completions of OpenAI have no such parameter';
const NO_BODY = { extraBody: 'only openai: endpoints are sent such a body' };
const NOT_DETERMINISTIC = 'a server answers other requests beside it';

const BACKENDS = {
  tiny: {
    usage: 'tiny',
    target: 'nothing',
    cannot: NO_BODY,
    create: async (options) => (await import('./embedded/transformers.ts')).createTinyBackend(options),
  },
  transformers: {
    usage: 'transformers:<folder or hub id>',
    target: 'files',
    cannot: NO_BODY,
    create: async (options) => (await import('./embedded/transformers.ts')).createTransformersBackend(options),
  },
  scripted: {
    usage: 'scripted',
    target: 'nothing',
    cannot: NO_BODY,
    ignores: { temperature: 'it is a script, and no model' },
    create: async () => (await import('./embedded/scripted.ts')).createScriptedBackend(),
  },
  sglang: {
    usage: 'sglang:<url>[,<url>…]',
    target: 'fleet',
    servers: parseServerUrls,
    cannot: NO_BODY,
    ignores: { deterministic: `${NOT_DETERMINISTIC}; start SGLang with --enable-deterministic-inference` },
    holds: 'constrain',
    create: async (options) => (await import('./servers/sglang.ts')).createSglangBackend(options),
  },
  vllm: {
    usage: 'vllm:<url>[,<url>…]',
    target: 'fleet',
    servers: parseServerUrls,
    cannot: NO_BODY,
    ignores: { deterministic: NOT_DETERMINISTIC },
    holds: 'constrain',
    create: async (options) => (await import('./servers/vllm.ts')).createVllmBackend(options),
  },
  openai: {
    usage: 'openai:<url>#<model>',
    target: 'server',
    servers: (target) => [parseOpenaiTarget(target).url],
    cannot: { topK: NOT_IN_CHAT, minP: NOT_IN_CHAT },
    ignores: {
      deterministic: NOT_DETERMINISTIC,
      newTokensPerChunk: 'an answer is one request with the whole conversation',
    },
    text: true,
    holds: 'pass',
    create: async (options) => (await import('./servers/openai.ts')).createOpenaiBackend(options),
  },
  function: {
    usage: 'function:<name>',
    target: 'program',
    cannot: {
      ...NO_BODY,
      tokenizer: 'a function gives text',
      chatTemplateKwargs: 'a function is given messages, and no chat template',
    },
    text: true,
    create: async ({ target }) => {
      throw new UsageError(`The model function:${target} is a function of the program that made the run.`, {
        reason: 'not-allowed',
        fix: 'Start that program: it alone answers for it (docs/library.md).',
      });
    },
  },
} as const satisfies Record<string, Entry>;

type Scheme = keyof typeof BACKENDS;

/** The notation of each model that a command takes, in the order of the registry. */
export const MODEL_FORMS: readonly string[] = Object.values(BACKENDS).flatMap(({ usage, target }) =>
  target === 'program' ? [] : [usage],
);

/** The schemes of models that may be served by several servers. */
export const FLEET_SCHEMES: readonly string[] = Object.entries(BACKENDS).flatMap(([scheme, { target }]) =>
  target === 'fleet' ? [scheme] : [],
);

interface ModelSpec {
  readonly scheme: Scheme;
  /** The part after the colon; empty for `tiny`. */
  readonly target: string;
  /** The folder or hub id that a worker reads; null if it reads none. */
  readonly files: string | null;
  /** The urls of its servers; empty for an embedded model. */
  readonly servers: readonly string[];
}

export function parseModelSpec(spec: string): ModelSpec {
  const colon = spec.indexOf(':');
  const scheme = colon < 0 ? spec : spec.slice(0, colon);
  const target = colon < 0 ? '' : spec.slice(colon + 1).trim();
  const entry: Entry | null = isScheme(scheme) ? BACKENDS[scheme] : null;
  const needsTarget = entry?.target !== 'nothing';
  if (!isScheme(scheme) || entry === null || needsTarget !== (target !== '') || (colon >= 0 && !needsTarget)) {
    throw new UsageError(`"${short(spec, 500)}" names no model`, {
      reason: 'unknown-model',
      fix: `Right would be ${MODEL_FORMS.join(' or ')}.`,
    });
  }
  const files = entry.target === 'files' ? target : null;
  return { scheme, target, files, servers: entry.servers?.(target) ?? [] };
}

interface Unhonoured {
  readonly name: string;
  readonly why: string;
  /** Every rollout would fail; else the setting changes nothing. */
  readonly fatal: boolean;
}

/** The settings of the run that its model does not honour. Defaults promise nothing. */
export function unhonouredSettings(settings: RolloutSettings): readonly Unhonoured[] {
  const { cannot = {}, ignores = {} }: Entry = BACKENDS[parseModelSpec(settings.model).scheme];
  return [cannot, ignores].flatMap((table) =>
    Object.entries(table)
      .filter(
        ([name]) =>
          (settings[name as keyof RolloutSettings] ?? null) !==
          (DEFAULT_SETTINGS[name as keyof typeof DEFAULT_SETTINGS] ?? null),
      )
      .map(([name, why]) => ({ name, why, fatal: table === cannot })),
  );
}

/** Its answers have token ids; of a model that nobody knows it is assumed. */
export function givesIds(spec: string): boolean {
  const scheme = spec.split(':', 1)[0]!;
  return !isScheme(scheme) || (BACKENDS[scheme] as Entry).text !== true;
}

/** How a model holds a reply to a form; undefined: it does not. */
export const constrainedBy = (spec: string): Entry['holds'] => (BACKENDS[parseModelSpec(spec).scheme] as Entry).holds;

/** Absent settings take their defaults. */
export function createBackend(
  spec: string,
  options: Partial<Omit<BackendOptions, 'target'>> & Pick<BackendOptions, 'log'>,
): Promise<Backend> {
  const { scheme, target } = parseModelSpec(spec);
  return BACKENDS[scheme].create({ ...DEFAULT_SETTINGS, leaseFolder: null, ...options, target });
}

function isScheme(scheme: string): scheme is Scheme {
  return Object.hasOwn(BACKENDS, scheme);
}

/** The identity of the model that ships with the package, without loading it. Throws in an installation that lacks it. */
export async function tinyIdentity(): Promise<ModelIdentity> {
  const [{ folderIdentity }, { packageRoot }, { mustRunModels }] = await Promise.all([
    import('./tokenizer/model-files.ts'),
    import('../local/machine/package-root.ts'),
    import('./embedded/runtime.ts'),
  ]);
  mustRunModels('tiny');
  return folderIdentity(join(packageRoot(), 'models', 'tiny'), 'tiny');
}
