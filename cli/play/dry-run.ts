// `run --dry-run`: what a run would play, and at most what it would take: rows, rollouts, calls, tokens, files and disk,
// which model and which Temporal. Opens the model, because a run would, and renders the first prompt; writes nothing.

import { statfs } from 'node:fs/promises';
import { oneLine, visible } from '../../domain/text/foreign-text.ts';
import { countEnded } from '../../domain/run/progress.ts';
import { newContext, newTranscript } from '../../domain/context/new-context.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { proveSandbox } from '../../packages/sandbox/index.ts';
import type { Backend } from '../../inference/backend.ts';
import type { ResolvedOptions } from '../../run/config.ts';
import { withModel } from '../../run/model.ts';
import type { PreparedRun } from '../../run/prepare-run.ts';
import type { Rows } from '../../run/rows.ts';
import { clusterConfig, namesCluster } from '../../client/temporal/cluster-settings.ts';
import { workersOf } from '../../client/temporal/workers.ts';
import { nearestFolder } from '../doctor/machine.ts';
import { printProgress } from '../../local/machine/progress.ts';
import { askServer } from '../../library/ask-server.ts';
import { shortPath } from '../../library/command-line.ts';
import { recordedProgress } from '../../run/place.ts';
import type { Io } from '../io.ts';
import { count, lines, paintFor, plural } from '../format.ts';
import { planOf, planText } from '../view/plan-text.ts';
import { slotsText } from '../view/servers.ts';
import { callerOf } from './say-event.ts';
import { isOnDisk } from '../../records/place.ts';

/** Prompts that are rendered: enough for a mean, and quick. */
const RENDERED = 200;

export async function dryRun(io: Io, { place, rows, record, parts, isThere }: PreparedRun) {
  const { options, origins } = parts;
  const { settings } = record;
  const { run, store } = place;
  const { folder } = store;
  // Rollouts that have ended already, of a run that exists.
  const ended = isThere ? countEnded((await recordedProgress(place)).counts) : null;
  const { contextLength, prompts, servers } = await withModel(
    settings,
    rows.openings,
    callerOf(io),
    async (backend, tools) => ({
      contextLength: 'contextLength' in backend.facts ? backend.facts.contextLength : null,
      prompts: await renderedPrompts(run, rows, { ...settings, ...(tools && { tools }) }, backend),
      servers: (backend.serverStatus?.() ?? []).map(({ url, state }) => ({ url, state })),
    }),
  );
  const { accepted: queries, refused } = rows.dataset;
  const { program } = settings;
  const counts = { queries, refused, promptTokens: prompts.tokens };
  const plan = program
    ? // A program's branches have a context each.
      planOf({ ...counts, options: { ...options, numTurns: program.maxCalls }, contextLength: null })
    : planOf({ ...counts, options, contextLength });
  const temporal = namesCluster() ? (clusterConfig().connectionOptions?.address ?? null) : null;
  const code = (rows.byTask.code ?? 0) > 0 ? await proveSandbox({ env: { ...io.env } }) : null;
  const sandbox = code === null ? null : code.ok ? 'proved' : `${code.why}. ${code.fix}`;
  // Null where no Temporal server is up yet, or none says so.
  const workers = (await askServer(io.env, ({ session }) => workersOf(session), printProgress(io.err))) ?? null;
  const freeBytes = await freeAt(folder);
  const there = ended === null ? '' : `: exists, ${plural(ended, 'rollout')} ended`;
  const slots = slotsText(Math.min(options.maxConcurrent, plan.rollouts), workers);
  return {
    json: {
      ...{ event: 'plan', run, folder, ...plan, inWords: rows.inWords, ended },
      ...{ servers, temporal, workers, sandbox, freeBytes },
      ...{ options, origins, prompt: prompts.first },
    },
    text: lines(
      paintFor(io.out, io.env)('bold', 'Nothing is started or written: --dry-run.'),
      `Run        ${run} in ${shortPath(io, folder)}${there}`,
      planText(plan, freeBytes, program ? 'call' : 'turn'),
      `Model      ${oneLine(settings.model)}`,
      servers.map(({ url, state }) => `           ${oneLine(url)}: ${state}`),
      `Temporal   ${temporal ?? 'the local service, started if needed'}`,
      slots !== undefined && `Workers    ${slots}`,
      sandbox !== null && `Sandbox    ${oneLine(sandbox)}`,
      settingLines(parts),
      promptLines(prompts.first, program !== undefined),
    ).join('\n'),
  };
}

/** `ids` is null where the server tokenises. */
type FirstPrompt = { readonly query: string; readonly text: string; readonly ids: readonly number[] | null } | null;

async function renderedPrompts(run: string, rows: Rows, settings: RolloutSettings, backend: Backend) {
  const lengths: number[] = [];
  let first: FirstPrompt = null;
  for await (const query of rows.queries()) {
    const rollout: RolloutRecord = { run, query, index: 0, sample: 0, attempt: 1, settings, birthTime: 0 };
    const { text, ids } =
      'tokenizer' in backend
        ? await newContext(rollout, null, backend)
        : { text: newTranscript(rollout, null), ids: null };
    first ??= { query: query.queryId, text, ids };
    if (ids === null || lengths.push(ids.length) >= RENDERED) break;
  }
  if (lengths.length === 0) return { tokens: null, first };
  const mean = lengths.reduce((sum, n) => sum + n, 0) / lengths.length;
  return { tokens: { mean, most: Math.max(...lengths), of: lengths.length }, first };
}

/** Null of a bucket, which has no end. */
async function freeAt(folder: string): Promise<number | null> {
  if (!isOnDisk(folder)) return null;
  const { bavail, bsize } = await statfs(nearestFolder(folder));
  return bavail * bsize;
}

function settingLines({ options, origins }: ResolvedOptions): string[] {
  const given = Object.entries(origins).filter(([, origin]) => origin !== 'default');
  if (given.length === 0) return ['Settings   all are defaults'];
  return given.map(([name, origin], i) => {
    const value = JSON.stringify(options[name as keyof typeof options]);
    return `${(i === 0 ? 'Settings' : '').padEnd(11)}${name} = ${oneLine(value)} (${origin})`;
  });
}

const SHOWN_CHARS = 2000;
const SHOWN_IDS = 64;

function promptLines(first: FirstPrompt, isOfAgent: boolean): string[] {
  if (first === null) return [];
  const { query, text, ids } = first;
  const indent = (text: string) => text.replace(/^/gm, '  ');
  const cut = text.length > SHOWN_CHARS ? ` … (${count(text.length)} characters)` : '';
  const more = (ids?.length ?? 0) > SHOWN_IDS ? `, … (${count(ids!.length)} ids)` : '';
  return [
    isOfAgent
      ? `Query ${oneLine(query)} as a prompt; the agent writes its own:`
      : `First prompt, of query ${oneLine(query)}:`,
    indent(visible(text.slice(0, SHOWN_CHARS)) + cut),
    ...(ids === null ? [] : [indent(`[${ids.slice(0, SHOWN_IDS).join(', ')}${more}]`)]),
  ];
}
