// The form that a request asks its reply to have, and the ways in which a run takes it (asked-form.ts).

import { sha256Hex } from '../text/sha256.ts';
import { canonicalJson, type Json } from '../text/json.ts';

export const STRUCTURED = ['prompt', 'constrain', 'pass', 'refuse'] as const;
export type Structured = (typeof STRUCTURED)[number];

/** `json`: any object. `grammar`: EBNF. `tag`: a structural tag, as SGLang and vLLM have it. */
export interface ReplyForm {
  readonly kind: 'schema' | 'json' | 'regex' | 'choice' | 'grammar' | 'tag';
  readonly value: Json;
  /** Of a schema, as its request has it. */
  readonly name?: string;
  readonly description?: string;
  readonly strict?: boolean;
  /** SHA-256 of its value. */
  readonly hash: string;
}

export interface Asks {
  /** `field`: where the request has it. */
  readonly form?: ReplyForm & { readonly field: string };
  /** The tool that must be called; true: any. */
  readonly call?: string | true;
}

export const replyForm = (
  kind: ReplyForm['kind'],
  value: Json,
  of: Pick<ReplyForm, 'name' | 'description' | 'strict'> = {},
): ReplyForm => ({
  ...{ kind, value, ...of },
  hash: sha256Hex(canonicalJson(value)),
});
