// vLLM as the scripted server speaks it: what it refuses in which words, what it cuts in silence, and the shape of
// its answers.

import { chat } from './toy-chat.ts';
import type { Engine, Run } from './toy-engine.ts';
import { base64, expertsOf, npy, ROUTING } from './toy-experts.ts';
import type { Drawn } from './toy-model.ts';
import {
  ids,
  listed,
  made,
  models,
  NOT_FOUND,
  notThere,
  num,
  ok,
  usage,
  type Answer,
  type Body,
  type Reply,
} from './toy-wire.ts';

export function vllm(engine: Engine): Answer {
  const { modelPath, length, vocabSize, scaleOut, devMode, sets, name: served } = engine.shape;
  const bad = (message: string, param: string | null = null, type = 'BadRequestError', code = 400): Reply => ({
    status: code,
    body: { error: { message, type, param, code } },
  });

  type Check =
    { readonly reply: Reply } | { readonly run: Run; readonly context: readonly number[]; readonly top: number };

  async function run(body: Body, params: Body, context: number[], prefix: string, gone: () => boolean): Promise<Check> {
    if (body['model'] !== undefined && body['model'] !== served && adapterOf(body) === undefined) {
      const message = `The model \`${String(body['model'])}\` does not exist. Valid aliases: ${served}.`;
      return { reply: bad(message, 'model', 'NotFoundError', 404) };
    }
    const alien = context.find((id) => id >= vocabSize);
    if (alien !== undefined) return { reply: bad(`Token id ${alien} is out of vocabulary`) };
    const temperature = num(params['temperature'], 1);
    if (temperature < 0) {
      const words = `temperature must be non-negative, got ${temperature.toFixed(1)}. (parameter=temperature, value=${temperature.toFixed(1)})`;
      return { reply: bad(words, 'temperature') };
    }
    const top = num(params['logprobs'], 0);
    const stops = [...((params['stop_token_ids'] ?? []) as number[])];
    const draw = {
      temperature,
      topP: num(params['top_p'], 1),
      topK: num(params['top_k'], -1),
      seed: num(params['seed'], 0),
      top,
    };
    if (sets && temperature <= 0) return { reply: bad('sampling distribution replay requires temperature > 0') };
    if (sets && draw.topK <= 0) {
      const words =
        'sampling distribution replay requires top_k > 0 to bound sampling mask size, reduce transfer overhead, and avoid potential OOMs';
      return { reply: bad(words) };
    }
    // Cut in silence, as vLLM does.
    const max = Math.min(num(params['max_tokens'], 16), length - context.length);
    const id = `${prefix}${String(body['request_id'] ?? made())}`;
    return {
      run: await engine.generate({ id, context, max, stops, draw, gone, adapter: adapterOf(body) }),
      context,
      top,
    };
  }

  async function generate(body: Body, gone: () => boolean): Promise<Reply> {
    if (!scaleOut) {
      const words = 'Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out';
      return bad(words, null, 'Forbidden', 403);
    }
    const context = body['token_ids'] as number[];
    if (context.length === 0)
      return bad("1 validation error:\n  {'type': 'too_short'}", 'body.token_ids', 'Bad Request');
    if (context.length > length) {
      const words = `The decoder prompt (length ${context.length}) is longer than the maximum model length of ${length}. Make sure that \`max_model_len\` is no smaller than the number of text tokens.`;
      return bad(words);
    }
    const done = await run(body, (body['sampling_params'] ?? {}) as Body, context, 'generate-tokens-', gone);
    if ('reply' in done) return done.reply;
    const { outputs, finish, spans } = done.run;
    return ok({
      request_id: done.run.id,
      model: body['model'] ?? served,
      created: 1,
      usage: usage(context.length, outputs.length),
      prompt_logprobs: given(body['sampling_params'], context, adapterOf(body)),
      prompt_token_id_logprobs: null,
      prompt_token_ids: body['return_token_ids'] === true ? context : null,
      mm_placeholders: null,
      metrics: null,
      kv_transfer_params: null,
      ec_transfer_params: null,
      output_mode: 'tokens',
      choices: [
        {
          index: 0,
          finish_reason: finish,
          stop_reason: finish === 'stop' ? outputs.at(-1)!.id : null,
          token_ids: ids(outputs),
          routed_experts: routing(body['sampling_params'], context, outputs),
          sampling_mask: sets ? outputs.map(({ kept }) => kept.toSorted((a, b) => a - b)) : null,
          weight_versions: spans,
          logprobs: {
            content: outputs.map((o) => ({
              token_id: o.id,
              logprob: o.logprob,
              rank: 1,
              top_logprobs: withOwn(o).map(({ id, logprob }, i) => ({ token_id: id, logprob, rank: i + 1 })),
            })),
          },
        },
      ],
    });
  }

  async function completions(body: Body, gone: () => boolean): Promise<Reply> {
    const context = body['prompt'] as number[];
    if (context.length > length) {
      const words = `This model's maximum context length is ${length} tokens. However, your prompt contains ${context.length} input tokens, which exceeds this limit even without any output tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=${context.length})`;
      return bad(words, 'input_tokens');
    }
    if (context.length === length) {
      return bad('max_tokens must be at least 1, got 0. (parameter=max_tokens, value=0)', 'max_tokens');
    }
    const done = await run(body, body, context, 'cmpl-', gone);
    if ('reply' in done) return done.reply;
    const { outputs, finish } = done.run;
    const name = (id: number) => (body['return_tokens_as_token_ids'] === true ? `token_id:${id}` : `t${id}`);
    return ok({
      id: done.run.id,
      object: 'text_completion',
      created: 1,
      model: body['model'] ?? served,
      choices: [
        {
          index: 0,
          text: 'text',
          logprobs: {
            text_offset: outputs.map(() => 0),
            token_logprobs: outputs.map(({ logprob }) => logprob),
            tokens: outputs.map(({ id }) => name(id)),
            top_logprobs: outputs.map((o) => Object.fromEntries(withOwn(o).map((t) => [name(t.id), t.logprob]))),
          },
          finish_reason: finish,
          stop_reason: finish === 'stop' ? outputs.at(-1)!.id : null,
          token_ids: ids(outputs),
          prompt_logprobs: given(body, context, adapterOf(body)),
          prompt_token_ids: context,
          routed_experts: routing(body, context, outputs),
        },
      ],
      service_tier: null,
      system_fingerprint: 'vllm-0.32.0-eaa0403f',
      usage: usage(context.length, outputs.length),
      kv_transfer_params: null,
      ec_transfer_params: null,
      metrics: null,
    });
  }

  function given(params: unknown, context: readonly number[], adapter: string | undefined) {
    if ((params as Body | undefined)?.['prompt_logprobs'] !== 0) return null;
    return engine
      .contextLogprobs(context, 0, adapter)
      .map((logprob, i) => logprob && { [context[i]!]: { logprob, rank: 1, decoded_token: 't' } });
  }

  /** As prompt and output were fed, behind the prompt tokens that are to be passed over. */
  function routing(params: unknown, context: readonly number[], outputs: readonly Drawn[]): string | null {
    if (!engine.shape.experts) return null;
    const from = num((params as Body | undefined)?.['routed_experts_prompt_start'], 0);
    const fed = [...context, ...ids(outputs)].slice(0, -1);
    return base64(npy(fed.length - from, expertsOf(fed, 'uint8').subarray(from * ROUTING)));
  }

  function adapterOf({ model }: Body): string | undefined {
    return engine.adapters.has(String(model)) ? String(model) : undefined;
  }

  /** Its words for success are no JSON. */
  function loadAdapter({ lora_name: name, lora_path: folder }: Body): Reply {
    if (engine.adapters.has(String(name)))
      return bad(`The lora adapter '${String(name)}' has already been loaded.`, null, 'InvalidUserInput');
    if (/\/non[^/]*$/.test(String(folder))) {
      const why = `Loading lora ${String(name)} failed: No adapter found for ${String(folder)}`;
      return bad(why, null, 'NotFoundError', 404);
    }
    engine.adapters.set(String(name), String(folder));
    return { status: 200, body: `Success: LoRA adapter '${String(name)}' added successfully.` };
  }

  function unloadAdapter({ lora_name: name }: Body): Reply {
    if (engine.adapters.delete(String(name)))
      return { status: 200, body: `Success: LoRA adapter '${String(name)}' removed` };
    return bad(`The lora adapter '${String(name)}' cannot be found.`, null, 'NotFoundError', 404);
  }

  function abort(names: unknown): number {
    // The engine knows a completion by its index too.
    return (names as string[]).reduce((sum, name) => sum + engine.abort(name.replace(/^(cmpl-.*)-0$/, '$1')), 0);
  }

  function control(path: string, body: Body): Reply {
    if (path === '/resume') {
      engine.paused = false;
      return ok({ status: 'resumed' });
    }
    if (path.startsWith('/pause')) {
      if (path.endsWith('abort')) engine.abort(null);
      engine.paused = true;
      return ok({ status: 'paused' });
    }
    if (path.startsWith('/reset')) return ok({ success: true });
    if (path === '/update_weight_version') {
      engine.name(String(body['new_version']));
      return ok({ success: true, new_version: engine.version });
    }
    const { weights_path: folder } = body['kwargs'] as Body;
    if (engine.load(String(folder))) return ok({ results: [null] });
    const why = `Call to collective_rpc method failed: Worker failed with error '${notThere(String(folder))}', please check the stack trace above for the root cause`;
    return bad(why, null, 'InternalServerError', 500);
  }

  return async ({ method, path, body, broken, gone }) => {
    if (broken) return bad("1 validation error:\n  {'type': 'json_invalid'}", 'body.17', 'Bad Request');
    const said = (body ?? {}) as Body;
    switch (`${method} ${path}`) {
      case 'GET /v1/models': {
        const permission = [
          {
            id: 'modelperm-1',
            object: 'model_permission',
            created: 1,
            allow_create_engine: false,
            allow_sampling: true,
            allow_logprobs: true,
            allow_search_indices: false,
            allow_view: true,
            allow_fine_tuning: false,
            organization: '*',
            group: null,
            is_blocking: false,
          },
        ];
        const list = models(served, length, { owned_by: 'vllm', root: modelPath, permission });
        return ok({ ...list, data: [...list.data, ...listed(engine.adapters, served)] });
      }
      case 'GET /version':
        return ok({ version: '0.32.0' });
      case 'GET /weight_info':
        return devMode ? ok({ weight_version: engine.version }) : NOT_FOUND;
      case 'GET /is_paused':
        return devMode ? ok({ is_paused: engine.paused }) : NOT_FOUND;
      case 'POST /pause?mode=keep':
      case 'POST /pause?mode=abort':
      case 'POST /resume':
      case 'POST /collective_rpc':
      case 'POST /reset_prefix_cache?reset_running_requests=true&reset_external=true':
      case 'POST /update_weight_version':
        return devMode ? control(path, said) : NOT_FOUND;
      case 'GET /v1/load_lora_adapter':
        return engine.shape.adapters === 'none' ? NOT_FOUND : { status: 405, body: { detail: 'Method Not Allowed' } };
      case 'POST /v1/load_lora_adapter':
        return engine.shape.adapters === 'none' ? NOT_FOUND : loadAdapter(said);
      case 'POST /v1/unload_lora_adapter':
        return engine.shape.adapters === 'none' ? NOT_FOUND : unloadAdapter(said);
      case 'POST /inference/v1/generate':
        return generate(said, gone);
      case 'POST /inference/v1/abort_requests':
        abort(said['request_ids']);
        return { status: 200 };
      case 'POST /abort_requests':
        return devMode ? ok({ status: 'aborted', aborted: abort(said['request_ids']) }) : NOT_FOUND;
      case 'POST /v1/completions':
        return completions(said, gone);
      case 'POST /v1/chat/completions':
        return chat(engine, said, gone, 'vllm');
      default:
        return NOT_FOUND;
    }
  };
}

/** vLLM adds the sampled token to the most probable ones. */
function withOwn({ id, logprob, top }: Drawn) {
  return [{ id, logprob }, ...top.filter((t) => t.id !== id)];
}
