// The weights of a run, for `status`: the version in force, and what became of the latest update, server by server.

import { oneLine } from '../../domain/text/foreign-text.ts';
import type { DeclaredWeights, WeightsProgress } from '../../domain/weights/weights.ts';
import { openWeightsLedger } from '../../records/weights.ts';
import type { Paint } from './paint.ts';

export interface WeightsStatus {
  /** The version that every server must have to be used; null while no update has been loaded. */
  readonly current: Pick<DeclaredWeights, 'version' | 'label' | 'folder'> | null;
  /** The latest update, which may be the same. */
  readonly latest: Pick<DeclaredWeights, 'version' | 'label' | 'folder' | 'rewind' | 'workflowId' | 'declaredAt'> &
    Pick<WeightsProgress, 'state' | 'servers'>;
}

export async function weightsStatus(runFolder: string): Promise<WeightsStatus | null> {
  const ledger = openWeightsLedger(runFolder);
  const { entries, current } = await ledger.read();
  const latest = entries.at(-1);
  if (!latest) return null;
  const progress = await ledger.progress(latest.number);
  const { version, label, folder, rewind, workflowId, declaredAt } = latest;
  return {
    current: current && { version: current.version, label: current.label, folder: current.folder },
    latest: {
      ...{ version, label, folder, rewind, workflowId, declaredAt },
      state: progress?.state ?? 'running',
      servers: progress?.servers ?? [],
    },
  };
}

export function weightsLines(weights: WeightsStatus | null, paint: Paint): string[] {
  if (weights === null) return [];
  const { current, latest } = weights;
  const have = latest.servers.filter(({ state }) => state === 'updated' || state === 'already').length;
  const said = latest.servers.length > 0 ? `: ${have} of ${latest.servers.length} servers have it` : '';
  const lacking = latest.servers.filter(({ state }) => state !== 'updated' && state !== 'already');
  const force = current
    ? `version ${oneLine(current.label)} from ${oneLine(current.folder)}`
    : 'those the model was started with';
  const isLatest = current?.label === latest.label;
  return [
    `${paint('dim', 'Weights')}    ${force}${isLatest ? `${said}${latest.state === 'running' ? ' so far' : ''}` : ''}`,
    ...(isLatest ? [] : [paint('yellow', `           version ${oneLine(latest.label)} (${latest.state})${said}`)]),
    ...lacking.map(({ url, state, error }) =>
      paint('yellow', `           ${oneLine(`${url} ${state}${error === null ? '' : `: ${error}`}`)}`),
    ),
  ];
}
