// The messages of a report, from the data inside its HTML. Undefined where there are none: on the viewer's server.

import { parseFilter } from '../model/filter.ts';
import type { RowPlace } from '../model/messages.ts';
import { sorted } from '../model/order.ts';
import { difficulty } from '../model/queries.ts';
import type { ReportData } from '../model/report-data.ts';
import { type Row, rowKey } from '../model/row.ts';
import type { Source } from './source.ts';

export interface ReportSource extends Source {
  readonly kind: 'report';
  readonly data: ReportData;
}

export async function embeddedSource(): Promise<ReportSource | undefined> {
  const island = document.getElementById('report');
  const text = island?.textContent;
  if (!island || text == null) return undefined;
  const json = island.getAttribute('type') === 'application/gzip' ? await unzipped(text) : text;
  return sourceOf(JSON.parse(json) as ReportData);
}

async function unzipped(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function sourceOf(data: ReportData): ReportSource {
  const { run, rows, rollouts, tokens, left } = data;
  const progress = { ...run.progress, listed: true };
  const whole = new Map(rollouts.map((rollout) => [rowKey(rollout.row), rollout]));
  const list = ({ filter, sort }: { filter: string; sort: string }): readonly Row[] =>
    sorted(filter.trim() === '' ? rows : rows.filter(parseFilter(filter).holds), sort);
  const mustBe = (name: string) => {
    if (name !== run.head.run) throw new Error(`This report is of run ${run.head.run}.`);
  };
  return {
    kind: 'report',
    data,
    left,
    runs: async () => ({ folder: '', runs: [run.head] }),
    async run(name) {
      mustBe(name);
      return run;
    },
    async rows(name, query, from, count) {
      mustBe(name);
      const all = list(query);
      const { problems } = parseFilter(query.filter);
      return { from, count: all.length, rows: all.slice(from, from + count), problems, progress };
    },
    async rollout(name, place, query) {
      mustBe(name);
      const found = whole.get(rowKey(place));
      if (!found) throw new Error('The turns of this rollout are not in this report; `everturn view` shows them.');
      const all = list(query).filter((row) => whole.has(rowKey(row)));
      const at = all.findIndex((row) => rowKey(row) === rowKey(place));
      const near = (i: number): RowPlace | null => (at < 0 ? null : (all[i] ?? null));
      const samples = rows.filter((row) => row.query === place.query && whole.has(rowKey(row)));
      return { ...found, samples, previous: near(at - 1), next: near(at + 1) };
    },
    async tokens(name, place, turn) {
      mustBe(name);
      const found = tokens[`${rowKey(place)} ${turn}`];
      if (!found) throw new Error('Its tokens are not in this report: `everturn report --tokens` takes them along.');
      return found;
    },
    async queries(name, kind, from, count) {
      mustBe(name);
      const { rows: all, ...message } = difficulty(rows, kind, run.head.numTurns);
      // Of a long run the list is a part, and the counts are of all.
      const counts = rows.length < run.summary.begun ? { ...message, ...data.queries } : message;
      return { ...counts, from, count: all.length, rows: all.slice(from, from + count), progress };
    },
    compare: () => Promise.reject(new Error('A report is of one run: `everturn view` compares two.')),
  };
}
