// A request to a model beside the run's own, passed on as it is, with the operator's key. A stream is read to its end: what broke
// off is a failure, and no reply.

import type { SideModel } from '../domain/agent/index.ts';
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
  const http = openHttp({ url, apiKey: readApiKey(apiKeyEnv) });
  const events = body['stream'] === true && { events: asText };
  try {
    const reply = await http.post(path, model === undefined ? body : { ...body, model }, { signal, ...events });
    return typeof reply === 'string' && events ? reply : JSON.stringify(reply);
  } finally {
    await http.close();
  }
}

/** Where events have names, these are their types. A failure among them is that of the whole. */
const asText: Together = (events, isEnded) =>
  events.find((event) => failureIn(event)) ??
  [...events.map(eventText), ...(isEnded ? ['data: [DONE]\n\n'] : [])].join('');

function eventText(event: unknown): string {
  const { type } = (event ?? {}) as { readonly type?: unknown };
  const name = typeof type === 'string' && /^[\w.-]+$/.test(type) ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}
