// The backends of one worker, by the runs that ask for them. A run whose weights were changed opens with the weights in force,
// and follows them from turn to turn. An evaluation shares the backend of its training run; an embedded model answers it with
// the evaluated version throughout. The status of servers is reported into the runs' folders.

import { existsSync } from 'node:fs';
import { ModelError } from '../../domain/errors/errors.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { differingCanaries, differingTraits } from '../../domain/weights/model-identity.ts';
import type { DeclaredWeights } from '../../domain/weights/weights.ts';
import type { Backend, EmbeddedWeights } from '../../inference/backend.ts';
import { openFileStore } from '../../records/file-store.ts';
import { basename, dirname } from '../../records/place.ts';
import { evaluatedIn } from '../evaluations.ts';
import { openFleetReports } from './fleet-reports.ts';
import { type BackendWish, openSharedBackends, type SharedBackend, type SharedBackends } from './shared-backends.ts';
import { openWeightsInForce } from './weights-in-force.ts';

export type Backends = ReturnType<typeof openBackends>;

export interface BackendPermissions {
  /** Throws where a server names a tokenizer that is not to be loaded. */
  readonly mayLoad?: (folderOrHubId: string) => void;
  /** Throws where a folder of new weights is not to be loaded. */
  readonly mayUseWeights?: (folder: string) => void;
}

const REPORT_EVERY_MS = 5000;

/** `onLate`: a server of the run came back without the weights in force. */
export function openBackends(
  log: (line: string) => void,
  onLate: (runFolder: string, current: DeclaredWeights) => void = () => undefined,
) {
  const inForce = openWeightsInForce(log, onLate);
  const backends = openSharedBackends(log, inForce.lateServers);
  const reports = openFleetReports();
  const timer = setInterval(
    () => void reports.write().then(() => inForce.keepOnly(backends.runs())),
    REPORT_EVERY_MS,
  ).unref();

  return {
    async get(settings: RolloutSettings, runFolder: string, permissions: BackendPermissions = {}): Promise<Backend> {
      const evaluated = await evaluatedIn(runFolder);
      const owner = evaluated?.folder ?? runFolder;
      let { current, own } = await inForce.of(runFolder, evaluated);
      const wish = { settings, runFolder, owner, mayLoad: permissions.mayLoad };
      if (!current || !own) {
        const shared = backends.open({ ...wish, weights: null });
        reports.note(runFolder, shared.made);
        const backend = await backendOfRun(backends, shared, wish);
        // An adapter may have come into force while servers were met, and they say no label of it.
        ({ current, own } = await inForce.of(runFolder, evaluated));
        if (!current || !own?.adapter) return backend;
      }
      const [newest, wanted] = [current, own];
      const opened = await openWithWeights(backends, wish, wanted, permissions).catch((error: unknown) => {
        // A trainer removes old weights: the newest ones answer then, and their version is in the record.
        if (wanted === newest || existsSync(wanted.folder)) throw error;
        return openWithWeights(backends, wish, newest, permissions);
      });
      reports.note(runFolder, opened.shared.made);
      return opened.backend;
    },
    /** Loads weights of an embedded model and returns their SHA-256, or throws what is wrong with them. */
    async prove(settings: RolloutSettings, runFolder: string, weights: EmbeddedWeights, may: BackendPermissions = {}) {
      const { mayLoad, mayUseWeights } = may;
      mayUseWeights?.(weights.folder);
      const current = await inForce.ledgerOf(runFolder).current();
      const first = await backends.open({ settings, runFolder, owner: runFolder, mayLoad, weights: current }).made;
      return (await viewWithWeights(first, weights)).facts.fingerprint;
    },
    async close() {
      clearInterval(timer);
      await reports.write();
      await backends.close();
    },
  };
}

type Wish = Omit<BackendWish, 'weights'>;

/** The run's backend with these weights, which are in force. */
async function openWithWeights(
  backends: SharedBackends,
  wish: Wish,
  weights: DeclaredWeights,
  { mayUseWeights }: BackendPermissions,
): Promise<{ readonly shared: SharedBackend; readonly backend: Backend }> {
  const isEmbedded = weights.contentHash !== null;
  if (isEmbedded) mayUseWeights?.(weights.folder);
  const shared = backends.open({ ...wish, weights });
  try {
    const backend = await backendOfRun(backends, shared, wish, isEmbedded);
    if (!isEmbedded) return { shared, backend };
    const view = await viewWithWeights(backend, weights);
    if (view.facts.fingerprint === weights.contentHash) return { shared, backend: view };
    throw new ModelError(`${weights.folder} holds other weights than when version ${weights.label} was declared`, {
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

/** The backend, if its model is that of the run; else it is closed, and the next call opens a new one. */
async function backendOfRun(
  backends: SharedBackends,
  shared: SharedBackend,
  { settings: { model }, runFolder }: Wish,
  isChanged = false,
): Promise<Backend> {
  const backend = await shared.made;
  const differs = await differsFromRun(backend, model, runFolder, isChanged);
  if (differs === null) return backend;
  backends.forget(shared);
  await backend.close();
  throw new ModelError(`${model} is not the model that run "${basename(runFolder)}" was made with: ${differs}`, {
    reason: 'other-model',
    fix: 'Start the original model there and retry the failed rollouts, or start another run.',
  });
}

/** Runs, by backend, that were found to be of its model. */
const matchedRuns = new WeakMap<Backend, Set<string>>();

/** The difference, or null. `isChanged`: new weights were declared; all else is compared all the same. */
async function differsFromRun(
  backend: Backend,
  model: string,
  runFolder: string,
  isChanged: boolean,
): Promise<string | null> {
  const runs = matchedRuns.get(backend) ?? new Set();
  matchedRuns.set(backend, runs);
  const { identity } = backend.facts;
  if (!identity || runs.has(runFolder)) return null;
  const run = basename(runFolder);
  const record = (await openFileStore(dirname(runFolder), run).get('run'))?.record;
  if (record?.model) {
    const before = { who: `the start of run "${run}"`, identity: record.model };
    const now = { who: model, identity: isChanged ? { ...identity, weights: null } : identity };
    const differs = differingTraits(before, now) ?? differingCanaries(before, now);
    if (differs !== null) return differs;
  }
  if (record) runs.add(runFolder);
  return null;
}

const VIEWS_KEPT = 8;
/** Views by backend and weights. */
const viewsOf = new WeakMap<Backend, Map<string, Promise<Backend>>>();

/** An embedded model with other weights: loaded once for each backend, and again if loading failed. */
function viewWithWeights(backend: Backend, weights: EmbeddedWeights): Promise<Backend> {
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
