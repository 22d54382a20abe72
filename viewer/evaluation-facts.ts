// What the numbers of an evaluation's runs are of: when they were played, which data at which revision, in which words, by a model
// at which address. Of an address the host alone: no key can be in it.

import { placeAtCommit, titleOfDataset } from '../domain/run/hub-source.ts';
import type { RunRecord } from '../records/format/run-record.ts';
import type { BenchmarkMessage, EvaluationMessage } from './model/messages.ts';
import type { OpenRun } from './runs.ts';

interface LabelledRun {
  readonly label: string;
  readonly open: Pick<OpenRun, 'record' | 'index'>;
}

/** What several runs share stands once, with their labels where others differ. */
export function sourcesOf(runs: readonly LabelledRun[]): BenchmarkMessage['sources'] {
  const groups = new Map<string, { readonly labels: string[]; readonly of: Omit<Source, 'labels'> }>();
  for (const { label, open } of runs) {
    const of = sourceOf(open.record);
    const key = JSON.stringify(of);
    const known = groups.get(key) ?? { labels: [], of };
    known.labels.push(label);
    groups.set(key, known);
  }
  return [...groups.values()].map(({ labels, of }) => ({ labels: groups.size > 1 ? labels : [], ...of }));
}

type Source = BenchmarkMessage['sources'][number];

function sourceOf({ dataset, wording = {} }: RunRecord): Omit<Source, 'labels'> {
  const { system, template } = wording;
  const hub = dataset?.hub;
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['data', dataset ? (hub ? placeAtCommit(dataset.path, hub) : titleOfDataset(dataset.path)) : undefined],
    ...(hub?.files ?? []).map(({ name, sha256 }) => [`${name}, SHA-256`, sha256] as const),
    ['rows', dataset && `${dataset.accepted}${dataset.refused > 0 ? `, bad ones left out: ${dataset.refused}` : ''}`],
    ['rows of its page', dataset?.pageSize && `${dataset.pageSize.said}, and its data have ${dataset.pageSize.rows}`],
    ['rows as played, SHA-256', dataset?.sha256],
  ];
  return {
    facts: facts.flatMap(([name, value]) => (value == null ? [] : [[name, value] as const])),
    ...(system !== undefined && { system }),
    ...(template !== undefined && { template }),
  };
}

/** `gpt-x at api.openai.com`; a model without an address as it is named. */
export function addressed(model: string): string {
  const [, kind = '', urls = '', name = ''] = /^([a-z]+):(https?:[^#]*)(?:#(.*))?$/s.exec(model) ?? [];
  if (kind === '') return model;
  const hosts = urls.split(',').map((url) => (URL.canParse(url.trim()) ? new URL(url.trim()).host : '?'));
  return `${name || kind} at ${hosts.join(', ')}`;
}

/** From the first run's beginning to the last rollout's end; null without one. */
export function playedAt(runs: readonly LabelledRun[]): EvaluationMessage['played'] {
  if (runs.length === 0) return null;
  const ends = runs.map(({ open }) => open.index.rows().reduce((last, { endedAt }) => Math.max(last, endedAt ?? 0), 0));
  return [Math.min(...runs.map(({ open }) => open.record.createdAt)), Math.max(...ends)];
}
