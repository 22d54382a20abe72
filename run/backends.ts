// The backends of one worker: each model is loaded once, at first use, and again if loading failed. Writes the status
// of their servers into the folders of the runs that use them, and closes a backend when its runs have ended. A run whose
// weights were changed has a backend of its own: it opens with the weights in force, and follows them from turn to turn. An
// evaluation shares that of its training run; an embedded model answers it with the evaluated version throughout.

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { type BackendUse, counted } from './backend-use.ts';
import { explain, ModelError } from '../domain/errors/errors.ts';
import { differingCanaries, differingTraits } from '../domain/weights/model-identity.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { WeightsLedger } from '../domain/weights/weight-parts.ts';
import { type DeclaredWeights, isLate } from '../domain/weights/weights.ts';
import type { Backend, EmbeddedWeights, LateServers } from '../inference/backend.ts';
import { createBackend } from '../inference/index.ts';
import { type Evaluated, evaluatedIn } from './evaluations.ts';
import { openHeld } from '../local/machine/held.ts';
import { factsOf } from '../records/disk/facts.ts';
import { hasEnded, openFileStore } from '../records/file-store.ts';
import { openWeightsLedger } from '../records/run/weights.ts';
import { writeFleetReport } from '../records/run/fleet-status.ts';
import { basename, dirname, isShared, join } from '../records/place.ts';
import { RUN_FILE } from '../records/format/layout.ts';

export interface Backends {
  get(settings: RolloutSettings, runFolder: string, permissions?: BackendPermissions): Promise<Backend>;
  /** Loads weights of an embedded model and returns their SHA-256, or throws what is wrong with them. */
  prove(
    settings: RolloutSettings,
    runFolder: string,
    weights: EmbeddedWeights,
    permissions?: BackendPermissions,
  ): Promise<string | null>;
  close(): Promise<void>;
}

export interface BackendPermissions {
  /** Throws where a server names a tokenizer that is not to be loaded. */
  readonly mayLoad?: (folderOrHubId: string) => void;
  /** Throws where a folder of new weights is not to be loaded. */
  readonly mayUseWeights?: (folder: string) => void;
}

/** Asked to bring a run's servers up to date, at most so often. */
const UPDATE_EVERY_MS = 3000;
const VIEWS_KEPT = 8;
const REPORT_EVERY_MS = 5000;

interface Opened {
  readonly made: Promise<Backend>;
  readonly use: BackendUse;
}

