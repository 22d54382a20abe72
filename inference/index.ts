// The registry of backends, by the scheme of --model. Importing it loads no backend.

import { join } from 'node:path';

import { UsageError } from '../domain/errors.ts';
import type { ModelIdentity } from '../domain/model-identity.ts';
import type { Backend, BackendOptions } from './backend.ts';
import { short } from '../domain/foreign-text.ts';
import { parseOpenaiTarget, parseServerUrls } from './http/server-url.ts';

interface Entry {
  /** How it is written, for messages. */
  readonly usage: string;
  readonly needsTarget: boolean;
  /** Throws a UsageError where the target cannot be one. */
  readonly check?: (target: string) => unknown;
  create(options: BackendOptions): Promise<Backend>;
}

const BACKENDS = {
  tiny: {
    usage: 'tiny',
    needsTarget: false,
    create: async (options) => (await import('./embedded/transformers.ts')).createTinyBackend(options),
  },
  transformers: {
    usage: 'transformers:<folder or hub id>',
    needsTarget: true,
    create: async (options) => (await import('./embedded/transformers.ts')).createTransformersBackend(options),
  },
  sglang: {
    usage: 'sglang:<url>[,<url>…]',
    needsTarget: true,
    check: parseServerUrls,
    create: async (options) => (await import('./servers/sglang.ts')).createSglangBackend(options),
  },
  vllm: {
    usage: 'vllm:<url>[,<url>…]',
    needsTarget: true,
    check: parseServerUrls,
    create: async (options) => (await import('./servers/vllm.ts')).createVllmBackend(options),
  },
  openai: {
    usage: 'openai:<url>#<model>',
    needsTarget: true,
    check: parseOpenaiTarget,
    create: async (options) => (await import('./servers/openai.ts')).createOpenaiBackend(options),
  },
} as const satisfies Record<string, Entry>;

export type Scheme = keyof typeof BACKENDS;

export interface ModelSpec {
  readonly scheme: Scheme;
  /** The part after the colon; empty for `tiny`. */
  readonly target: string;
}

export function parseModelSpec(spec: string): ModelSpec {
  const colon = spec.indexOf(':');
  const scheme = colon < 0 ? spec : spec.slice(0, colon);
  const target = colon < 0 ? '' : spec.slice(colon + 1).trim();
  const entry: Entry | null = isScheme(scheme) ? BACKENDS[scheme] : null;
  if (
    !isScheme(scheme) ||
    entry === null ||
    entry.needsTarget !== (target !== '') ||
    (colon >= 0 && !entry.needsTarget)
  ) {
    const allowed = Object.values(BACKENDS).map(({ usage }) => usage);
    throw new UsageError(`"${short(spec, 500)}" names no model`, {
      reason: 'unknown-model',
      fix: `Right would be ${allowed.join(' or ')}.`,
    });
  }
  entry.check?.(target);
  return { scheme, target };
}

export function createBackend(spec: string, options: Omit<BackendOptions, 'target'>): Promise<Backend> {
  const { scheme, target } = parseModelSpec(spec);
  return BACKENDS[scheme].create({ ...options, target });
}

function isScheme(scheme: string): scheme is Scheme {
  return Object.hasOwn(BACKENDS, scheme);
}

/** Of the model that ships with the package, without loading it. */
export async function tinyIdentity(): Promise<ModelIdentity> {
  const [{ folderIdentity }, { packageRoot }] = await Promise.all([
    import('./tokenizer/model-files.ts'),
    import('../machine/package-root.ts'),
  ]);
  return folderIdentity(join(packageRoot(), 'models', 'tiny'), 'tiny');
}
