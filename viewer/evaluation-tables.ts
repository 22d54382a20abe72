// The tables of an evaluation, from the runs that its record binds: of each benchmark the comparison of its runs. A benchmark whose
// cells have all ended is read once, until the files of their ended rollouts change. Memory: those tables, and the rows of the
// cells that are played of the evaluation that is looked at.

import { join } from 'node:path';
import { explain } from '../domain/errors/errors.ts';
import { short } from '../domain/text/foreign-text.ts';
import { ENDED } from '../records/format/layout.ts';
import { settingsWithOrigins } from '../records/format/run-record.ts';
import { type InForce, settingsInForce } from '../records/format/settings-in-force.ts';
import { mustReadEvaluation, type RecordedCell } from '../records/run/evaluation-record.ts';
import { compareSeveral, type CostOfRun, shown } from './compare-runs.ts';
import { addressed, playedAt, sourcesOf } from './evaluation-facts.ts';
import type { BenchmarkMessage, EvaluationMessage } from './model/messages.ts';
import { sizesIn } from './plain-files.ts';
import type { OpenRun, Runs } from './runs.ts';

interface Table {
  readonly message: BenchmarkMessage;
  readonly records: readonly Pick<OpenRun, 'run' | 'record'>[];
  readonly played: EvaluationMessage['played'];
  readonly models: EvaluationMessage['models'];
}

const MOST_SAID = 200;

export function openEvaluationTables(runs: Runs, costOf: CostOfRun): (name: string) => Promise<EvaluationMessage> {
  const ended = new Map<string, Table & { readonly stamp: string }>();
  let looked = '';
  const opened = new Map<string, OpenRun>();

  function close(of: Iterable<string>): void {
    for (const run of of) {
      opened.get(run)?.index.close();
      opened.delete(run);
    }
  }

  async function openCell(run: string): Promise<OpenRun> {
    const open = opened.get(run) ?? (await runs.read(run));
    opened.set(run, open);
    await open.index.refresh();
    const { problem } = open.index.progress;
    if (problem !== undefined) throw new Error(problem);
    return open;
  }

  async function tableOf(name: string, benchmark: string, cells: readonly RecordedCell[]): Promise<Table> {
    const key = JSON.stringify([name, benchmark]);
    const stamp = JSON.stringify(cells.map(({ run }) => [run, sizesIn(join(runs.out, run, ENDED))]));
    const known = ended.get(key);
    if (known?.stamp === stamp) return known;
    const there: (RecordedCell & { readonly open: OpenRun })[] = [];
    const unread: BenchmarkMessage['unread'][number][] = [];
    for (const cell of cells) {
      try {
        there.push({ ...cell, open: await openCell(cell.run) });
      } catch (error) {
        unread.push({ label: cell.label, problem: explain(error) });
      }
    }
    const all = there.map(({ open }) => open);
    const heads = await Promise.all(all.map((open) => runs.head(open)));
    const compared = all.length === 0 ? [] : (await compareSeveral(all, heads, costOf)).runs;
    const labelled = compared.map((run, i) => ({ ...run, label: there[i]!.label }));
    const table: Table = {
      message: { benchmark, runs: labelled, unread, sources: sourcesOf(there) },
      ...{ records: all, played: playedAt(there) },
      models: there.map(({ label, open }) => [label, addressed(open.record.settings.model)]),
    };
    if (heads.some(({ state }) => state === 'open') || unread.length > 0) return table;
    ended.set(key, { ...table, stamp, records: all.map(({ run, record }) => ({ run, record })) });
    close(all.map(({ run }) => run));
    return table;
  }

  async function messageOf(name: string): Promise<EvaluationMessage> {
    const { cells } = await mustReadEvaluation(runs.out, name);
    if (looked !== name) close(opened.keys());
    looked = name;
    const tables: Table[] = [];
    for (const benchmark of new Set(cells.map((cell) => cell.benchmark)))
      tables.push(
        await tableOf(
          name,
          benchmark,
          cells.filter((cell) => cell.benchmark === benchmark),
        ),
      );
    return messageOfTables(name, cells, tables);
  }

  // One after the other: none closes what another one reads.
  let last: Promise<unknown> = Promise.resolve();
  return (name) => {
    const next = last.then(() => messageOf(name));
    last = next.catch(() => {});
    return next;
  };
}

function messageOfTables(name: string, cells: readonly RecordedCell[], tables: readonly Table[]): EvaluationMessage {
  const played = tables.flatMap(({ records }) => records);
  const { settings, differing } = settingsInForce(
    played.map(({ run, record }) => ({ run, settings: settingsWithOrigins(record) })),
  );
  const named = cells.flatMap(({ benchmark, label, run }) => {
    const own = differing[run]?.filter(isShort) ?? [];
    const text = own.map((one) => textOf(one).join(' ')).join(', ');
    return text === '' ? [] : [[`${benchmark} ${label}`, text] as const];
  });
  return {
    name,
    benchmarks: tables.map(({ message }) => message),
    played: span(tables),
    models: [...new Map(tables.flatMap(({ models }) => models))],
    settings: settings.filter(isShort).map(textOf),
    differing: named,
  };
}

/** Its texts stand whole beside its data. */
const isShort = ({ name }: InForce): boolean => name !== 'system' && name !== 'prompt';

function span(tables: readonly Table[]): EvaluationMessage['played'] {
  const all = tables.flatMap(({ played }) => (played ? [played] : []));
  return all.length === 0 ? null : [Math.min(...all.map(([from]) => from)), Math.max(...all.map(([, until]) => until))];
}

const textOf = ({ name, value }: InForce): readonly [string, string] => [name, short(shown(value), MOST_SAID)];
