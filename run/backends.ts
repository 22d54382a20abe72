// The backends of one worker, by the runs that ask for them. A run whose weights were changed opens with the weights in force,
// and follows them from turn to turn. An evaluation shares the backend of its training run; an embedded model answers it with
// the evaluated version throughout. The status of servers is reported into the runs' folders.

import { existsSync } from 'node:fs';
import { ModelError } from '../domain/errors/errors.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import type { DeclaredWeights } from '../domain/weights/weights.ts';
import type { Backend, EmbeddedWeights } from '../inference/backend.ts';
import { basename } from '../records/place.ts';
import { differsFromRun } from './compare-model.ts';
import { evaluatedIn } from './evaluations.ts';
import { openFleetReports } from './fleet-reports.ts';
import { type BackendWish, openSharedBackends, type SharedBackend, type SharedBackends } from './shared-backends.ts';
import { openWeightsInForce } from './weights-in-force.ts';
import { viewWithWeights } from './weights-view.ts';

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

const REPORT_EVERY_MS = 5000;

/** `onLate`: a server of the run came back without the weights in force. */
export function openBackends(
  log: (line: string) => void,
  onLate: (runFolder: string, current: DeclaredWeights) => void = () => undefined,
): Backends {
  const inForce = openWeightsInForce(log, onLate);
  const backends = openSharedBackends(log, inForce.lateServers);
  const reports = openFleetReports();
  const timer = setInterval(
    () => void reports.write().then(() => inForce.keepOnly(backends.runs())),
    REPORT_EVERY_MS,
  ).unref();

  return {
    async get(settings, runFolder, permissions = {}) {
      const evaluated = await evaluatedIn(runFolder);
      const owner = evaluated?.folder ?? runFolder;
      const { current, own } = await inForce.of(runFolder, evaluated);
      const wish = { settings, runFolder, owner, mayLoad: permissions.mayLoad };
      if (!current || !own) {
        const shared = backends.open({ ...wish, weights: null });
        reports.note(runFolder, shared.made);
        return backendOfRun(backends, shared, wish);
      }
      const opened = await openWithWeights(backends, wish, own, permissions).catch((error: unknown) => {
        // A trainer removes old weights: the newest ones answer then, and their version is in the record.
        if (own === current || existsSync(own.folder)) throw error;
        return openWithWeights(backends, wish, current, permissions);
      });
      reports.note(runFolder, opened.shared.made);
      return opened.backend;
    },
    async prove(settings, runFolder, weights, { mayLoad, mayUseWeights } = {}) {
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
