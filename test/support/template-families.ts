// Model families with their chat templates: which tokenizer they have, which tokens they add, and whether a
// conversation in them can be extended.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Message } from '../../domain/query/query.ts';
import { openTokenizer, type ModelTokenizer } from '../../inference/tokenizer/tokenizer.ts';
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

const CHATML = ['<|im_end|>', '<|im_start|>', '<|endoftext|>'];
const LLAMA3 = ['<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>', '<|end_of_text|>'];
const GEMMA = ['<end_of_turn>', '<start_of_turn>'];
const AYA = [
  '<|END_OF_TURN_TOKEN|>',
  '<|START_OF_TURN_TOKEN|>',
  '<|SYSTEM_TOKEN|>',
  '<|USER_TOKEN|>',
  '<|CHATBOT_TOKEN|>',
];

/** Those whose conversations can be extended. */
export const EXTENDABLE: Readonly<Record<string, TemplateFamily>> = {
  'qwen2.5': { tokenizer: 'qwen', special: CHATML },
  'qwen3-instruct-2507': { tokenizer: 'qwen', special: CHATML },
  'llama-3': { tokenizer: 'llama3', special: LLAMA3 },
  'llama-3.2': { tokenizer: 'llama3', special: LLAMA3 },
  'llama-2': { tokenizer: 'llama2', special: ['</s>'], around: [' ', ' '] },
  'mistral-0.2': { tokenizer: 'llama2', special: ['</s>'], system: false },
  'mistral-0.3': { tokenizer: 'mistral', special: ['</s>', '[INST]', '[/INST]'], system: false, around: [' ', ''] },
  'gemma-2': { tokenizer: 'gemma', special: GEMMA, system: false },
  'gemma-3': { tokenizer: 'gemma', special: GEMMA },
  'phi-3.5': { tokenizer: 'llama2', special: ['<|end|>', '<|user|>', '<|assistant|>', '<|system|>'], rstrip: true },
  zephyr: { tokenizer: 'llama2', special: ['</s>'] },
  chatml: { tokenizer: 'gpt2', special: CHATML },
  aya: { tokenizer: 'llama3', special: AYA },
  lfm2: { tokenizer: 'llama3', special: CHATML },
};

export interface RefusedFamily {
  readonly family: TemplateFamily;
  readonly messages?: readonly Message[];
  /** What the refusal says that the template does. */
  readonly says: string;
  /** What it shows of the template. */
  readonly line: string;
}

/** Those whose conversations cannot. */
export const REFUSED: Readonly<Record<string, RefusedFamily>> = {
  qwen3: {
    family: { tokenizer: 'qwen', special: CHATML },
    says: 'it does not keep the text of earlier answers',
    line: "content.split('</think>')",
  },
  'deepseek-r1': {
    family: { tokenizer: 'deepseek', special: ['</s>'] },
    says: 'it renders what went before in another way once more follows: "<think>\\n" becomes "Answer<｜end▁of▁sentence｜>',
    line: "'<｜Assistant｜><think>\\n'",
  },
  'glm-4.5': {
    family: { tokenizer: 'llama3', special: ['<|user|>', '<|assistant|>'] },
    says: 'it puts "\\n<think></think>\\n" before an answer once more follows',
    line: '<think></think>',
  },
  'gpt-oss': {
    family: { tokenizer: 'llama3', special: ['<|return|>', '<|start|>', '<|end|>', '<|message|>', '<|channel|>'] },
    says: 'it puts "<|channel|>final<|message|>" before an answer once more follows',
    line: '<|channel|>final<|message|>',
  },
  'mistral-0.3': {
    family: { tokenizer: 'mistral', special: ['</s>', '[INST]', '[/INST]'] },
    messages: [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: 'What is 2 + 2?' },
    ],
    says: 'it renders what went before in another way once more follows',
    line: 'loop.last and system_message is defined',
  },
  'gemma-2': {
    family: EXTENDABLE['gemma-2']!,
    messages: [
      { role: 'system', content: 'Answer briefly.' },
      { role: 'user', content: 'What is 2 + 2?' },
    ],
    says: 'it refuses such a conversation (System role not supported)',
    line: "raise_exception('System role not supported')",
  },
};

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
