// A resources server of NVIDIA's NeMo Gym behind an address, `#nemo-gym`: `/seed_session`, then `/verify` with the row and
// the answer as an object of the Responses API. Its reward ends the rollout; a failure of its own judge is no reward. Its
// tools are not called.

import type { EnvironmentRecord, Reply } from '../../domain/environment.ts';
import { EnvironmentError } from '../../domain/errors.ts';
import { short } from '../../domain/foreign-text.ts';
import type { Json, JsonObject } from '../../domain/json.ts';
import type { Message } from '../../domain/query.ts';
import type { Environment } from '../environment.ts';
import { post } from './post.ts';
import { broken, parseBegun, parseReply } from './reply.ts';
import { episodeOf } from './wire.ts';

export function nemoGymEnvironment(who: string, base: string, { timeoutSeconds }: EnvironmentRecord): Environment {
  const timeoutMs = timeoutSeconds * 1000;
  return {
    begin: async (rollout) => {
      const { row } = episodeOf(rollout);
      const messages = inputOf(row);
      return messages ? parseBegun(who, 'none', { messages }) : {};
    },
    async respond({ rollout, turn, answer }, { signal }): Promise<Reply> {
      const { row, key } = episodeOf(rollout);
      const input = paramsOf(row)['input'] ?? (messagesOf(rollout.query.prompt) as unknown as Json);
      const params = { ...paramsOf(row), input };
      const asked = { ...row, responses_create_params: params };
      let cookie: string | undefined;
      const options = { signal, timeoutMs, key: `${key}/${turn}`, onCookie: (given: string) => void (cookie = given) };
      await post(who, 'seed_session', `${base}/seed_session`, asked, options);
      const response = responseOf(`${key}/${turn}`, params, answer);
      const body = { ...asked, response };
      return replyOf(
        who,
        await post(who, 'verify', `${base}/verify`, body, { ...options, ...(cookie ? { cookie } : {}) }),
      );
    },
  };
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function paramsOf({ responses_create_params: params }: JsonObject): JsonObject {
  return isObject(params) ? params : {};
}

/** The prompt of a row as Gym writes it; undefined for a row that has ours. */
function inputOf(row: JsonObject): Message[] | undefined {
  const { input } = paramsOf(row);
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (!Array.isArray(input)) return undefined;
  return (input as Json[]).map((item) => {
    const { role, content } = isObject(item) ? item : {};
    return { role: String(role), content: typeof content === 'string' ? content : textsIn(content) };
  });
}

function textsIn(content: Json | undefined): string {
  const parts = Array.isArray(content) ? (content as Json[]) : [];
  return parts.map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : '')).join('');
}

function messagesOf(prompt: { readonly kind: string; readonly text?: string; readonly messages?: readonly Message[] }) {
  return prompt.messages ?? [{ role: 'user', content: prompt.text ?? '' }];
}

/** The fields that the Responses API requires. */
function responseOf(id: string, { tools }: JsonObject, answer: string): object {
  const content = [{ type: 'output_text', text: answer, annotations: [] }];
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: 0,
    model: 'everturn',
    output: [{ id: `msg_${id}`, type: 'message', role: 'assistant', status: 'completed', content }],
    parallel_tool_calls: false,
    tool_choice: 'auto',
    tools: Array.isArray(tools) ? tools : [],
  };
}

function replyOf(who: string, value: unknown): Reply {
  if (!isObject(value)) throw broken(who, 'verify', 'the reply is not an object');
  const { reward, reward_components: parts, _ng_failure_class: failed, _ng_failure_judge_error: said } = value;
  if (failed !== undefined && failed !== null) {
    throw new EnvironmentError(
      `The environment ${who} could not judge: ${short(JSON.stringify([failed, said]), 300)}`,
      {
        reason: 'environment-error',
        retryable: true,
      },
    );
  }
  const numbers = Object.entries(isObject(parts) ? parts : {}).filter(([, part]) => typeof part === 'number');
  const metrics = numbers.length > 0 ? { metrics: Object.fromEntries(numbers) } : {};
  return parseReply(who, 'none', { reward, ...metrics }, undefined);
}
