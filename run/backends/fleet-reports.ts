// Reports of the servers that a worker's runs use, written from time to time into the runs' folders.

import { hostname } from 'node:os';
import type { Backend } from '../../inference/backend.ts';
import { RUN_FILE } from '../../records/format/layout.ts';
import { join } from '../../records/place.ts';
import { writeFleetReport } from '../../records/run/fleet-status.ts';
import { factsOf } from '../../records/places/files.ts';

export function openFleetReports() {
  const backendsByRun = new Map<string, Set<Promise<Backend>>>();
  return {
    /** A run uses this backend. */
    note(runFolder: string, backend: Promise<Backend>): void {
      const backends = backendsByRun.get(runFolder) ?? new Set();
      backendsByRun.set(runFolder, backends.add(backend));
    },
    /** Writes what was noted since the last report. */
    async write(): Promise<void> {
      const runs = [...backendsByRun];
      backendsByRun.clear();
      for (const [folder, used] of runs) {
        // A refused run leaves no folder.
        if (!(await factsOf(join(folder, RUN_FILE)).catch(() => undefined))) continue;
        const loaded = (await Promise.allSettled(used)).flatMap((b) => (b.status === 'fulfilled' ? [b.value] : []));
        const servers = loaded.flatMap((backend) => backend.serverStatus?.() ?? []);
        if (servers.length === 0) continue;
        // Informational: if the folder cannot be written, the next record reports it.
        await writeFleetReport(folder, `${hostname()}-${process.pid}`, { at: Date.now(), servers }).catch(() => {});
      }
    },
  };
}
