// New weights for servers as the workflow gives them, without Temporal: the same saga, its steps as plain calls that are
// tried once.

import { explain, ModelError } from '../../domain/errors/errors.ts';
import type { ServerUpdate, WeightServer } from '../../domain/weights/weights.ts';
import { type SagaSteps, type StepResult, updateServers } from '../../domain/weights/weights-saga.ts';
import { weightServer, weightServers } from '../../inference/weights/index.ts';

export interface Update {
  readonly from: string;
  readonly version: string;
}

export async function updateModel(model: string, update: Update): Promise<ServerUpdate[]> {
  const opened = weightServers(model)!.map((url) => weightServer(model, url, null));
  try {
    return await updateControls(new Map(opened.map((controls) => [controls.url, controls])), update);
  } finally {
    await Promise.all(opened.map((controls) => controls.close()));
  }
}

export function updateControls(
  servers: ReadonlyMap<string, WeightServer>,
  { from, version }: Update,
  {
    stopped = () => false,
    onServer = () => undefined,
  }: { stopped?: () => boolean; onServer?: (done: ServerUpdate) => void } = {},
): Promise<ServerUpdate[]> {
  const step = async <T extends object>(
    url: string,
    work: (server: WeightServer) => Promise<T>,
    isPause = false,
  ): Promise<StepResult<T>> => {
    const server = servers.get(url)!;
    let touched = false;
    const pause = () => {
      touched = true;
      return server.pause();
    };
    try {
      return { ok: true as const, ...(await work({ ...server, pause })) };
    } catch (error) {
      if (!(error instanceof ModelError)) throw error;
      const { reason } = error;
      const [gone, unchanged] = [
        reason === 'server-unreachable',
        (!touched && isPause) || server.keptItsWeights(error),
      ];
      return { ok: false as const, reason, error: explain(error), gone, unchanged };
    }
  };
  const steps: SagaSteps = {
    pause: (url) =>
      step(
        url,
        async (server) => {
          const before = await server.version();
          if (before !== version) await server.pause();
          return { before };
        },
        true,
      ),
    load: (url) =>
      step(url, async (server) => {
        await server.load(from, version);
        const now = await server.version();
        if (now === version) return { now };
        throw new ModelError(`It says ${now}`, { reason: 'version-not-taken' });
      }),
    resume: (url, label) =>
      step(url, async (server) => {
        if (label !== null) await server.name(label);
        await server.resume();
        return { now: await server.version() };
      }),
  };
  return updateServers([...servers.keys()], steps, {
    label: version,
    stopped,
    now: () => Math.round(performance.now()),
    onStep: () => undefined,
    onServer: async (done) => onServer(done),
  });
}
