// Finds a run by its folder, or else through the server: it may have been started elsewhere, or its folder removed.

import { isServerFailure } from '../../client/temporal/connection.ts';
import { describeWorkflow } from '../../client/temporal/runs.ts';
import { resolvePlace } from '../../records/place.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName } from '../../domain/run/ids.ts';
import type { Io } from '../io.ts';
import { openLinkIfUp } from './link.ts';
import { findRun, placeOf, type RunPlace } from './place.ts';

export async function locateRun(io: Io, named: string, out: string): Promise<RunPlace> {
  try {
    return await findRun(io, named, out);
  } catch (error) {
    if (!(error instanceof UsageError) || error.reason !== 'no-such-run' || !isRunName(named)) throw error;
    return (await onServer(io, named, out)) ?? fail(error);
  }
}

async function onServer(io: Io, run: string, out: string): Promise<RunPlace | undefined> {
  const link = await openLinkIfUp(io);
  if (!link) return undefined;
  try {
    const facts = await describeWorkflow(link.session, run, 1);
    return facts.state === 'running' ? placeOf(facts.out ?? resolvePlace(io.cwd, out), run) : undefined;
  } catch (error) {
    if (!isServerFailure(error)) throw error;
    return undefined;
  } finally {
    await link.close();
  }
}

function fail(error: unknown): never {
  throw error;
}
