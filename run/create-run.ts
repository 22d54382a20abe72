// Makes a run out of a data set and settings: queries.jsonl and run.json in its folder. Idempotent;
// the same name with other settings or other data is refused.
//
// A new run reads its data set three times: `surveyDataset` derives its name, `examineDataset` reads the solutions
// (seconds for a large file, and skipped for an existing run), `createRun` writes the queries. A file that changes
// between the last two is refused. queries.jsonl is then read back: another process may have written it first.

import { rmdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { environmentTitle, type EnvironmentRecord, environmentIdentity } from '../domain/rollout/environment.ts';
import { UsageError } from '../domain/errors/errors.ts';
import { derivedRunName } from '../domain/run/run-name.ts';
import type { FoundLogprobs } from '../domain/rollout/logprob-meaning.ts';
import type { ModelIdentity } from '../domain/weights/model-identity.ts';
import type { RolloutSettings } from '../domain/rollout/settings.ts';
import { toolIdentity, type ToolSettings, toolTitle } from '../domain/tools/tool.ts';
import { allQueries, hashQueries } from '../records/run/queries.ts';
import { type RunParts, type Origin, type RunRecord, RUN_PARTS, runParts } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { everturnVersion } from '../local/machine/package-root.ts';
import { acceptedQueries, type DatasetSurvey } from './survey.ts';

/** A name derived from data and settings: the same command finds the same run again. */
export function nameOfRun(
  survey: DatasetSurvey,
  settings: Partial<RolloutSettings>,
  samples: number,
  parts: RunParts = {},
): string {
  return derivedRunName(survey.selection.dataset, survey.offered, settings, samples, parts);
}

export interface NewRunInput extends RunParts {
  readonly run: string;
  readonly survey: DatasetSurvey;
  readonly settings: RolloutSettings;
  readonly samples: number;
  readonly origins: Readonly<Record<string, Origin>>;
  /** The model's probe results; null without a probe. */
  readonly logprobs?: FoundLogprobs | null;
  readonly model?: ModelIdentity | null;
  readonly evaluates?: RunRecord['evaluates'];
}

export async function createRun(store: Store, input: NewRunInput): Promise<{ created: boolean; record: RunRecord }> {
  const { run, survey, settings, samples, origins, logprobs = null, model = null, evaluates } = input;
  const parts = runParts(input);
  const wanted = { settings, samples, parts, offered: survey.offered };
  const known = await store.getRun();
  if (known) return { created: false, record: mustBeSameRun(run, known.record, wanted, store.folder) };

  await withoutTrace(store, () => store.putQueries(acceptedQueries(survey)));
  const stored = await hashQueries(allQueries(store));
  if (stored.sha256 !== survey.sha256) throw differs(run, store.folder, ['data set']);
  const { record, created } = await store.putRun({
    format: 'everturn-run/1',
    run,
    settings,
    origins,
    samples,
    ...parts,
    dataset: {
      path: survey.selection.dataset,
      sha256: stored.sha256,
      accepted: stored.accepted,
      refused: survey.refused,
      ...(survey.offered === stored.sha256 ? {} : { offered: survey.offered }),
    },
    logprobs,
    model,
    ...(evaluates && { evaluates }),
    versions: { everturn: everturnVersion(), node: process.version },
    createdAt: Date.now(),
  });
  return { created, record: mustBeSameRun(run, record, wanted, store.folder) };
}

function mustBeSameRun(
  run: string,
  record: RunRecord,
  wanted: { settings: RolloutSettings; samples: number; parts: RunParts; offered: string },
  folder: string,
): RunRecord {
  const { environments: own, tools, ...rest } = wanted.settings;
  const there = new Map<string, unknown>(Object.entries(record.settings));
  const differing = Object.entries(rest)
    .filter(([key, value]) => !isDeepStrictEqual(there.get(key), value))
    .map(([key, value]) => `${key} (${JSON.stringify(there.get(key))} there, ${JSON.stringify(value)} here)`);
  const [theirs, ours] = [record.settings.environments, own].map((all) => (all ?? []).map(environmentIdentity));
  if (!isDeepStrictEqual(theirs, ours))
    differing.push(`environment (${titles(record.settings.environments)} there, ${titles(own)} here)`);
  const [known, asked] = [record.settings.tools, tools].map((one) => one && toolsIdentity(one));
  if (!isDeepStrictEqual(known, asked))
    differing.push(`tools (${toolTitles(record.settings.tools)} there, ${toolTitles(tools)} here)`);
  if (record.samples !== wanted.samples) differing.push(`samples (${record.samples} there, ${wanted.samples} here)`);
  for (const key of RUN_PARTS) {
    if (isDeepStrictEqual(record[key], wanted.parts[key])) continue;
    const [there, here] = [record[key], wanted.parts[key]].map((value) => JSON.stringify(value) ?? 'none');
    differing.push(`${key} (${there} there, ${here} here)`);
  }
  if ((record.dataset?.offered ?? record.dataset?.sha256) !== wanted.offered) differing.push('the data set');
  if (differing.length > 0) throw differs(run, folder, differing);
  return record;
}

const titles = (environments: readonly EnvironmentRecord[] = []): string =>
  environments.map(environmentTitle).join(', ') || 'none';

/** The tokens that open a call follow from the tokenizer: they are left out. */
const toolsIdentity = ({ format, stops, opensResults, list, maxCalls, outputBytes }: ToolSettings): object => ({
  ...{ format, stops, opensResults, maxCalls, outputBytes },
  list: list.map(toolIdentity),
});
const toolTitles = (tools: ToolSettings | undefined): string =>
  tools
    ? `${tools.list.map(toolTitle).join(', ')}, ${tools.format}, at most ${tools.maxCalls} calls of ${tools.outputBytes} bytes`
    : 'none';

function differs(run: string, folder: string, what: readonly string[]): UsageError {
  return new UsageError(`Run "${run}" exists in ${folder}, and differs: ${what.join(', ')}.`, {
    reason: 'run-differs',
    fix: 'Give this run another --name, or repeat the command that made the existing one.',
  });
}

/** A refused run leaves nothing: an empty folder is removed. */
async function withoutTrace<T>({ folder }: Store, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await rmdir(folder).catch(() => {});
    throw error;
  }
}
