// A task of Harbor as a row has it: what its directory says of the container in which an agent's tools run, and of the tests that
// give the reward (formats/datasets/harbor.ts). The directory itself is found by its name, and proved by its digest.

import * as f from '../schema/fields.ts';

/** Of a data set that is a folder of tasks. */
export const HARBOR_SCHEME = 'harbor:';

export const DEFAULT_VERIFIER_SECONDS = 600;
/** Its activity waits no longer. */
export const MAX_VERIFIER_SECONDS = 7_200;
export const DEFAULT_BUILD_SECONDS = 600;

const VARIABLES = f.mapOf(f.TEXT);

/** Fields have the names and the units of `task.toml`. */
export const HARBOR_TASK = f.objectOf({
  /** The name of its directory. */
  name: f.NAME,
  /** Of all files in it. */
  sha256: f.HASH,
  agent_timeout_sec: f.maybe(f.POSITIVE),
  verifier_timeout_sec: f.upTo(MAX_VERIFIER_SECONDS),
  build_timeout_sec: f.POSITIVE,
  cpus: f.maybe(f.POSITIVE),
  memory_mb: f.maybe(f.PLACE),
  /** False: it has no network. */
  network: f.BOOLEAN,
  workdir: f.maybe(f.NAME),
  docker_image: f.maybe(f.NAME),
  agent_user: f.maybe(f.NAME),
  verifier_user: f.maybe(f.NAME),
  env: f.maybe(VARIABLES),
  verifier_env: f.maybe(VARIABLES),
});
export type HarborTask = f.TypeOf<typeof HARBOR_TASK>;

/** The task of a row; undefined if it is none. */
export function taskOfRow(row: { readonly harbor?: unknown }): HarborTask | undefined {
  return HARBOR_TASK[0](row.harbor) ? (row.harbor as HarborTask) : undefined;
}
