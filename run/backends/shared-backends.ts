// The backends that runs of one worker share: each model is loaded once, at first use, and again if loading failed. A backend is
// closed when its runs have ended. A run whose weights were changed has one of its own.

import { explain } from '../../domain/errors/errors.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type {
  Backend,
  EmbeddedWeights,
  GenerateOptions,
  LateServers,
  TextRequest,
  TokenBackend,
} from '../../inference/backend.ts';
import { createBackend } from '../../inference/index.ts';
import { openSharedResources } from '../../local/machine/shared-resources.ts';
import { hasEnded } from '../../records/file-store.ts';
import { isOnDisk, join } from '../../records/place.ts';

export interface SharedBackend {
  readonly made: Promise<Backend>;
  /** Its requests in flight, which backends with later weights share. */
  readonly use: { inFlight: number };
}

export interface BackendWish {
  readonly settings: RolloutSettings;
  readonly runFolder: string;
  /** The folder of the run whose weights answer; an evaluation has its training run's. */
  readonly owner: string;
  /** The weights with which the run's own backend opens; null: the run shares one that has the model's. */
  readonly weights: EmbeddedWeights | null;
  /** Throws where a server names a tokenizer that is not to be loaded. */
  readonly mayLoad: ((folderOrHubId: string) => void) | undefined;
}

export type SharedBackends = ReturnType<typeof openSharedBackends>;

export function openSharedBackends(log: (line: string) => void, lateServers: (runFolder: string) => LateServers) {
  const backends = openSharedResources<SharedBackend>({
    hasEnded,
    isUsed: ({ use }) => use.inFlight > 0,
    close: ({ made }) => made.then((backend) => backend.close()).catch((error: unknown) => log(explain(error))),
  });
  return {
    open({ settings, runFolder, owner, weights, mayLoad = () => undefined }: BackendWish): SharedBackend {
      const options = backendOptions(settings, owner);
      const key = JSON.stringify([settings.model, options, ...(weights === null ? [] : [owner])]);
      return backends.of(key, runFolder, () => {
        const followed = weights === null ? {} : { weights, late: lateServers(owner) };
        const use = { inFlight: 0 };
        const made = createBackend(settings.model, { ...options, ...followed, log, mayLoad }).then((backend) =>
          countUse(backend, use),
        );
        const shared = { made, use };
        made.catch(() => backends.forget(shared));
        return shared;
      });
    },
    /** The next call opens another one. */
    forget: (shared: SharedBackend) => backends.forget(shared),
    /** Folders of the runs that have a backend. */
    runs: () => backends.runs(),
    close: () => backends.close(),
  };
}

function backendOptions(settings: RolloutSettings, owner: string) {
  const { tokenizer, apiKeyEnv, requestTimeoutSeconds, recheckEvery, extraBody } = settings;
  const { fleetPolicy, maxInFlightPerServer, serverLimits, serverWeights } = settings;
  const isLimited = maxInFlightPerServer !== null || Object.keys(serverLimits).length > 0;
  return {
    tokenizer,
    apiKeyEnv,
    ...(extraBody && { extraBody }),
    requestTimeoutSeconds,
    recheckEvery,
    fleetPolicy,
    maxInFlightPerServer,
    serverLimits,
    serverWeights,
    // Limits count over all workers of a run, which share its folder; of a run in a bucket, for each worker.
    leaseFolder: isLimited && isOnDisk(owner) ? join(owner, '.fleet') : null,
  };
}

/** The same backend; `use` counts its requests. */
function countUse(backend: Backend, use: SharedBackend['use']): Backend {
  async function during<T>(work: () => Promise<T>): Promise<T> {
    use.inFlight++;
    try {
      return await work();
    } finally {
      use.inFlight--;
    }
  }
  if (!isOfTokens(backend)) {
    return {
      ...backend,
      generate: (request: TextRequest, options: GenerateOptions) => during(() => backend.generate(request, options)),
    };
  }
  const ofTokens = (one: TokenBackend): TokenBackend => {
    const { withWeights } = one;
    return {
      ...one,
      generate: (request, options) => during(() => one.generate(request, options)),
      ...(withWeights && { withWeights: async (weights) => ofTokens(await during(() => withWeights(weights))) }),
    };
  };
  return ofTokens(backend);
}

const isOfTokens = (backend: Backend): backend is TokenBackend => backend.facts.kind === 'tokens';
