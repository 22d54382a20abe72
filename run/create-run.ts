// Makes a run out of its record, its queries and its code. Idempotent: a run that is there stays as it is, and one with other
// settings or other rows under the same name is refused. A refused run leaves nothing.

import { rmdir } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { environmentIdentity, type EnvironmentRecord, environmentTitle } from '../domain/rollout/environment.ts';
import { UsageError } from '../domain/errors/errors.ts';
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
  const known = (await store.getRun())?.record;
  if (!known) await putQueries(store, record, queries);
  const made = known ?? (await store.putRun(record)).record;
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
  const [known, asked] = [identityOf(there), identityOf(withToolsOf(here, there))];
  const differing = Object.keys({ ...asked, ...known }).flatMap((key) => {
    const [a, b] = [known[key], asked[key]];
    if (isDeepStrictEqual(a?.value, b?.value)) return [];
    return key === DATA_SET ? [key] : [`${key} (${a?.shown ?? 'none'} there, ${b?.shown ?? 'none'} here)`];
  });
  if (differing.length > 0) throw differs(folder, here, differing);
}

/** A run keeps the format of calls that was found when it was made, unless another one is given. */
function withToolsOf({ settings, ...record }: RunRecord, there: RunRecord): RunRecord {
  const { tools, ...rest } = settings;
  return { ...record, settings: { ...rest, ...(tools && withKnownFormat(tools, there.settings)) } };
}

interface Fact {
  readonly value: unknown;
  /** For messages. */
  readonly shown: string;
}

/** The facts by which a run is known again. */
function identityOf(record: RunRecord): Readonly<Record<string, Fact>> {
  const { settings, samples, dataset, forkedFrom } = record;
  const { environments = [], tools, ...plain } = settings;
  const values = { ...plain, samples, ...runParts(record), ...(forkedFrom && { fork: originOf(forkedFrom) }) };
  return {
    ...Object.fromEntries(
      Object.entries(values).map(([key, value]) => [key, { value, shown: JSON.stringify(value) ?? 'none' }]),
    ),
    environment: { value: environments.map(environmentIdentity), shown: titles(environments) },
    tools: { value: tools && toolsIdentity(tools), shown: toolTitles(tools) },
    [DATA_SET]: { value: dataset && offeredOf(dataset), shown: '' },
  };
}

const originOf = ({ how, said, ...from }: NonNullable<RunRecord['forkedFrom']>) => ({ ...parentOf(from), how, said });

const titles = (environments: readonly EnvironmentRecord[]): string =>
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

function differs(folder: string, { run, forkedFrom }: RunRecord, what: readonly string[]): UsageError {
  const [how, other] = forkedFrom
    ? ['is not this fork', 'Give the fork another --name, or repeat the command that made that run.']
    : [
        `differs: ${what.join(', ')}`,
        'Give this run another --name, or repeat the command that made the existing one.',
      ];
  return new UsageError(`Run "${run}" exists in ${folder}, and ${how}.`, { reason: 'run-differs', fix: other });
}
