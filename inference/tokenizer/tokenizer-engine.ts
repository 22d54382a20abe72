// The engine behind every tokenizer: @huggingface/tokenizers, pure JavaScript, so that the same code runs in the
// worker and in the thread for long texts. Text in, ids out; templates and model files are tokenizer.ts's.

import { Tokenizer } from '@huggingface/tokenizers';

import { mend } from './rust-rules/mend.ts';

/** tokenizer.json and tokenizer_config.json, as text. */
export interface TokenizerFiles {
  readonly json: string;
  readonly config: string;
}

export type Encode = (text: string, addSpecialTokens: boolean) => number[];

export function createEncode({ json, config }: TokenizerFiles): Encode {
  const engine = new Tokenizer(JSON.parse(json) as object, JSON.parse(config) as object);
  mend(engine);
  return (text, addSpecialTokens) => engine.encode(text, { add_special_tokens: addSpecialTokens }).ids;
}
