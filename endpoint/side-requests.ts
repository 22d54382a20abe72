// Requests of an attempt that name a model beside the run's own, on the path of a dialect or on any other: they are passed on as they
// are, whole, and are no calls of the rollout.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SideModel } from '../domain/agent/index.ts';
import { ModelError } from '../domain/errors/errors.ts';
import type { JsonObject } from '../domain/text/json.ts';
import type { AskSide } from './agents.ts';
import { readRequestBody } from './body.ts';
import { RefusedRequest } from './dialects/dialect.ts';
import { DIALECTS } from './dialects/index.ts';
import { errorBody, sendJson } from './http.ts';

export interface SideOptions {
  readonly sideModels?: readonly SideModel[];
  readonly side?: AskSide;
}

export function sideRequests({ sideModels = [], side }: SideOptions) {
  /** False: the request names none of the models. A failure that may pass has a status after which clients ask again. */
  async function passedOn(path: string, body: JsonObject, response: ServerResponse): Promise<boolean> {
    const to = sideModels.find(({ name }) => name === body['model']);
    if (!to || !side) return false;
    try {
      const reply = await side(to, path, body);
      const type = STREAM.test(reply) ? 'text/event-stream' : 'application/json';
      response.writeHead(200, { 'content-type': type }).end(reply);
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      sendJson(response, statusOf(error), errorBody(error.message, error.reason));
    }
    return true;
  }

  return {
    names: sideModels.map(({ name }) => name),
    passedOn,
    /** Of a path that no dialect has. */
    async answer(message: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
      const isAsked = message.method === 'POST' && sideModels.length > 0 && BEHIND.test(path);
      try {
        const body = isAsked && ((await readRequestBody(message, {})) as JsonObject);
        if (body && (await passedOn(path.slice('/v1'.length), body, response))) return;
        sendJson(response, 404, errorBody(noSuchPath(path), 'path'));
      } catch (error) {
        if (!(error instanceof RefusedRequest)) throw error;
        sendJson(response, error.status, errorBody(error.message, error.reason));
      }
    },
  };
}

/** Clients wait longer after 429. */
const statusOf = ({ reason, retryable }: ModelError) => (reason === 'server-busy' ? 429 : retryable ? 502 : 400);

/** No JSON begins like this. */
const STREAM = /^(?:event|data):/;

/** What leads above the address is no path. */
const BEHIND = /^\/v1(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/;

const noSuchPath = (path: string) => `there is no ${path}: ask ${DIALECTS.map((one) => `/v1${one.path}`).join(', ')}`;