/** `onLate`: a server of the run came back without the weights in force. */
export function openBackends(
  log: (line: string) => void,
  onLate: (runFolder: string, current: DeclaredWeights) => void = () => undefined,
): Backends {
  const close = ({ made }: Opened) =>
    made.then((backend) => backend.close()).catch((error: unknown) => log(explain(error)));
  const backends = openHeld<Opened>({ hasEnded, isUsed: ({ use }) => use.inFlight > 0, close });
  /** Runs that used a backend since the last report. */
  const asking = new Map<string, Set<Promise<Backend>>>();
  const timer = setInterval(() => void report().then(forgetEnded), REPORT_EVERY_MS).unref();

  function open(
    settings: RolloutSettings,
    runFolder: string,
    { mayLoad = () => undefined }: BackendPermissions,
    weights: EmbeddedWeights | null,
    owner = runFolder,
  ): Opened {
    const { model, tokenizer, apiKeyEnv, requestTimeoutSeconds, recheckEvery, extraBody } = settings;
    const { fleetPolicy, maxInFlightPerServer, serverLimits, serverWeights } = settings;
    const limited = maxInFlightPerServer !== null || Object.keys(serverLimits).length > 0;
    const options = {
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
      leaseFolder: limited && isShared(owner) ? join(owner, '.fleet') : null,
    };
    const key = JSON.stringify([model, options, ...(weights === null ? [] : [owner])]);
    return backends.of(key, runFolder, () => {
      const followed = weights === null ? {} : { weights, late: lateServers(owner) };
      const use = { inFlight: 0 };
      const made = createBackend(model, { ...options, ...followed, log, mayLoad }).then((it) => counted(it, use));
      const opened = { made, use };
      made.catch(() => backends.forget(opened));
      return opened;
    });
  }

  function forgetEnded(): void {
    const used = backends.runs();
    for (const folder of ledgers.keys()) if (!used.has(folder)) ledgers.delete(folder);
  }

  const ledgers = new Map<string, WeightsLedger>();
  function ledgerOf(runFolder: string): WeightsLedger {
    const known = ledgers.get(runFolder) ?? openWeightsLedger(runFolder);
    ledgers.set(runFolder, known);
    return known;
  }

  function lateServers(runFolder: string): LateServers {
    let askedAt = Number.NEGATIVE_INFINITY;
    return {
      async wanted(label) {
        const known = await ledgerOf(runFolder).read();
        return isLate(label, known) ? known.current!.label : null;
      },
      update() {
        if (performance.now() - askedAt < UPDATE_EVERY_MS) return;
        askedAt = performance.now();
        void ledgerOf(runFolder)
          .current()
          .then((current) => current && onLate(runFolder, current))
          .catch((error: unknown) => log(explain(error)));
      },
    };
  }

  /** By backend and weights. */
  const loaded = new WeakMap<Backend, Map<string, Promise<Backend>>>();

  function withWeights(backend: Backend, weights: EmbeddedWeights): Promise<Backend> {
    const views = loaded.get(backend) ?? new Map<string, Promise<Backend>>();
    loaded.set(backend, views);
    const key = JSON.stringify([weights.label, weights.folder]);
    const known = views.get(key);
    if (known) return known;
    if (!('tokenizer' in backend)) throw new TypeError('a server of text takes no weights');
    const made: Promise<Backend> = backend.withWeights!(weights);
    // Those of long ago are not asked for any more.
    if (views.size >= VIEWS_KEPT) views.delete([...views.keys()][0]!);
    views.set(key, made);
    made.catch(() => views.delete(key));
    return made;
  }

  async function inForce(
    settings: RolloutSettings,
    runFolder: string,
    permissions: BackendPermissions,
    current: DeclaredWeights,
    owner = runFolder,
  ): Promise<{ opened: Opened; backend: Backend }> {
    const isEmbedded = current.contentHash !== null;
    if (isEmbedded) permissions.mayUseWeights?.(current.folder);
    const opened = open(settings, runFolder, permissions, current, owner);
    try {
      const backend = await ofRun(settings, runFolder, opened, isEmbedded);
      if (!isEmbedded) return { opened, backend };
      const view = await withWeights(backend, current);
      if (view.facts.fingerprint === current.contentHash) return { opened, backend: view };
      throw new ModelError(`${current.folder} holds other weights than when version ${current.label} was declared`, {
        reason: 'model-changed',
        fix: 'Put the old ones back, or declare another version in a folder of its own.',
      });
    } catch (error) {
      // Weights can be mended, or replaced by later ones: a rollout does not fail of them.
      if (!isEmbedded || !(error instanceof ModelError) || error.retryable) throw error;
      const { message, reason, fix } = error;
      throw new ModelError(message, { reason, retryable: true, cause: error.cause, ...(fix ? { fix } : {}) });
    }
  }

  /** Pairs of a run and a backend that were found to be of one model. */
  const matched = new WeakMap<Backend, Set<string>>();

  /** A run goes on with the model that it was made with, also in another worker on another day. */
  async function ofRun(
    settings: RolloutSettings,
    runFolder: string,
    opened: Opened,
    changed = false,
  ): Promise<Backend> {
    const backend = await opened.made;
    const runs = matched.get(backend) ?? new Set();
    matched.set(backend, runs);
    const { identity } = backend.facts;
    if (!identity || runs.has(runFolder)) return backend;
    const run = basename(runFolder);
    const record = (await openFileStore(dirname(runFolder), run).getRun())?.record;
    const then = record?.model;
    if (then) {
      const before = { who: `the start of run "${run}"`, identity: then };
      // New weights are a declared change; who has them is compared all the same.
      const now = { who: settings.model, identity: changed ? { ...identity, weights: null } : identity };
      const differs = differingTraits(before, now) ?? differingCanaries(before, now);
      if (differs !== null) {
        // The next call opens a new backend.
        backends.forget(opened);
        await backend.close();
        throw new ModelError(`${settings.model} is not the model that run "${run}" was made with: ${differs}`, {
          reason: 'other-model',
          fix: 'Start the original model there and retry the failed rollouts, or start another run.',
        });
      }
    }
    if (record) runs.add(runFolder);
    return backend;
  }

  async function report(): Promise<void> {
    const runs = [...asking];
    asking.clear();
    for (const [folder, used] of runs) {
      // A refused run leaves no folder.
      if (!(await factsOf(join(folder, RUN_FILE)).catch(() => undefined))) continue;
      const loaded = (await Promise.allSettled(used)).flatMap((b) => (b.status === 'fulfilled' ? [b.value] : []));
      const servers = loaded.flatMap((backend) => backend.serverStatus?.() ?? []);
      if (servers.length === 0) continue;
      // Informational: if the folder cannot be written, the next record reports it.
      await writeFleetReport(folder, `${hostname()}-${process.pid}`, { at: Date.now(), servers }).catch(() => {});
    }
  }

  /** Servers answer an evaluation with the weights that they have. `own`: those with which an embedded model does. */
  async function weightsOf(runFolder: string, evaluated: Evaluated | undefined) {
    if (!evaluated) return { current: await ledgerOf(runFolder).current() };
    const { entries, current } = await ledgerOf(evaluated.folder).read();
    if (!current || current.contentHash === null) return { current };
    return { current, own: entries.find(({ label }) => label === evaluated.label) ?? null };
  }

  return {
    async get(settings, runFolder, permissions = {}) {
      const use = ({ made }: Opened) => {
        const used = asking.get(runFolder) ?? new Set();
        asking.set(runFolder, used.add(made));
      };
      const evaluated = await evaluatedIn(runFolder);
      const owner = evaluated?.folder;
      const { current, own = current } = await weightsOf(runFolder, evaluated);
      if (!current || !own) {
        const opened = open(settings, runFolder, permissions, null, owner);
        use(opened);
        return ofRun(settings, runFolder, opened);
      }
      const { opened, backend } = await inForce(settings, runFolder, permissions, own, owner).catch(
        (error: unknown) => {
          // A trainer removes old weights: the newest ones answer then, and their version is in the record.
          if (own === current || existsSync(own.folder)) throw error;
          return inForce(settings, runFolder, permissions, current, owner);
        },
      );
      use(opened);
      return backend;
    },
    async prove(settings, runFolder, weights, permissions = {}) {
      permissions.mayUseWeights?.(weights.folder);
      const current = await ledgerOf(runFolder).current();
      const first = await open(settings, runFolder, permissions, current).made;
      return (await withWeights(first, weights)).facts.fingerprint;
    },
    async close() {
      clearInterval(timer);
      await report();
      await backends.close();
    },
  };
}
