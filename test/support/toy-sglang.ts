// SGLang as the scripted server speaks it: what it refuses in which words, and the shape of its answers.

import { chat } from './toy-chat.ts';
import type { Engine, Run } from './toy-engine.ts';
import { base64, expertsOf, ROUTING } from './toy-experts.ts';
import {
  ids,
  listed,
  made,
  models,
  NOT_FOUND,
  notThere,
  num,
  ok,
  type Answer,
  type Body,
  type Reply,
} from './toy-wire.ts';

export const SGLANG_PARAMS =
  'max_new_tokens stop stop_token_ids stop_regex temperature top_p top_k min_p frequency_penalty presence_penalty repetition_penalty min_new_tokens n json_schema regex ebnf structural_tag ignore_eos skip_special_tokens spaces_between_special_tokens no_stop_trim stream_interval logit_bias sampling_seed custom_params beam_width watermark choice'.split(
    ' ',
  );

/** --sampling-mask-max-tokens */
const MOST_KEPT = 4096;

export function sglang(engine: Engine): Answer {
  const { modelPath, length, vocabSize, name } = engine.shape;
  const bad = (message: string): Reply => ({ status: 400, body: { error: { message } } });

  const folders = new Map<string, string>();

  async function generate(body: Body, gone: () => boolean): Promise<Reply> {
    const context = body['input_ids'] as number[] | undefined;
    const params = (body['sampling_params'] ?? {}) as Body;
    const unknown = Object.keys(params).find((name) => !SGLANG_PARAMS.includes(name));
    if (unknown) {
      const expected = SGLANG_PARAMS.map((name) => `\`${name}\``).join(', ');
      return { status: 400, body: { error: `unknown field \`${unknown}\`, expected one of ${expected}` } };
    }
    const named = body['lora_path'] == null ? undefined : String(body['lora_path']);
    if (named !== undefined && !folders.has(named)) return bad(`Got LoRA adapter that has never been loaded: ${named}`);
    // One that was unloaded comes back by itself.
    if (named !== undefined) engine.adapters.set(named, folders.get(named)!);
    if (!context) return bad('Either text, input_ids or input_embeds should be provided.');
    if (context.length === 0) return bad('input_ids cannot be empty.');
    const max = num(params['max_new_tokens'], 128);
    const temperature = num(params['temperature'], 1);
    const topP = num(params['top_p'], 1);
    if (temperature < 0) return bad(`temperature must be a non-negative finite number, got ${temperature}.`);
    if (!(topP > 0 && topP <= 1)) return bad(`top_p must be in (0, 1], got ${topP}.`);
    if (context.length >= length) {
      return bad(`The input (${context.length} tokens) is longer than the model's context length (${length} tokens).`);
    }
    if (context.length + max > length) {
      return bad(
        `Requested token count exceeds the model's maximum context length of ${length} tokens. You requested a total of ${context.length + max} tokens: ${context.length} tokens from the input messages and ${max} tokens for the completion. Please reduce the number of tokens in the input messages or the completion to fit within the limit.`,
      );
    }
    if (context.some((id) => id < 0 || id >= vocabSize)) throw new Error('the server dies of this');
    const top = num(body['top_logprobs_num'], 0);
    const stops = params['ignore_eos'] === true ? [] : ((params['stop_token_ids'] ?? []) as number[]);
    const draw = { temperature, topP, topK: num(params['top_k'], -1), seed: num(params['sampling_seed'], 0), top };
    const sets = engine.shape.sets && body['return_sampling_mask'] === true;
    if (sets && !(draw.topK >= 1 && draw.topK <= MOST_KEPT)) {
      return bad(
        `return_sampling_mask requires top_k=1 for greedy sampling or finite 1 < top_k <= ${MOST_KEPT}; got top_k=${draw.topK < 1 ? 2 ** 30 : draw.topK}. Lower top_k or increase --sampling-mask-max-tokens.`,
      );
    }
    const id = String(body['rid'] ?? made());
    // Two positions are the server's own, and a budget that needs them is cut in silence.
    const run = await engine.generate({
      id,
      context,
      max: Math.min(max, length - 2 - context.length),
      stops,
      draw,
      gone,
      adapter: named,
    });
    const start = num(body['logprob_start_len'], -1);
    const given =
      start < 0 ? [] : engine.contextLogprobs(context, start, named).map((one, i) => [one, context[start + i]]);
    const reply = sglangReply(run, context.length, max, top, given, sets);
    if (body['return_routed_experts'] === true && engine.shape.experts) {
      const from = num(body['routed_experts_start_len'], 0);
      if (from > context.length)
        return bad(
          `recv_req.routed_experts_start_len=${from} is higher than the number of input tokens len(req.origin_input_ids)=${context.length}. Please use a smaller routed_experts_start_len.`,
        );
      const fed = [...context, ...reply.output_ids].slice(0, -1);
      Object.assign(reply.meta_info, { routed_experts: base64(expertsOf(fed, 'int32').subarray(from * ROUTING * 4)) });
    }
    return ok(reply);
  }

  function sglangReply(
    { id, outputs, finish, spans }: Run,
    prompt: number,
    max: number,
    top: number,
    given: readonly (readonly unknown[])[],
    sets: boolean,
  ) {
    const reason =
      finish === 'stop'
        ? { type: 'stop', matched: outputs.at(-1)!.id }
        : finish === 'length'
          ? { type: 'length', length: max }
          : { type: 'abort', message: 'Aborted', status_code: null, err_type: null };
    return {
      text: 'text',
      output_ids: ids(outputs),
      meta_info: {
        id,
        finish_reason: reason,
        prompt_tokens: prompt,
        weight_version: spans.at(-1)?.version ?? engine.version,
        num_retractions: 0,
        input_token_logprobs: given.map((pair) => [...pair, null]),
        output_token_logprobs: outputs.map((o) => [o.logprob, o.id, null]),
        output_token_logprobs_length: outputs.length,
        ...(top > 0
          ? {
              input_top_logprobs: [],
              output_top_logprobs: outputs.map((o) => o.top.map((t) => [t.logprob, t.id, null])),
            }
          : {}),
        ...(sets && {
          output_token_sampling_mask: outputs.map(({ kept }) => kept),
          output_token_sampling_logprobs: outputs.map(({ keptLogprob }) => keptLogprob),
          output_token_sampling_mask_length: outputs.length,
        }),
        reasoning_tokens: 0,
        completion_tokens: outputs.length,
        cached_tokens: 6,
        ...(engine.shape.spans ? { weight_versions: spans } : {}),
        cached_tokens_details: { device: 6, host: 0 },
        dp_rank: null,
        e2e_latency: 0.1,
        response_sent_to_client_ts: 1.5,
      },
    };
  }

  function updateWeights({ model_path: folder, weight_version: version }: Body): Reply {
    const done = (success: boolean, message: string) => ({
      status: success ? 200 : 400,
      body: { success, message, num_paused_requests: 0 },
    });
    if (!engine.load(String(folder)))
      return done(false, `Failed to get weights iterator: ${notThere(String(folder))}.`);
    if (version != null) engine.name(String(version));
    return done(true, `Succeeded to update model weights. Weight version updated to ${engine.version}.`);
  }

  function adapter(path: string, { lora_name: name, lora_path: folder }: Body): Reply {
    const done = (error: string | null) => ({
      status: error === null ? 200 : 400,
      body: { success: error === null, error_message: error, loaded_adapters: Object.fromEntries(engine.adapters) },
    });
    const word = String(name);
    if (engine.shape.adapters === 'none')
      return done('LoRA is not enabled. Please set `--enable-lora` to enable LoRA.');
    if (path === '/unload_lora_adapter') return done(engine.adapters.delete(word) ? null : `${word} does not exist`);
    if (engine.adapters.has(word)) return done(`LoRA with name ${word} already exists`);
    if (/\/non[^/]*$/.test(String(folder))) return done(notThere(String(folder)));
    engine.adapters.set(word, String(folder));
    folders.set(word, String(folder));
    return done(null);
  }

  return async ({ method, path, body, broken, gone }) => {
    if (broken) {
      const message = "1 validation error:\n  {'type': 'json_invalid'}";
      return { status: 400, body: { object: 'error', message, type: 'Bad Request', param: null, code: 400 } };
    }
    const said = (body ?? {}) as Body;
    switch (`${method} ${path}`) {
      case 'GET /model_info':
        return ok({
          model_path: modelPath,
          served_model_name: name,
          tokenizer_path: modelPath,
          is_generation: true,
          weight_version: engine.version,
          model_type: 'qwen2',
        });
      case 'GET /server_info':
        return ok({
          model_path: modelPath,
          tokenizer_path: modelPath,
          context_length: null,
          max_req_input_len: length - 6,
          max_total_num_tokens: 100_000,
          enable_deterministic_inference: false,
          ...(engine.shape.experts && { enable_return_routed_experts: true }),
          weight_version: engine.version,
          version: '0.5.23',
        });
      case 'GET /v1/models': {
        const list = models(name, length, { owned_by: 'sglang', root: name });
        return ok({ ...list, data: [...list.data, ...listed(engine.adapters, name)] });
      }
      case 'POST /load_lora_adapter':
      case 'POST /unload_lora_adapter':
        return adapter(path, said);
      case 'POST /generate':
        return generate(said, gone);
      case 'POST /abort_request':
        engine.abort(said['abort_all'] === true ? null : String(said['rid']));
        return ok('');
      case 'POST /pause_generation':
        if (said['mode'] === 'abort') engine.abort(null);
        engine.paused = true;
        return ok({ message: 'Generation paused successfully.', status: 'ok' });
      case 'POST /continue_generation':
        engine.paused = false;
        return ok({ message: 'Generation continued successfully.', status: 'ok' });
      case 'POST /update_weight_version':
        engine.name(String(said['new_version']));
        return ok({
          success: true,
          message: `Weight version updated to ${engine.version}`,
          new_version: engine.version,
        });
      case 'POST /update_weights_from_disk':
        return updateWeights(said);
      case 'POST /v1/chat/completions':
        return chat(engine, said, gone, 'sglang');
      default:
        return NOT_FOUND;
    }
  };
}
