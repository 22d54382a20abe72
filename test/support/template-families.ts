// Model families with their chat templates: which tokenizer they have, which tokens they add, and whether a
// conversation in them can be extended.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../domain/query/query.ts';
import type { JsonObject } from '../../domain/text/json.ts';
import { openTokenizer, type ModelTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { fixture } from './tiny.ts';
import { tokenizerFolder } from './tokenizer-folder.ts';
import { trainTokenizer, type AddedToken, type Family } from './trained-tokenizers.ts';

export interface TemplateFamily {
  readonly tokenizer: Family;
  /** Special tokens, the one that ends an answer first. */
  readonly special: readonly string[];
  /** Tokens that take the white space behind them along, as Phi-3's do. */
  readonly rstrip?: boolean;
  /** False where the template knows no system message. */
  readonly system?: boolean;
  /** White space that a model of this family writes around its answer itself. */
  readonly around?: readonly [string, string];
}

export interface RefusedFamily {
  readonly family: TemplateFamily;
  readonly messages?: readonly Message[];
  /** What the refusal says that the template does. */
  readonly says: string;
  /** What it shows of the template. */
  readonly line: string;
}

export interface RewritingFamily extends RefusedFamily {
  /** What stands behind an answer, with `{feedback}`. */
  readonly adds: string;
  readonly variables?: JsonObject;
  /** The same with these variables. */
  readonly addsWithVariables?: string;
}

const FAMILIES = fixture('template-families.json') as {
  readonly extendable: Readonly<Record<string, TemplateFamily>>;
  readonly rewriting: Readonly<Record<string, RewritingFamily>>;
  readonly refused: Readonly<Record<string, RefusedFamily>>;
};
/** Those whose conversations can be extended, those that show earlier answers in another form, and those that cannot be extended. */
export const { extendable: EXTENDABLE, rewriting: REWRITING, refused: REFUSED } = FAMILIES;

function templateOf(name: string): string {
  return readFileSync(join(import.meta.dirname, '../fixtures/templates', `${name}.jinja`), 'utf8');
}

export async function openFamily(name: string, family: TemplateFamily): Promise<ModelTokenizer> {
  const added: AddedToken[] = family.special
    .filter((content) => content !== '</s>')
    .map((content) => ({ content, special: true, rstrip: family.rstrip ?? false }));
  return openTokenizer(
    tokenizerFolder(
      {
        json: trainTokenizer(family.tokenizer, added),
        config: JSON.stringify({ bos_token: '<s>', eos_token: family.special[0], unk_token: '<unk>' }),
        template: templateOf(name),
      },
      name,
    ),
  );
}
