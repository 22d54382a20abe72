// Chat completions as the scripted server speaks them, in three accents.

import type { Engine } from './toy-engine.ts';
import { made, NOT_FOUND, num, ok, usage, type Answer, type Body, type Reply } from './toy-wire.ts';

/** A chat answers in so many tokens, whatever budget it is given: no test reads more of them. */
const LONGEST = 64;

export function openai(engine: Engine): Answer {
  return async ({ method, path, body, gone }) =>
    `${method} ${path}` === 'POST /v1/chat/completions' ? chat(engine, body as Body, gone, 'openai') : NOT_FOUND;
}

export async function chat(
  engine: Engine,
  body: Body,
  gone: () => boolean,
  as: 'sglang' | 'vllm' | 'openai',
): Promise<Reply> {
  const context = [(body['messages'] as unknown[]).length, 7];
  const max = num(body['max_completion_tokens'] ?? body['max_tokens'], 16);
  const draw = { temperature: num(body['temperature'], 1), topP: 1, topK: -1, seed: num(body['seed'], 0), top: 0 };
  const id = `chatcmpl-${made()}`;
  const run = await engine.generate({ id, context, max: Math.min(max, LONGEST), stops: [], draw, gone });
  const { outputs, spans } = run;
  const finish = run.finish === 'length' && outputs.length < max ? 'stop' : run.finish;
  const text = outputs.map((o) => `w${o.id}`).join(' ');
  const extra: Record<typeof as, Body> = {
    sglang: { reasoning_content: null },
    vllm: { refusal: null, annotations: null, audio: null, function_call: null, reasoning: null },
    openai: { refusal: null },
  };
  const content = outputs.map((o) => ({ token: `w${o.id}`, logprob: o.logprob, bytes: [119], top_logprobs: [] }));
  const said = {
    index: 0,
    message: { role: 'assistant', content: text, ...extra[as] },
    logprobs: body['logprobs'] === true ? { content } : null,
    finish_reason: finish,
  };
  const whole = (choice: Body, count: Body, more: Body): Reply =>
    ok({ id, object: 'chat.completion', created: 1, model: 'tiny', choices: [choice], usage: count, ...more });
  const count = usage(2, outputs.length);
  switch (as) {
    case 'openai':
      return whole(said, count, {});
    case 'sglang': {
      const metadata = { weight_version: engine.version, weight_versions: spans };
      return whole({ ...said, matched_stop: null }, { ...count, reasoning_tokens: 0 }, { metadata });
    }
    case 'vllm': {
      const ids = body['return_token_ids'] === true ? { token_ids: outputs.map((o) => o.id) } : {};
      return whole({ ...said, stop_reason: null, ...ids, routed_experts: null }, count, {
        service_tier: null,
        system_fingerprint: 'vllm-0.32.0-eaa0403f',
        prompt_logprobs: null,
        prompt_token_ids: context,
        prompt_text: null,
        kv_transfer_params: null,
        ec_transfer_params: null,
        metrics: null,
      });
    }
  }
}
