// The rollout of a run that was played with tools, for trajectories made of it: test/fixtures/run-tools.json.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Trajectory } from '../../../domain/rollout/trajectory.ts';
import { openFileStore } from '../../../records/file-store.ts';
import { readTrajectory } from '../../../records/reading/trajectories.ts';
import { unpack } from '../../support/packed-run.ts';

export async function playedCalls(): Promise<Trajectory> {
  const out = mkdtempSync(join(tmpdir(), 'everturn-played-'));
  try {
    unpack('run-tools.json', join(out, 'tools'));
    const id = { run: 'tools', query: 'calls', sample: 0, attempt: 1 };
    return (await readTrajectory(openFileStore(out, 'tools'), id))!;
  } finally {
    rmSync(out, { recursive: true });
  }
}
