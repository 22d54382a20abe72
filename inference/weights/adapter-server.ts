// One server while it gets an adapter as new weights. It is loaded beside the model, so nothing is paused. It is first loaded under
// a name for trial, where it must answer otherwise than the model; requests know the other name alone, which is there only
// afterwards. A failure leaves what was in force. SGLang's side was read in its source, and not run.

import { z } from 'zod';
import { ModelError } from '../../domain/errors/errors.ts';
import type { AdapterToLoad } from '../../domain/weights/adapter.ts';
import type { WeightServer } from '../../domain/weights/weights.ts';
import { lacksAdapter, parseServerReply, servedNames, SLOW_TIMEOUTS } from '../fleet/server-backend.ts';
import type { Http } from '../http/http.ts';
import { COMPLETIONS } from '../servers/vllm-protocol.ts';
import { readAdapter } from './adapter-folder.ts';

interface Dialect {
  /** Of the paths that load and unload. */
  readonly prefix: string;
  /** Logprobs of some tokens after the probe, under this name; null: of the model. Where they are right, of the probe too. */
  logprobs(http: Http, name: string | null): Promise<readonly (number | null)[]>;
}

/** Ids that every vocabulary has. */
const PROBE = Array.from({ length: 32 }, (_, i) => 20 + ((i * 37) % 200));

const NEW_TOKENS = 16;

const pairs = z.array(z.tuple([z.number().nullable()]).rest(z.unknown())).nullish();
const Sglang = z.object({ meta_info: z.object({ input_token_logprobs: pairs, output_token_logprobs: pairs }) });

const DIALECTS: Readonly<Record<'vllm' | 'sglang', Dialect>> = {
  vllm: {
    prefix: '/v1',
    async logprobs(http, name) {
      const model = name ?? (await servedNames(http))[0];
      // One that says kept sets takes no greedy request.
      const drawn = { temperature: 1, top_k: 50, seed: 1 };
      const params = { ...drawn, max_tokens: NEW_TOKENS, ignore_eos: true, logprobs: 0 };
      const body = COMPLETIONS.body({ model, contextIds: PROBE, id: null, params });
      const sent = await http.post(COMPLETIONS.path, body, PATIENT);
      return parseServerReply(COMPLETIONS.reply, sent, http.place(COMPLETIONS.path)).logprobs;
    },
  },
  sglang: {
    prefix: '',
    async logprobs(http, name) {
      const body = {
        input_ids: PROBE,
        sampling_params: { max_new_tokens: NEW_TOKENS, temperature: 0, ignore_eos: true },
        return_logprob: true,
        logprob_start_len: 0,
        ...(name !== null && { lora_path: name }),
      };
      const { meta_info: given } = parseServerReply(
        Sglang,
        await http.post('/generate', body, PATIENT),
        http.place('/generate'),
      );
      return [...(given.input_token_logprobs ?? []), ...(given.output_token_logprobs ?? [])].map(
        ([logprob]) => logprob,
      );
    },
  },
};

/** Its turn comes behind the requests in flight. */
const PATIENT = { timeouts: { firstByteMs: 600_000, totalMs: 600_000 } };

export function adapterServer(http: Http, kind: keyof typeof DIALECTS, adapter: AdapterToLoad): WeightServer {
  const { prefix, logprobs } = DIALECTS[kind];
  const trial = `${adapter.name}-trial`;

  /** What counts is what it lists: vLLM's word for success is no JSON, and an answer may be lost. */
  async function load(name: string, folder: string): Promise<void> {
    const body = { lora_name: name, lora_path: folder };
    const failure: unknown = await http.post(`${prefix}/load_lora_adapter`, body, PATIENT).catch((e: unknown) => e);
    if ((await servedNames(http)).includes(name)) return;
    if (isAbsent(failure)) throw takesNone(http.url, failure);
    throw failure instanceof Error ? failure : new ModelError(`${http.url} did not load ${folder}`, REFUSED);
  }

  /** Another process may be there by now. */
  function lost(error: unknown): never {
    if (!lacksAdapter(error)) throw error;
    throw new ModelError(`${http.url} lost ${trial} while it was tried`, { reason: 'server-reset', retryable: true });
  }

  async function unload(name: string): Promise<void> {
    const body = { lora_name: name };
    await http.post(`${prefix}/unload_lora_adapter`, body, { timeouts: SLOW_TIMEOUTS }).catch(() => undefined);
  }

  async function mustAnswer(folder: string, model: readonly (number | null)[]): Promise<void> {
    await load(trial, folder);
    try {
      const gap = distance(await logprobs(http, trial).catch(lost), model);
      // Its own noise: requests beside it change the last bits, in bfloat16 more than a first step does.
      const noise = gap > CLEAR ? 0 : distance(await logprobs(http, null), model);
      if (gap > 4 * noise || noise > DOUBTFUL) return;
      throw new ModelError(`${http.url} loaded ${folder}, and answers as the model does without it`, {
        reason: 'adapter-not-used',
        fix: 'Are its tensors named as those of this model, and are not all of `lora_B` nearly zero?',
      });
    } finally {
      await unload(trial);
    }
  }

  return {
    url: http.url,
    async version() {
      const names = await servedNames(http);
      const has = ({ name }: { readonly name: string }) => names.includes(name);
      return has(adapter) ? adapter.label : (adapter.known.findLast(has)?.label ?? null);
    },
    async load(folder) {
      const { hash, isZero } = await readAdapter(folder);
      if (hash !== adapter.hash) {
        throw new ModelError(`${folder} holds another adapter than when version ${adapter.label} was declared`, {
          reason: 'model-changed',
          fix: 'Put the old one back, or give another version, in a folder of its own.',
        });
      }
      // Those that no request names any more make room first.
      const names = await servedNames(http);
      const old = adapter.known.filter(({ name }) => !adapter.held.includes(name));
      for (const name of [...old.map((each) => each.name), trial]) if (names.includes(name)) await unload(name);
      if (!isZero) await mustAnswer(folder, await logprobs(http, null));
      await load(adapter.name, folder);
    },
    pause: async () => undefined,
    resume: async () => undefined,
    name: async () => undefined,
    keptItsWeights: () => true,
    close: http.close,
  };
}

/** In nats: no noise is as great. */
const CLEAR = 0.05;
/** Noise that would hide an adapter. */
const DOUBTFUL = 1e-4;

/** The widest difference; none where nothing can be compared. */
function distance(one: readonly (number | null)[], other: readonly (number | null)[]): number {
  const gaps = one.map((logprob, i) => Math.abs((logprob ?? NaN) - (other[i] ?? NaN)));
  return Math.max(0, ...gaps.filter((gap) => !Number.isNaN(gap)));
}

const REFUSED = { reason: 'request-refused' } as const;

/** No such path, in FastAPI's own words: vLLM's of a folder are longer. */
const isAbsent = (error: unknown) =>
  error instanceof ModelError && error.reason === 'server-lacks' && error.message.endsWith(': Not Found');

function takesNone(url: string, cause: unknown): ModelError {
  return new ModelError(`${url} takes no adapters as it runs now`, {
    reason: 'server-lacks',
    fix: 'vLLM does with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=1, SGLang with --enable-lora.',
    cause,
  });
}
