// The one request of the viewer that changes something: POST /api/act, only if the server was started with --steer. It is
// taken from our own page alone: under our name, from our origin, with the session's cookie, with the key that only the
// printed address holds (cookies of 127.0.0.1 go to every port of it, so a cookie is not enough), and as JSON, which no
// form can send. It does as the command line does, on a run of this folder.

import type { IncomingMessage } from 'node:http';
import { jsonIn, mustBeOurs, Refusal, isSameText } from './guard.ts';
import { type SteerReply, type SteerRequest, steerRequest } from './model/steer.ts';

export interface Steering {
  /** The key stands in the fragment of the printed address: browsers send it to nobody. */
  readonly key: string;
  /** Whether the folder has this run: a command would also take a path. */
  readonly has: (run: string) => boolean;
  readonly act: (request: SteerRequest) => Promise<SteerReply>;
}

const MOST_BYTES = 128 * 1024;
const AT_ONCE = 4;

export const ACT_PATH = '/api/act';
export const KEY_HEADER = 'x-everturn-steer';

export function openSteerRequests({ key, has, act: perform }: Steering) {
  let going = 0;
  return async function act(
    request: IncomingMessage,
    url: URL,
    guarded: Parameters<typeof mustBeOurs>[2],
  ): Promise<SteerReply> {
    const { origin, 'content-type': type = '', [KEY_HEADER]: given } = request.headers;
    mustBeOurs(request, url, { ...guarded, posts: true });
    if (origin === undefined) throw new Refusal(403, 'An act names its origin; this request does not.');
    if (typeof given !== 'string' || !isSameText(given, key)) {
      throw new Refusal(403, 'Open the address that `everturn view --steer` printed: this page may look, and not act.');
    }
    if (!/^application\/json\s*(;|$)/i.test(type))
      throw new Refusal(415, 'An act is JSON: content-type application/json.');
    const parsed = steerRequest(await bodyOf(request));
    if (typeof parsed === 'string') throw new Refusal(400, parsed);
    if (!has(parsed.run)) throw new Refusal(404, 'There is no such run in this folder.');
    if (going >= AT_ONCE) throw new Refusal(429, 'Several acts are going on: wait for them.');
    going++;
    try {
      return await perform(parsed);
    } finally {
      going--;
    }
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > MOST_BYTES) throw new Refusal(413, `An act has at most ${MOST_BYTES} bytes.`);
    parts.push(part);
  }
  return jsonIn(Buffer.concat(parts).toString('utf8'), 'The body');
}
