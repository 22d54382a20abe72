// A data set on the Hugging Face hub: `hf:<org>/<name>[@revision][/config/split]`, and what a run's record has of it.

import { HASH, listOf, NAME, objectOf, type TypeOf } from '../schema/fields.ts';

export const HUB_SOURCE = objectOf({
  /** The commit that the revision was. */
  commit: NAME,
  /** In the order in which their rows are played; the SHA-256 of each one's bytes. */
  files: listOf(objectOf({ name: NAME, sha256: HASH }), 1),
});
export type HubSource = TypeOf<typeof HUB_SOURCE>;

export const HUB_SCHEME = 'hf:';

/** The place of a recorded data set, at the commit that was played. */
export const placeAtCommit = (path: string, { commit }: HubSource): string =>
  path.replace(/^hf:[^/]+\/[^/]+/, (repo) => `${repo}@${commit}`);

/** A data set's name among others: that of its file; of one from the hub, its parts without its owner: `gsm8k/main/test`. */
export function titleOfDataset(path: string): string {
  const parts = path.replace(/\/+$/, '').split('/');
  return path.startsWith(HUB_SCHEME) ? parts.slice(1).join('/') : parts.at(-1)!;
}
