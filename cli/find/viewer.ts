// The parts of the viewer that come from outside of it: the page that the build made, a run's tokenizer, the proof of a
// run, the sample that a trainer reads, the history in Temporal's UI.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain } from '../../domain/errors/errors.ts';
import { type RolloutId, rolloutWorkflowId } from '../../domain/run/ids.ts';
import { exporterNamed, PROVED, sequencesFor } from '../../formats/exports/index.ts';
import { loadTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { everturnVersion, packageRoot } from '../../local/machine/package-root.ts';
import { serviceStatus } from '../../local/service/service-control.ts';
import { checkRun } from '../../records/check/check.ts';
import { openReading } from '../../records/export/policies.ts';
import type { OnBreach } from '../../records/store.ts';
import { readTrajectory } from '../../records/reading/trajectories.ts';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { createTools } from '../../environments/tools/index.ts';
import type { Bundle } from '../../viewer/assets.ts';
import type { OpenRun } from '../../viewer/runs.ts';
import type { TokenDecoder } from '../../viewer/token-text.ts';
import type { RowPlace } from '../../viewer/model/messages.ts';
import { unusable } from '../command.ts';
import type { Io } from '../io.ts';
import { workflowUrl } from './link.ts';
import { countsText } from '../view/summary.ts';
import { tokenizerFolderOf, tokenizerOf } from './tokenizer.ts';

/** The page as the build made it. */
export function bundle(): Bundle {
  const file = (name: string) => readFileSync(join(packageRoot(), 'dist', 'viewer', 'page', name), 'utf8');
  try {
    return { script: file('page.js'), style: file('page.css') };
  } catch (cause) {
    throw unusable('The viewer’s page is not built.', '`npm run build` makes it.', 'bad-value', cause);
  }
}

/** The run's own tokenizer, if its files are on this machine. */
export async function decoderOf({ record }: OpenRun, cwd: string): Promise<TokenDecoder | string> {
  const found = await tokenizerFolderOf(record.settings, cwd);
  if ('why' in found) return found.why;
  try {
    return await loadTokenizer(found.folder);
  } catch (error) {
    return explain(error);
  }
}

/** The proof of `everturn check`, from the folder alone. */
export async function prove({ store }: OpenRun, io: Io, onBreach: OnBreach): Promise<string> {
  const { tokenizer, hashes } = await tokenizerOf(store, io.cwd);
  const facts = { tokenizer, hashes, everturn: everturnVersion(), calls: createTools({}) };
  const summary = await checkRun(store, onBreach, facts);
  const open = (await store.getResult())?.record === undefined ? ' The run is open: it is of the records so far.' : '';
  return `${countsText(summary)}${summary.breaches === 0 ? ': all is right' : ''}.${open}`;
}

/** The lines of `everturn export` of one rollout, in its default format. */
export async function sampleOf({ run, store, record }: OpenRun, place: RowPlace): Promise<string> {
  const sequences = sequencesFor(record);
  const exporter = exporterNamed(PROVED[0]!, sequences === 'query' ? 'rollout' : sequences);
  const recorded = await readTrajectory(store, { run, ...place });
  const read = recorded && (await openReading(store, { undecided: 'drop' })).of(recorded);
  const fix = '`everturn export --help` names what else can be exported.';
  const none = (why: string) => unusable(`This rollout is in no export: ${why}.`, fix, 'not-allowed');
  if (read === undefined) throw none('it has no record');
  if (typeof read === 'string') throw none(read);
  if (read.trajectory.turns.some((turn) => turn.record.trainable === false))
    throw none('the server gave text and no token ids');
  return exporter.lines(read.trajectory).join('');
}

/** Of the local service, or of the UI that EVERTURN_UI names beside a cluster. Asked for at each page: it comes and goes. */
export function historyOf(env: Io['env'], id: RolloutId): string | null {
  const named = env['EVERTURN_UI'] ?? '';
  const { up, state } = serviceStatus(env);
  const cluster = namesCluster();
  const local = up ? (state?.uiAddress ?? null) : null;
  const ui = cluster ? (/^https?:\/\//.test(named) ? named.replace(/\/$/, '') : null) : local;
  const namespace = (cluster ? env['TEMPORAL_NAMESPACE'] : undefined) ?? 'default';
  return workflowUrl({ ui, session: { namespace } }, rolloutWorkflowId(id));
}
