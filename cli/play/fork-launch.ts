// From a rollout and a turn to a running fork: the new run's folder, its collection, and its end. The name follows from the
// content unless it is given, so repeating the command attaches to the same fork.

import { oneLine } from '../../domain/text/foreign-text.ts';
import { UsageError } from '../../domain/errors/errors.ts';
import { isRunName, safeName } from '../../domain/run/ids.ts';
import type { ForkedFrom } from '../../domain/rollout/lineage.ts';
import { sha256Hex } from '../../domain/text/sha256.ts';
import { registerRun } from '../../local/permissions/registered.ts';
import { createFork } from '../../run/fork-run.ts';
import { homeOf } from '../../local/service/home.ts';
import { describeWorkflow, runElsewhere, startCollection } from '../../client/temporal/runs.ts';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { ensureSearchAttributes } from '../../client/temporal/search-attributes.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { openLink, workflowUrl } from '../find/link.ts';
import { placeOf, programName, type RunPlace, runArgument, shortPath } from '../find/place.ts';
import { knownResult } from '../find/recorded.ts';
import type { Source } from '../find/source.ts';
import { type Io, print, printJson, say } from '../io.ts';
import { plural } from '../view/format.ts';
import { mustProveSandbox, mustTakeCode } from './code-sandbox.ts';
import { showEnding } from './ending.ts';
import { followToEnd } from './follow-to-end.ts';
import { checkModel } from './model.ts';

export interface ForkLaunch {
  readonly place: RunPlace;
  readonly source: Source;
  readonly how: ForkedFrom['how'];
  readonly said: string | null;
  readonly by: string;
  readonly reason: string | null;
  readonly numTurns: number;
  readonly samples: number;
  readonly name: string | undefined;
  readonly detach: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

export async function launchFork(io: Io, given: ForkLaunch): Promise<ExitCode> {
  const { place: old, source, samples, numTurns } = given;
  const { trajectory, runRecord, parent } = source;
  const { rollout } = trajectory;
  const run = given.name ?? nameOfFork(given);
  if (!isRunName(run)) {
    throw new UsageError(`--name ${JSON.stringify(run)} cannot name a run.`, {
      reason: 'run-name',
      fix: 'Use letters, digits, `.`, `_` and `-`, at most 100 of them.',
    });
  }
  const place = placeOf(old.out, run);
  const { how, said, by, reason } = given;
  const from: ForkedFrom = { ...parent, how, said, by, reason, at: io.now() };
  const carried = parent.turn > 1 ? `; ${plural(parent.turn - 1, 'turn')} carried over` : '';
  const message = said === null ? '' : `; with a message of ${oneLine(by)}`;
  const rollouts = `${plural(samples, 'rollout')} of ${oneLine(parent.query)}`;
  const what = `${rollouts} from turn ${parent.turn} on, to turn ${numTurns}${carried}${message}`;
  if (given.dryRun) {
    if (given.json) printJson(io, { run, folder: place.store.folder, forkedFrom: from, samples, numTurns });
    else print(io, `Would make run "${run}" in ${shortPath(io, place.store.folder)}: ${what}.`);
    return EXIT.ok;
  }
  const opening =
    rollout.query.prompt.kind === 'messages' ? rollout.query.prompt.messages.map(({ role }) => role) : ['user'];
  const there = await place.store.getRun();
  const found = there?.record ?? (await checkModel(rollout.settings, [opening], io));
  const make = () =>
    createFork(place.store, old.store, {
      ...{ run, from, parentRun: runRecord, rollout, numTurns, samples },
      found: { logprobs: found.logprobs ?? null, model: found.model ?? null },
      now: io.now(),
    });
  const known = there && (await knownResult(place));
  if (known) {
    await make();
    say(io, `Run "${run}" is finished; it is not played again.`);
    return showEnding(io, { place, result: known, maxFailed: 0, url: null, local: false, tookMs: null }, given.json);
  }
  const isCode = rollout.query.task === 'code';
  if (isCode && !namesCluster()) await mustProveSandbox(io);
  const link = await openLink(io);
  try {
    const { state, out } = await describeWorkflow(link.session, run);
    if (state === 'running' && out !== null && out !== place.out) throw runElsewhere(run, out);
    if (isCode && state !== 'running') await mustTakeCode(link);
    const { settings } = await make();
    registerRun(homeOf(io.env), { folder: place.store.folder, ...settings });
    if (!link.local) await ensureSearchAttributes(link.session.client.connection, link.session.namespace);
    if (!given.detach) io.interrupted();
    await startCollection(link.session, { run, out: place.out }, `${parent.run}: ${what}`);
    const me = programName(io);
    const url = workflowUrl(link, run);
    say(io, `Run        ${run} in ${shortPath(io, place.store.folder)}, from run "${parent.run}"`);
    say(io, `Playing    ${what}`);
    if (given.json) printJson(io, { event: 'started', run, folder: place.store.folder, forkedFrom: from, url });
    if (!given.detach) return await followToEnd(io, link, place, { maxFailed: 0, json: given.json });
    say(io, `It runs in the background: \`${me} watch ${runArgument(io, place)}\` follows it.`);
    return EXIT.ok;
  } finally {
    await link.close();
  }
}

/** `first-fork-1a2b3c4d`: the same fork has the same name. */
function nameOfFork({ source: { parent }, how, said, samples, numTurns }: ForkLaunch): string {
  const content = JSON.stringify([parent.rolloutHash, parent.turn, parent.hash, said, samples, numTurns]);
  const stem = safeName(parent.run).replace(/~.*/, '').slice(0, 60) || 'run';
  return `${stem}-${how}-${sha256Hex(content).slice(0, 8)}`;
}
