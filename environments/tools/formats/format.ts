// The tool formats by name, and the format that a chat template asks for. A format turns an answer's text into calls;
// domain/context/tool-extension.ts turns their results into the text behind the answer.

import { deepseek } from './deepseek.ts';
import { glm } from './glm.ts';
import { gptOss } from './gpt-oss.ts';
import { hermes } from './hermes.ts';
import { llama3 } from './llama3.ts';
import { mistral } from './mistral.ts';
import { qwen3Coder } from './qwen3-coder.ts';
import type { ToolFormat } from './reply.ts';

export type { Json as JsonValue } from '../../../domain/text/json.ts';
export { isBad } from './reply.ts';
export type { BadCall, Call, ParsedCall, ParsedReply, ToolFormat, ToolSchema } from './reply.ts';

const FORMATS: readonly ToolFormat[] = [hermes, qwen3Coder, llama3, mistral, deepseek, glm, gptOss];

export const toolFormatNames: readonly string[] = FORMATS.map(({ name }) => name);

export function toolFormatNamed(name: string): ToolFormat | null {
  return FORMATS.find((format) => format.name === name) ?? null;
}

/** Texts that a template of the format holds, all of them; the first format that matches is it. */
const SIGNS: readonly (readonly [ToolFormat, readonly string[]])[] = [
  [gptOss, ['<|channel|>', 'functions.']],
  [mistral, ['[TOOL_CALLS]']],
  [deepseek, ['<｜tool▁call▁begin｜>', '<｜tool▁sep｜>']],
  [glm, ['<tool_call>', '<arg_key>', '<arg_value>']],
  [qwen3Coder, ['<tool_call>', '<function=', '<parameter=']],
  [hermes, ['<tool_call>', '</tool_call>', '"arguments"', '<tool_response>']],
  [llama3, ['<|start_header_id|>', 'ipython', '"parameters": ']],
];

/** Null if the template belongs to none of them: the name must then be given. */
export function detectToolFormat(chatTemplate: string): string | null {
  const plain = chatTemplate.replaceAll('\\"', '"');
  return SIGNS.find(([, signs]) => signs.every((sign) => plain.includes(sign)))?.[0].name ?? null;
}
