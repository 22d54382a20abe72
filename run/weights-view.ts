// An embedded model with other weights: loaded once for each backend, and again if loading failed.

import type { Backend, EmbeddedWeights } from '../inference/backend.ts';

const VIEWS_KEPT = 8;
/** Views by backend and weights. */
const viewsOf = new WeakMap<Backend, Map<string, Promise<Backend>>>();

export function viewWithWeights(backend: Backend, weights: EmbeddedWeights): Promise<Backend> {
  const views = viewsOf.get(backend) ?? new Map<string, Promise<Backend>>();
  viewsOf.set(backend, views);
  const key = JSON.stringify([weights.label, weights.folder]);
  const earlier = views.get(key);
  if (earlier) return earlier;
  if (!('tokenizer' in backend)) throw new TypeError('a server of text takes no weights');
  const made: Promise<Backend> = backend.withWeights!(weights);
  // Those of long ago are not asked for any more.
  if (views.size >= VIEWS_KEPT) views.delete([...views.keys()][0]!);
  views.set(key, made);
  made.catch(() => views.delete(key));
  return made;
}
