// The script's entry: the pages of a report, where the HTML holds one, or of the viewer's server.

import { render } from 'preact';
import { App } from './app.tsx';
import { compareHref, evaluationHref, runHref } from './route.ts';
import { serverSource, type Source } from './source.ts';
import { applyTheme, rememberChoice } from './remembered.ts';
import { parseFilter, listed, neighbours, cutPage } from '../model/filter.ts';
import type { ReportData, ReportRun } from '../model/messages.ts';
import { rowKey } from '../model/row.ts';

/** The evaluation, the comparison, or the run, that a report is about. */
function homeOf({ compared, first, evaluated }: ReportSource): string {
  return evaluated !== undefined ? evaluationHref(evaluated) : compared ? compareHref(...compared) : runHref(first);
}

const kept = rememberChoice('everturn-steer', () => sessionStorage);

/** The key of this tab, and from now on the one in the address, if that has one. */
const takeSteerKey = (): string | null => keyInAddress() ?? (kept.get() || null);

/** Takes it out of the address; null if there is none. */
function keyInAddress(): string | null {
  const [path = '', search = ''] = location.hash.split('?');
  const params = new URLSearchParams(search);
  const given = params.get('steer');
  if (given === null) return null;
  params.delete('steer');
  history.replaceState(null, '', `${path}${params.size > 0 ? `?${params.toString()}` : ''}`);
  kept.set(given);
  return given;
}

interface ReportSource extends Source {
  readonly kind: 'report';
  /** The run that it is about. */
  readonly first: string;
  /** The evaluation that it is about. */
  readonly evaluated: string | undefined;
}

/** Undefined where the HTML holds no report: on the viewer's server. */
async function reportSource(): Promise<ReportSource | undefined> {
  const island = document.getElementById('report');
  if (!island) return undefined;
  const text = island.textContent ?? '';
  return sourceOf(
    JSON.parse(island.getAttribute('type') === 'application/gzip' ? await unzipped(text) : text) as ReportData,
  );
}

async function unzipped(base64: string): Promise<string> {
  const bytes = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).text();
}

function sourceOf({ runs, compared: comparison, evaluation, left }: ReportData): ReportSource {
  const heads = runs.map(({ run }) => run.head);
  const [first, second] = heads.map(({ run }) => run);
  const compared = comparison ? ([first!, second!] as const) : null;
  const partOf = (name: string): ReportRun => {
    const found = runs.find(({ run }) => run.head.run === name);
    if (!found) throw new Error(`This report is of ${heads.map(({ run }) => run).join(' and ')}.`);
    return found;
  };
  const elsewhere = () => Promise.reject(new Error('A report holds no search and no other table: `everturn view`.'));
  return {
    kind: 'report',
    ...{ first: first!, evaluated: evaluation?.name, left, compared },
    ...{ steer: null, search: elsewhere, several: elsewhere },
    evaluation: async (name) => (evaluation?.name === name ? evaluation : elsewhere()),
    runs: async () => ({ folder: '', runs: heads, evaluations: evaluation ? [evaluation.name] : [] }),
    run: async (name) => partOf(name).run,
    async rows(name, list, from, count) {
      const { problems } = parseFilter(list.filter);
      return { ...cutPage(listed(partOf(name).rows, list), from, count), problems };
    },
    async rollout(name, place, list) {
      const { rows, whole } = partOf(name);
      const found = whole.find(({ message }) => rowKey(message.row) === rowKey(place));
      if (!found) throw new Error('The turns of this rollout are not in this report; `everturn view` shows them.');
      const keys = new Set(whole.map(({ message }) => rowKey(message.row)));
      const here = rows.filter((row) => keys.has(rowKey(row)));
      const samples = here.filter(({ query }) => query === place.query);
      return { ...found.message, samples, ...neighbours(listed(here, list), place) };
    },
    async tokens(name, place, turn) {
      const found = partOf(name).whole.find(({ message }) => rowKey(message.row) === rowKey(place))?.tokens[turn];
      if (!found) throw new Error('Its tokens are not in this report: `everturn report --tokens` takes them along.');
      return found;
    },
    async compare(a, b) {
      if (comparison && compared?.[0] === a && compared[1] === b) return comparison;
      const what = compared ? `compares ${compared[0]} with ${compared[1]}` : 'compares no runs';
      throw new Error(`This report ${what}: \`everturn report a --compare b\` makes one that does.`);
    },
  };
}

applyTheme();
const key = takeSteerKey();
const root = document.getElementById('app');
const report = await reportSource().catch((error: unknown) => {
  if (root) root.textContent = `This report cannot be read: ${String(error)}`;
  throw error;
});
if (root) {
  const show = (withKey: string | null) => render(<App source={report ?? serverSource(withKey)} />, root);
  // An address with a key that is pasted into this tab loads nothing: the pages go on with it. Before the App listens.
  addEventListener('hashchange', () => {
    const pasted = keyInAddress();
    if (pasted !== null) show(pasted);
  });
  if (report && location.hash.replace(/^#\/?/, '') === '') history.replaceState(null, '', homeOf(report));
  show(key);
}
