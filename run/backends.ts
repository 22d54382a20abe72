// The backends of one worker: each model is loaded once, at first use, and again if loading failed. Writes the status
// of their servers into the folders of the runs that use them.

import { existsSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { ModelError } from '../domain/errors.ts';
import { differingCanaries, differingTraits } from '../domain/model-identity.ts';
import type { RolloutSettings } from '../domain/settings.ts';
import type { Backend } from '../inference/backend.ts';
import { createBackend } from '../inference/index.ts';
import { openFileStore } from '../storage/files.ts';
import { writeFleetReport } from '../storage/fleet-status.ts';
import { RUN_FILE } from '../storage/record/layout.ts';

export interface Backends {
  /** `mayLoad`: throws if a server names a tokenizer that must not be loaded. */
  get(settings: RolloutSettings, runFolder: string, mayLoad?: (folderOrHubId: string) => void): Promise<Backend>;
  close(): Promise<void>;
}

const REPORT_EVERY_MS = 5000;

export function openBackends(log: (line: string) => void): Backends {
  const backends = new Map<string, Promise<Backend>>();
  /** Runs that used a backend since the last report. */
  const asking = new Map<string, Set<Promise<Backend>>>();
  const timer = setInterval(() => void report(), REPORT_EVERY_MS).unref();

  function open(
    settings: RolloutSettings,
    runFolder: string,
    mayLoad: (folderOrHubId: string) => void,
  ): Promise<Backend> {
    const { model, tokenizer, apiKeyEnv, requestTimeoutSeconds } = settings;
    const { fleetPolicy, maxInFlightPerServer, serverLimits, serverWeights } = settings;
    const limited = maxInFlightPerServer !== null || Object.keys(serverLimits).length > 0;
    const options = {
      tokenizer,
      apiKeyEnv,
      requestTimeoutSeconds,
      fleetPolicy,
      maxInFlightPerServer,
      serverLimits,
      serverWeights,
      // Limits count over all workers of a run, which share its folder.
      leaseFolder: limited ? join(runFolder, '.fleet') : null,
    };
    const key = JSON.stringify([model, options]);
    const known = backends.get(key);
    if (known) return known;
    const made = createBackend(model, { ...options, log, mayLoad });
    backends.set(key, made);
    made.catch(() => backends.delete(key));
    return made;
  }

  /** For each backend, the runs whose recorded model it matches. */
  const matched = new WeakMap<Backend, Set<string>>();

  /** A run continues only with the model that it was made with, also in another worker on another day. */
  async function ofRun(settings: RolloutSettings, runFolder: string, made: Promise<Backend>): Promise<Backend> {
    const backend = await made;
    const runs = matched.get(backend) ?? new Set();
    matched.set(backend, runs);
    const { identity } = backend.facts;
    if (!identity || runs.has(runFolder)) return backend;
    const run = basename(runFolder);
    const record = (await openFileStore(dirname(runFolder), run).getRun())?.record;
    const then = record?.model;
    if (then) {
      const before = { who: `the start of run "${run}"`, identity: then };
      const now = { who: settings.model, identity };
      const differs = differingTraits(before, now) ?? differingCanaries(before, now);
      if (differs !== null) {
        // The next call opens a new backend.
        for (const [key, known] of backends) if (known === made) backends.delete(key);
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
      if (!existsSync(join(folder, RUN_FILE))) continue;
      const loaded = (await Promise.allSettled(used)).flatMap((b) => (b.status === 'fulfilled' ? [b.value] : []));
      const servers = loaded.flatMap((backend) => backend.serverStatus?.() ?? []);
      if (servers.length === 0) continue;
      // Informational: if the folder cannot be written, the next record reports it.
      await writeFleetReport(folder, `${hostname()}-${process.pid}`, { at: Date.now(), servers }).catch(() => {});
    }
  }

  return {
    get(settings, runFolder, mayLoad = () => undefined) {
      const made = open(settings, runFolder, mayLoad);
      const backend = ofRun(settings, runFolder, made);
      const used = asking.get(runFolder) ?? new Set();
      asking.set(runFolder, used.add(made));
      return backend;
    },
    async close() {
      clearInterval(timer);
      await report();
      await Promise.allSettled([...backends.values()].map(async (b) => (await b).close()));
    },
  };
}
