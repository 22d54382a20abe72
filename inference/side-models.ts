// A request to a model beside the run's own, passed on as it is. No key goes with it.

import type { SideModel } from '../domain/agent/side-model.ts';
import type { Json, JsonObject } from '../domain/text/json.ts';
import { openHttp } from './http/http.ts';

export async function passOn(
  { url, model }: SideModel,
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<Json> {
  const http = openHttp({ url, apiKey: null });
  try {
    return (await http.post(path, model === undefined ? body : { ...body, model }, { signal })) as Json;
  } finally {
    await http.close();
  }
}
