// The registry of backends: `tiny`, `transformers:<folder or hub id>`. Importing it loads no backend.

import { UsageError } from '../domain/errors.ts';
import type { Backend, BackendOptions } from './backend.ts';

interface Entry {
  /** How it is written, for messages. */
  readonly usage: string;
  readonly needsTarget: boolean;
  create(options: BackendOptions): Promise<Backend>;
}

const BACKENDS = {
  tiny: {
    usage: 'tiny',
    needsTarget: false,
    create: async (options) => (await import('./transformers.ts')).createTinyBackend(options),
  },
  transformers: {
    usage: 'transformers:<folder or hub id>',
    needsTarget: true,
    create: async (options) => (await import('./transformers.ts')).createTransformersBackend(options),
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
  const entry = isScheme(scheme) ? BACKENDS[scheme] : null;
  if (
    !isScheme(scheme) ||
    entry === null ||
    entry.needsTarget !== (target !== '') ||
    (colon >= 0 && !entry.needsTarget)
  ) {
    const allowed = Object.values(BACKENDS).map(({ usage }) => usage);
    throw new UsageError(`"${spec}" names no model`, {
      reason: 'unknown-model',
      fix: `Right would be ${allowed.join(' or ')}.`,
    });
  }
  return { scheme, target };
}

export function createBackend(spec: string, options: Omit<BackendOptions, 'target'>): Promise<Backend> {
  const { scheme, target } = parseModelSpec(spec);
  return BACKENDS[scheme].create({ ...options, target });
}

function isScheme(scheme: string): scheme is Scheme {
  return Object.hasOwn(BACKENDS, scheme);
}
