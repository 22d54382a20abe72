// The parts with which a worker gives a run new weights: the run's ledger of versions, the controls of its servers, and the
// embedded model of this worker, which loads only what the worker's operator permits.

import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { weightServer, weightServers } from '../../inference/weights/index.ts';
import { openWeightsLedger } from '../../records/run/weights.ts';
import type { BackendPermissions, Backends } from './backends.ts';

export interface WeightsPermissions {
  mayUseModel(settings: RolloutSettings, runFolder: string): void;
  ofBackend(settings: RolloutSettings, runFolder: string): BackendPermissions;
}

export function weightsParts(backends: Backends, { mayUseModel, ofBackend }: WeightsPermissions) {
  return {
    ledger: openWeightsLedger,
    servers: weightServers,
    server: weightServer,
    prove(
      settings: RolloutSettings,
      runFolder: string,
      weights: { readonly folder: string; readonly version: number; readonly label: string },
    ): Promise<string | null> {
      mayUseModel(settings, runFolder);
      return backends.prove(settings, runFolder, weights, ofBackend(settings, runFolder));
    },
  };
}
