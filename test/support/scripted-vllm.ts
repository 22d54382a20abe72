// A server that speaks vLLM's protocol and gives scripted replies to the turns of rollouts, as token ids of a real
// tokenizer with a real chat template that takes tools; all other questions, as at a run's start, the toy model answers.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { type ModelServer, modelServer } from './model-server.ts';
import { tokenizerFolder } from './tokenizer-folder.ts';
import { trainTokenizer } from './trained-tokenizers.ts';

const SPECIAL = ['<|im_end|>', '<|im_start|>', '<|endoftext|>', '<tool_call>', '</tool_call>'];

/** It samples each character by itself: no text of its replies has these ids when it is encoded again. */
const PIECES = /<\/?tool_call>|<\|im_end\|>|[^]/gu;

export interface ScriptedVllm {
  readonly server: ModelServer;
  /** Of a run with it. */
  readonly flags: readonly string[];
  readonly folder: string;
}

/** `replies`: what the model says at each turn, the same for all queries. */
export async function scriptedVllm(replies: readonly string[], template = 'qwen2.5'): Promise<ScriptedVllm> {
  const added = SPECIAL.map((content) => ({ content, special: !content.includes('tool') }));
  const source = tokenizerFolder({
    json: trainTokenizer('qwen', added),
    config: JSON.stringify({ eos_token: '<|im_end|>', unk_token: '<unk>' }),
    template: readFileSync(join(import.meta.dirname, '../fixtures/templates', `${template}.jinja`), 'utf8'),
  });
  const tokenizer = await openTokenizer(source);
  const folder = (source as { readonly path: string }).path;
  const server = await modelServer({ kind: 'vllm', vocabSize: tokenizer.size, length: 65_536, modelPath: folder });
  const sampled = async (text: string) =>
    (await Promise.all(text.match(PIECES)!.map((piece) => tokenizer.encodeRendered(piece)))).flat();
  const ids = await Promise.all(replies.map((text) => sampled(`${text}<|im_end|>`)));
  server.instead = (path, body) => {
    const turn = Number(/_\d+_(\d+)-[0-9a-f]{8}$/.exec(String(body['request_id'] ?? ''))?.[1]);
    const outputs = ids[turn - 1];
    if (!path.endsWith('/generate') || !outputs) return null;
    return { status: 200, body: answer(String(body['request_id']), body['token_ids'] as number[], outputs) };
  };
  // It draws other logprobs when it is asked again.
  return { server, folder, flags: ['--model', `vllm:${server.url}`, '--tokenizer', folder, '--recheck-every', '0'] };
}

function answer(id: string, context: readonly number[], outputs: readonly number[]): object {
  return {
    request_id: `generate-tokens-${id}`,
    model: 'tiny',
    created: 1,
    usage: {
      prompt_tokens: context.length,
      completion_tokens: outputs.length,
      total_tokens: context.length + outputs.length,
    },
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        stop_reason: outputs.at(-1),
        token_ids: outputs,
        weight_versions: [{ version: 'default', start: 0, end: outputs.length }],
        logprobs: {
          content: outputs.map((token) => ({ token_id: token, logprob: -0.5, rank: 1, top_logprobs: [] })),
        },
      },
    ],
  };
}
