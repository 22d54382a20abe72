// Makes a run out of its record, its queries and its code. Idempotent: a run that is there stays as it is, and one with other
// settings or other rows under the same name is refused. A refused run leaves nothing.

import { rmdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { environmentIdentity, environmentTitle } from '../domain/rollout/environment.ts';
import { unusable } from '../domain/errors/unusable.ts';
import type { Query } from '../domain/query/query.ts';
import { parentOf } from '../domain/rollout/lineage.ts';
import { toolIdentity, type ToolSettings, toolTitle } from '../domain/tools/tool.ts';
import { putCode } from '../records/run/code.ts';
import { hashOfQueriesFile } from '../records/run/queries.ts';
import { type RunRecord, runParts } from '../records/format/run-record.ts';
import type { Store } from '../records/store.ts';
import { offeredOf } from './plan.ts';
import { withKnownFormat } from './tools.ts';

/** Returns the record of the run as it is there. `codes`: modules that the run brings. */
export async function createRun(
  store: Store,
  record: RunRecord,
  queries: AsyncIterable<Query> | Iterable<Query>,
  codes: readonly Parameters<typeof putCode>[1][] = [],
): Promise<RunRecord> {
  const known = (await store.get('run'))?.record;
  if (!known) await putQueries(store, record, queries);
  const made = known ?? (await store.put('run', null, record)).record;
  mustBeSameRun(store.folder, made, record);
  for (const code of codes) await putCode(store.folder, code);
  return made;
}

/** Another process may have written other queries first. */
async function putQueries(store: Store, record: RunRecord, queries: AsyncIterable<Query> | Iterable<Query>) {
  try {
    await store.putQueries(queries);
  } catch (error) {
    await rmdir(store.folder).catch(() => {});
    throw error;
  }
  if ((await hashOfQueriesFile(store.folder)) !== record.dataset?.sha256)
    throw differs(store.folder, record, [DATA_SET]);
}

const DATA_SET = 'the data set';

/** Throws a UsageError that names what differs. */
export function mustBeSameRun(folder: string, there: RunRecord, here: RunRecord): void {
  const wanted = withToolsOf(here, there);
  const [known, asked] = [identityOf(there), identityOf(wanted)];
  const differing = Object.keys({ ...asked, ...known }).filter((key) => !isDeepStrictEqual(known[key], asked[key]));
  const named = differing.map((key) =>
    key === DATA_SET
      ? datasetText(there, here)
      : `${key} (${shown(there, key, known[key])} there, ${shown(wanted, key, asked[key])} here)`,
  );
  if (named.length > 0) throw differs(folder, here, named);
}

function datasetText({ dataset: there }: RunRecord, { dataset: here }: RunRecord): string {
  const commits = [there?.hub?.commit, here?.hub?.commit];
  return commits.includes(undefined) ? DATA_SET : `${DATA_SET} (commit ${commits.join(' there, ')} here)`;
}

/** A run keeps the format of calls that was found when it was made, unless another one is given. */
function withToolsOf({ settings, ...record }: RunRecord, there: RunRecord): RunRecord {
  const { tools, ...rest } = settings;
  return { ...record, settings: { ...rest, ...(tools && withKnownFormat(tools, there.settings)) } };
}

/** The facts by which a run is known again. */
function identityOf(record: RunRecord): Readonly<Record<string, unknown>> {
  const { settings, samples, dataset, forkedFrom } = record;
  const { environments = [], tools, ...plain } = settings;
  return {
    ...{ ...plain, samples, ...runParts(record), ...(forkedFrom && { fork: originOf(forkedFrom) }) },
    environment: environments.map(environmentIdentity),
    tools: tools && toolsIdentity(tools),
    [DATA_SET]: dataset && offeredOf(dataset),
  };
}

/** A fact of a run, for messages. */
function shown({ settings: { environments = [], tools } }: RunRecord, key: string, value: unknown): string {
  if (key === 'environment') return environments.map(environmentTitle).join(', ') || 'none';
  if (key !== 'tools' || !tools) return JSON.stringify(value) ?? 'none';
  const { list, format, maxCalls, outputBytes } = tools;
  return `${list.map(toolTitle).join(', ')}, ${format}, at most ${maxCalls} calls of ${outputBytes} bytes`;
}

const originOf = ({ how, said, ...from }: NonNullable<RunRecord['forkedFrom']>) => ({ ...parentOf(from), how, said });

/** The tokens that open a call follow from the tokenizer: they are left out. */
const toolsIdentity = ({ format, stops, opensResults, list, maxCalls, outputBytes }: ToolSettings): object => ({
  ...{ format, stops, opensResults, maxCalls, outputBytes },
  list: list.map(toolIdentity),
});

function differs(folder: string, { run, forkedFrom }: RunRecord, what: readonly string[]): Error {
  const [how, one, other] = forkedFrom
    ? ['is not this fork', 'the fork', 'that run']
    : [`differs: ${what.join(', ')}`, 'this run', 'the existing one'];
  const fix = `Give ${one} another --name, or repeat the command that made ${other}.`;
  return unusable(`Run "${run}" exists in ${folder}, and ${how}.`, fix, 'run-differs');
}
