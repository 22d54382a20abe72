// The dashboard and the alerts name only metrics that exist.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ROOT } from '../../house/tree.ts';

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const made = new Set([...read('local/metrics/worker-metrics.ts').matchAll(/'(everturn_[a-z_]+)'/g)].map((m) => m[1]!));
const named = (text: string) => [...text.matchAll(/everturn_[a-z_]+/g)].map(([name]) => name);
const base = (name: string) => (made.has(name) ? name : name.replace(/_(?:bucket|count|sum)$/, ''));

describe('the dashboard and the alerts', () => {
  test('are JSON and YAML, and each names only metrics of ours that exist', () => {
    const dashboard = JSON.parse(read('docs/grafana.json')) as { panels: { targets: { expr: string }[] }[] };
    const { groups } = parse(read('docs/alerts.yaml')) as { groups: { rules: { expr: string }[] }[] };
    const expressions = [
      ...dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
      ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
    ];
    expect(expressions.length).toBeGreaterThan(12);
    expect(expressions.flatMap(named).filter((name) => !made.has(base(name)))).toEqual([]);
  });

  test('docs/metrics.md has a line for each metric, and for no other', () => {
    const table = read('docs/metrics.md')
      .split('\n')
      .filter((line) => line.startsWith('| `everturn_'));
    const documented = table.flatMap((line) => named(line.split('|')[1]!));
    expect(documented.toSorted()).toEqual([...made].toSorted());
  });
});
