// What the protocols of scripted servers have in common: what comes in, what goes out, and a few shapes.

import type { Drawn } from './toy-model.ts';

export interface Reply {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Incoming {
  readonly method: string;
  readonly path: string;
  readonly text: string;
  readonly body: unknown;
  /** The body is no JSON. */
  readonly broken: boolean;
  readonly gone: () => boolean;
}

export type Body = Record<string, unknown>;
export type Answer = (request: Incoming) => Promise<Reply>;

export const NOT_FOUND: Reply = { status: 404, body: { detail: 'Not Found' } };
export const ok = (body: unknown): Reply => ({ status: 200, body });
export const num = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);
export const ids = (drawn: readonly Drawn[]) => drawn.map(({ id }) => id);
let calls = 0;
export const made = () => `made-${calls++}`;
export const isMade = (id: string) => /\bmade-\d+$/.test(id);

export function models(id: string, length: number, more: Body) {
  const { owned_by, root, ...last } = more;
  const model = { id, object: 'model', created: 1, owned_by, root, parent: null, max_model_len: length };
  return { object: 'list', data: [{ ...model, ...last }] };
}

/** The adapters that are loaded, as both list them behind the model. */
export const listed = (adapters: ReadonlyMap<string, string>, parent: string) =>
  [...adapters].map(([id, root]) => ({ id, object: 'model', created: 1, root, parent, max_model_len: null }));

export const usage = (prompt: number, completion: number) => ({
  prompt_tokens: prompt,
  total_tokens: prompt + completion,
  completion_tokens: completion,
  prompt_tokens_details: null,
  completion_tokens_details: null,
});

/** What both say of a folder that is not there: they take it for a name on the hub. */
export const notThere = (folder: string) =>
  `Repo id must use alphanumeric chars, '-', '_' or '.'. The name cannot start or end with '-' or '.' and the maximum length is 96: '${folder}'.`;
