// A refusal of a budget says in each server's own words how many new tokens fit; other refusals say nothing of it.

import { describe, expect, test } from 'vitest';
import { roomIn } from '../../inference/budget-room.ts';

describe('the budget that fits', () => {
  test.each<[string, string, number, number | undefined]>([
    [
      'vllm new',
      "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 8192 tokens and your request has 4500 input tokens (4096 > 8192 - 4500).",
      4096,
      3692,
    ],
    [
      'openai/vllm old',
      "This model's maximum context length is 4097 tokens. However, you requested 5000 tokens (1000 in the messages, 4000 in the completion). Please reduce the length of the messages or completion.",
      4000,
      3097,
    ],
    [
      'vllm prompt',
      "This model's maximum context length is 512 tokens. However, your prompt contains 600 input tokens, ...",
      100,
      0,
    ],
    [
      'openai own',
      'max_tokens is too large: 16384. This model supports at most 4096 completion tokens, whereas you provided 16384.',
      16384,
      4096,
    ],
    [
      'sglang',
      "Requested token count exceeds the model's maximum context length of 512 tokens. You requested a total of 515 tokens: 510 tokens from the input messages and 5 tokens for the completion. Please reduce",
      5,
      2,
    ],
    ['sglang long', "The input (600 tokens) is longer than the model's context length (512 tokens).", 16, 0],
    ['llama.cpp', 'request (600 tokens) exceeds the available context size (512 tokens), try increasing it', 100, 12],
    ['llama.cpp 2', 'request (600 tokens) exceeds the available context size (512 tokens), try increasing it', 12, 0],
    [
      'anthropic own',
      'max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-3-5-sonnet',
      16384,
      8192,
    ],
    [
      'anthropic ctx',
      'input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000, decrease input length or `max_tokens` and try again',
      16384,
      10000,
    ],
    ['anthropic long', 'prompt is too long: 210000 tokens > 200000 maximum', 100, 0],
    [
      'groq',
      '`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model',
      16384,
      8192,
    ],
    ['deepseek', 'Invalid max_tokens value, the valid range of max_tokens is [1, 8192]', 16384, 8192],
    ['dashscope', 'Range of max_tokens should be [1, 8192]', 16384, 8192],
    [
      'tgi',
      'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4097. Given: 600 `inputs` tokens and 4000 `max_new_tokens`',
      4000,
      3497,
    ],
    [
      'bedrock',
      'The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.',
      16384,
      4096,
    ],
    ['cohere', 'too many tokens: max tokens must be less than or equal to 4096', 16384, 4096],
    ['strict', 'max_tokens must be less than 4096', 16384, 4095],
    ['brief', 'max_tokens must be less than or equal to 8192', 16384, 8192],
    [
      'mistral',
      'Prompt contains 5000 tokens and 0 draft tokens, too large for model with 4096 maximum context length',
      100,
      0,
    ],
    [
      'commas',
      "This model's maximum context length is 32,768 tokens. However, your messages resulted in 20,000 tokens and max_tokens is 16,384.",
      16384,
      12768,
    ],
    ['between', 'max_tokens must be between 1 and 4096', 16384, 4096],
    [
      'gemini',
      'Unable to submit request because it has a maxOutputTokens value of 16384 but the supported range is from 1 (inclusive) to 8193 (exclusive). Update the value and try again.',
      16384,
      8192,
    ],
    ['moonshot', 'Invalid request: Your request exceeded model token limit: 8192', 16384, undefined],
    ['nothing', 'temperature must be less than or equal to 2', 16384, undefined],
    ['ollama', 'num_predict 16384 exceeds limit of 2048', 16384, 2048],
    [
      'openrouter',
      'This endpoint\'s maximum context length is 8192 tokens. However, you requested about 16500 tokens (116 of text input, 16384 in the output). Please reduce the length of either one, or use the "middle-out" transform',
      16384,
      8076,
    ],
    ['together', 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000', 100, undefined],
    [
      'together2',
      'The sum of input tokens 116 and max_new_tokens 16384 exceeds the model context length 8192',
      16384,
      8076,
    ],
    ['lmdeploy', 'The input length 116 plus max_tokens 16384 exceeds max session len 8192', 16384, 8076],
    ['azure', 'max_tokens is too large: 16384. This model supports at most 4096 completion tokens', 16384, 4096],
    [
      'vllm text that it read in part',
      "This model's maximum context length is 32768 tokens. However, you requested 8192 output tokens and your prompt contains at least 24577 input tokens, for a total of at least 32769 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
      8192,
      undefined,
    ],
    [
      'vllm text that it did not read',
      "This model's maximum context length is 8192 tokens. However, you requested 64 output tokens and your prompt contains 100000 characters (more than 81280 characters, which is the upper bound for 8128 input tokens). Please reduce the length of the input prompt or the number of requested output tokens.",
      64,
      undefined,
    ],
    [
      'vllm ids',
      "This model's maximum context length is 8192 tokens. However, you requested 64 output tokens and your prompt contains 8150 input tokens, for a total of 8214 tokens. Please reduce the length of the input prompt or the number of requested output tokens.",
      64,
      42,
    ],
    [
      'vllm more than its whole context',
      'max_completion_tokens=131072 cannot be greater than max_model_len=max_total_tokens=65536. Please request fewer output tokens.',
      131_072,
      65_536,
    ],
    ['vllm of before', 'max_tokens must be at least 1, got -186.', 100, 0],
    ['vertex', 'max_tokens: 65536 > 32000, which is the maximum allowed number of output tokens', 65536, 32000],
  ])('is read out of the refusal of %s', (_, words, asked, most) => {
    expect(roomIn(words, asked)?.most).toBe(most);
  });
});
