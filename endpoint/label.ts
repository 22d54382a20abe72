// What a program says of a call beside its request: the model that it asks for, a tag, and whether the call is trained. From
// headers, and from fields that every client can fill.

import type { IncomingHttpHeaders } from 'node:http';
import { type CallLabel, callTag, TAG_RULE } from '../domain/agent/index.ts';
import { isObject } from '../domain/schema/fields.ts';
import type { JsonObject } from '../domain/text/json.ts';
import { RefusedRequest } from './dialects/dialect.ts';

const TAG = 'x-everturn-tag';
const TRAIN = 'x-everturn-train';
const MODEL_CHARS = 100;

/** Throws RefusedRequest. */
export function callLabel(headers: IncomingHttpHeaders, body: JsonObject): CallLabel {
  const { model, user, metadata } = body;
  const inMetadata = isObject(metadata) ? metadata['tag'] : undefined;
  // An id of a user may be anything: one that is no tag is none.
  const tag = tagIn(headers[TAG], TAG) ?? tagIn(inMetadata, 'metadata.tag') ?? callTag(user);
  const train = headers[TRAIN];
  if (train !== undefined && train !== '0' && train !== '1')
    throw new RefusedRequest('malformed', TRAIN, 'is wrong: 0 is a call that is not trained, 1 one that is');
  return {
    ...(typeof model === 'string' && model !== '' && { model: model.slice(0, MODEL_CHARS).toWellFormed() }),
    ...(tag !== undefined && { tag }),
    ...(train === '0' && { train: false }),
  };
}

function tagIn(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined;
  const tag = callTag(value);
  if (tag !== undefined) return tag;
  throw new RefusedRequest('malformed', field, `is wrong: it takes ${TAG_RULE}`);
}
