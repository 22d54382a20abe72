// A request to a model beside the run's own, passed on as it is, with the operator's key. A stream is read to its end: what broke
// off is a failure, and no reply.

import type { SideModel } from '../domain/agent/index.ts';
import { ModelError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../domain/text/json.ts';
import { readApiKey } from './http/api-key.ts';
import { openHttp } from './http/http.ts';
import type { Together } from './http/reply-json.ts';
import { failureIn } from './http/server-words.ts';

/** The text of the reply: JSON, or the events of a stream where the request asks for one. */
export async function passOn(
  { url, model, apiKeyEnv }: SideModel,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<string> {
  const apiKey = readApiKey(apiKeyEnv);
  const http = openHttp({ url, apiKey });
  const events = body['stream'] === true && { events: together(`${url}${path}`) };
  const headers = path === '/messages' && {
    headers: { ...ANTHROPIC, ...(apiKey !== null && { 'x-api-key': apiKey }) },
  };
  try {
    const reply = await http.post(path, model === undefined ? body : { ...body, model }, {
      signal,
      ...events,
      ...headers,
    });
    return typeof reply === 'string' && events ? reply : JSON.stringify(reply);
  } finally {
    await http.close();
  }
}

const ANTHROPIC = { 'anthropic-version': '2023-06-01' };

/** Where events have names, these are their types. A failure among them is that of the whole. */
const together =
  (address: string): Together =>
  (events, isDone) => {
    const failure = events.find((event) => failureIn(event));
    if (failure !== undefined) return failure;
    if (!isDone && !events.some(isLast))
      throw new ModelError(`${address} broke its stream off`, { reason: 'server-reset', retryable: true });
    return [...events.map(eventText), ...(isDone ? ['data: [DONE]\n\n'] : [])].join('');
  };

/** Of messages, of responses, and of chat completions whose server writes no `[DONE]`. */
function isLast(event: unknown): boolean {
  const { type, choices } = (event ?? {}) as { readonly type?: unknown; readonly choices?: unknown };
  if (type === 'message_stop' || (typeof type === 'string' && /^response\.(?:completed|incomplete)$/.test(type)))
    return true;
  return (
    Array.isArray(choices) &&
    choices.some((one: { readonly finish_reason?: unknown } | null) => one?.finish_reason != null)
  );
}

function eventText(event: unknown): string {
  const { type } = (event ?? {}) as { readonly type?: unknown };
  const name = typeof type === 'string' && /^[\w.-]+$/.test(type) ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
