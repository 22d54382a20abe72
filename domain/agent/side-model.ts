// Models beside the run's own, which a program asks by their names: its requests are passed on to an address of the run's, and are no
// turns and no samples. A reply is recorded by its request, so that the program finds the same one however often it asks.

import { UsageError } from '../errors/errors.ts';
import * as f from '../schema/fields.ts';
import { short } from '../text/foreign-text.ts';

export const SIDE_MODEL = f.objectOf({
  /** As requests name it. */
  name: f.NAME,
  /** What their paths stand behind. */
  url: f.NAME,
  /** Its name there; absent: the same. */
  model: f.maybe(f.NAME),
  /** The variable of a worker's environment that holds its key; absent: none is sent. */
  apiKeyEnv: f.maybe(f.NAME),
});
export type SideModel = f.TypeOf<typeof SIDE_MODEL>;

/** A reply of one; each is written once. */
export const SIDE = {
  /** 1-based, in the rollout. */
  entry: f.PLACE,
  /** SHA-256 of path and body. */
  hash: f.HASH,
  /** Behind `/v1`. */
  path: f.NAME,
  model: f.NAME,
  /** JSON, or the events of a stream. */
  reply: f.TEXT,
  startedAt: f.COUNT,
  finishedAt: f.COUNT,
};
export type SideRecord = f.ObjectOf<typeof SIDE>;

/** `name=openai:<url>[#<model>]`. `parseUrl`: throws for an address that may not be asked. */
export function parseSideModel(text: string, parseUrl: (url: string) => string): SideModel {
  const [, name, url, model] = /^([^=\s]+)=openai:([^#\s]+)(?:#(\S+))?$/.exec(text) ?? [];
  if (name === undefined || url === undefined)
    throw new UsageError(`--side-model ${JSON.stringify(short(text, 200))} names no model beside the run's.`, {
      reason: 'bad-value',
      fix: 'Right would be name=openai:http://host:port/v1, or name=openai:http://host:port/v1#its-name-there.',
    });
  const address = parseUrl(url);
  const isBare = new URL(address).pathname === '/';
  return { name, url: isBare ? `${address}/v1` : address, ...(model !== undefined && { model }) };
}
