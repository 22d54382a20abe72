// The training samples of an agent's rollout: one for each leaf of its tree of calls, from the root to that leaf. A sampled
// token is trained in the first sample that holds it, and is context in the others. All samples have the rollout's advantage:
// a trainer that normalises by rollout and not by sample finds `samples` and `trainedTokens` in each.

/** A call with its tokens; each token of a rollout is stored once. */
export interface CallTokens {
  readonly id: string;
  /** Null for a root. */
  readonly parent: string | null;
  /** Ids new in its context, behind the parent's; all of them for a root. */
  readonly contextIds: readonly number[];
  /** Sampled ids, the stop token included. */
  readonly outputIds: readonly number[];
  /** One per sampled id. */
  readonly logprobs: readonly number[];
}

export interface BranchSample {
  /** 0-based. */
  readonly branch: number;
  /** The branches of the rollout. */
  readonly branches: number;
  /** The call that this branch leaves another one behind; null if it shares none. */
  readonly parent: string | null;
  /** The path from the root: `end` is the place in `ids` behind a call's last token, which `start` begins to sample. */
  readonly calls: readonly {
    readonly id: string;
    readonly start: number;
    readonly end: number;
    readonly trained: boolean;
  }[];
  readonly ids: readonly number[];
  /** 1 for the tokens that are trained here. */
  readonly lossMask: readonly (0 | 1)[];
  /** One per id; 0 where the mask is 0. */
  readonly logprobs: readonly number[];
  readonly trainedTokens: number;
  readonly advantage: number;
}

/** `calls`: in the order in which they began, parents before children. `abandoned`: calls of which no leaf is made. */
export function branchSamples(
  calls: readonly CallTokens[],
  advantage: number,
  abandoned: ReadonlySet<string> = new Set(),
): readonly BranchSample[] {
  const byId = new Map(calls.map((call) => [call.id, call]));
  const kept = new Set(calls.filter(({ id }) => !abandoned.has(id)).flatMap((call) => pathTo(call, byId)));
  const inner = new Set([...kept].map(({ parent }) => parent));
  const leaves = calls.filter((call) => kept.has(call) && !inner.has(call.id));
  const trained = new Set<string>();
  return leaves.map((leaf, branch) => {
    const sample = sampleOf(pathTo(leaf, byId), trained);
    return { branch, branches: leaves.length, ...sample, advantage };
  });
}

/** All ids up to the end of a call: the beginning of every context that extends it. */
export function idsThrough(call: CallTokens, byId: ReadonlyMap<string, CallTokens>): readonly number[] {
  return pathTo(call, byId).flatMap(({ contextIds, outputIds }) => [...contextIds, ...outputIds]);
}

function pathTo(call: CallTokens, byId: ReadonlyMap<string, CallTokens>): readonly CallTokens[] {
  const path = [call];
  for (let at = call; at.parent !== null; path.unshift(at)) {
    const parent = byId.get(at.parent);
    if (!parent || path.includes(parent)) throw new Error(`call ${at.id} has no call ${at.parent} before it`);
    at = parent;
  }
  return path;
}

/** `trained`: the calls of earlier samples; those of this one join them. */
function sampleOf(path: readonly CallTokens[], trained: Set<string>) {
  const ids: number[] = [];
  const lossMask: (0 | 1)[] = [];
  const logprobs: number[] = [];
  let parent: string | null = null;
  let trainedTokens = 0;
  const calls = path.map((call) => {
    const isTrained = !trained.has(call.id);
    if (isTrained) trainedTokens += call.outputIds.length;
    else parent = call.id;
    trained.add(call.id);
    ids.push(...call.contextIds);
    while (lossMask.length < ids.length) lossMask.push(0);
    while (logprobs.length < ids.length) logprobs.push(0);
    const start = ids.length;
    for (const [i, id] of call.outputIds.entries()) {
      ids.push(id);
      lossMask.push(isTrained ? 1 : 0);
      logprobs.push(isTrained ? call.logprobs[i]! : 0);
    }
    return { id: call.id, start, end: ids.length, trained: isTrained };
  });
  return { parent: parent as string | null, calls, ids, lossMask, logprobs, trainedTokens };
}
