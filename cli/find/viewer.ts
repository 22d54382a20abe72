// The parts of the viewer that come from outside of it: the page that the build made, a run's tokenizer, the history in
// Temporal's UI.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { explain } from '../../domain/errors/errors.ts';
import { type RolloutId, rolloutWorkflowId } from '../../domain/names/ids.ts';
import { loadTokenizer } from '../../inference/tokenizer/tokenizer.ts';
import { packageRoot } from '../../local/machine/package-root.ts';
import { serviceStatus } from '../../local/service/service.ts';
import { clusterConfig, namesCluster } from '../../client/temporal/cluster-settings.ts';
import {
  type ApiParts,
  type Bundle,
  createApi,
  type OpenRun,
  openRuns,
  type TokenDecoder,
} from '../../viewer/index.ts';
import { unusable } from '../command.ts';
import type { Io } from '../io.ts';
import { clusterUi, workflowUrl } from '../../local/service/link.ts';
import type { RunPlace } from '../../run/place.ts';
import { tokenizerFolderOf } from '../../library/run-tokenizer.ts';

/** The page as the build made it. */
export function bundle(): Bundle {
  const file = (name: string) => readFileSync(join(packageRoot(), 'dist', 'viewer', 'page', name), 'utf8');
  try {
    return { script: file('page.js'), style: file('page.css') };
  } catch (cause) {
    throw unusable('The viewer’s page is not built.', '`npm run build` makes it.', 'bad-value', cause);
  }
}

/** The runs of a folder, and the answers to what the pages ask of them. */
export function openPages(io: Io, out: string, more: Pick<ApiParts, 'historyOf' | 'costOf'> = {}) {
  const runs = openRuns(out);
  return { runs, api: createApi({ runs, decoderOf: (open) => decoderOf(open, io.cwd), now: io.now, ...more }) };
}

/** The pages show runs of one folder. */
export function mustBeTogether([first, ...others]: readonly RunPlace[]): void {
  const other = others.find(({ out }) => out !== first?.out);
  if (!first || !other) return;
  throw unusable(
    `The runs are in different folders: ${first.out} and ${other.out}.`,
    'Put them into one folder of runs.',
  );
}

/** The run's own tokenizer, if its files are on this machine. */
async function decoderOf({ record }: OpenRun, cwd: string): Promise<TokenDecoder | string> {
  const found = await tokenizerFolderOf(record.settings, cwd);
  if ('why' in found) return found.why;
  try {
    return await loadTokenizer(found.folder);
  } catch (error) {
    return explain(error);
  }
}

/** The page of the local service or of the cluster's UI; asked for at each page, because it comes and goes. */
export function historyOf(env: Io['env'], id: RolloutId): string | null {
  const { namespace = 'default', connectionOptions } = namesCluster() ? clusterConfig() : {};
  const { up, state } = serviceStatus(env);
  const local = up ? (state?.uiAddress ?? null) : null;
  const ui = namesCluster() ? clusterUi(env, connectionOptions?.address) : local;
  return workflowUrl({ ui, session: { namespace } }, rolloutWorkflowId(id));
}
