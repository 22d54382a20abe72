// `everturn status <run>`: the progress of a run, from the server if it answers, else from the run's folder. Starts
// nothing, unless `--follow` waits for the run's end.

import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { progressOfRun } from '../../library/progress.ts';
import type { RunProgress } from '../../library/run.ts';
import { printProgress } from '../../local/machine/progress.ts';
import { readFleet, STALE_MS } from '../../records/run/fleet-status.ts';
import { resolveOptions } from '../../run/config.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { type Answer, command, flag, text, unusable } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { withLink } from '../find/link.ts';
import { locateRun, runArgument, shortPath } from '../find/place.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say, typable } from '../io.ts';
import { showEnding } from '../play/ending.ts';
import { followToEnd } from '../play/follow.ts';
import { STAYS } from '../play/play-run.ts';
import { openEvaluations } from '../../viewer/evaluations.ts';
import { feedStatusOf, statusLines } from '../view/feed.ts';
import { ago, lines, paintFor, plural } from '../format.ts';
import { peopleCounts } from '../../library/people.ts';
import { peopleLine } from '../view/people.ts';
import { serverTable, slotsText, weightsLines, weightsStatus } from '../view/servers.ts';
import { evaluationLine } from '../view/statistics-text.ts';
import { summaryLines } from '../view/summary.ts';
import { lineageText } from '../view/trajectory-text.ts';

export type RunStatus = RunProgress & Awaited<ReturnType<typeof besideOf>>;

export const status = command({
  args: RUN_ARGUMENT,
  flags: {
    ...OF_RUN,
    follow: flag('wait for the end with one live line, and end as `everturn run` does; Ctrl-C leaves the run to go on'),
    maxFailed: text(
      '<n>',
      `with --follow: exit with code 3 if more rollouts than this fail (default: ${DEFAULT_OPTIONS.maxFailed})`,
    ),
  },
  help: 'Example:\n  everturn status my-run\n  everturn status my-run --follow',
  async run(io, { run: named, out, follow, maxFailed, json }) {
    if (maxFailed !== undefined && !follow)
      throw unusable('--max-failed is about the end of a run.', 'Give --follow too.');
    const place = await locateRun(io, named, out);
    if (follow) return followed(io, place, maxFailed, json);
    const found = await progressOfRun(place, io.env, printProgress(io.err));
    const whole: RunStatus = { ...found, ...(await besideOf(io, place, found)) };
    return { json: whole, text: typable(io, statusText(io, place, whole)) };
  },
});

async function followed(io: Io, place: RunPlace, given: string | undefined, json: boolean): Promise<Answer | ExitCode> {
  const { maxFailed } = resolveOptions({ environment: io.env, flags: { maxFailed: given } }).options;
  const result = await knownResult(place);
  if (result) return showEnding(io, { place, result, maxFailed, isPast: true }, json);
  return withLink(io, async (link) => {
    if (!json) say(io, STAYS);
    return followToEnd(io, link, place, { maxFailed, json, endAlone: true });
  });
}

/** The facts of a run beside its progress. */
async function besideOf(io: Io, place: RunPlace, { source }: RunProgress) {
  const { run, store } = place;
  const { folder } = store;
  const [servers, feed, evaluations, weights, people, stored] = await Promise.all([
    // Each inference server, as the run's workers have reported it.
    readFleet(folder, source === 'result' ? 0 : Date.now() - STALE_MS),
    feedStatusOf(io, place),
    openEvaluations()(folder),
    weightsStatus(folder),
    peopleCounts(store),
    // A damaged run.json is for `check` to name.
    store.get('run').catch(() => undefined),
  ]);
  const { forkedFrom = null } = stored?.record ?? {};
  return { run, folder, servers, feed, evaluations, weights, people, forkedFrom };
}

function statusText(io: Io, place: RunPlace, status: RunStatus): string {
  const paint = paintFor(io.out, io.env);
  const { state, source, inFlight, maxConcurrent } = status;
  const run = runArgument(io, place);
  const then = source === 'memo' ? ' when last reported' : '';
  const flight =
    maxConcurrent !== null
      ? `, ${plural(inFlight, 'rollout')} in flight${then} of at most ${maxConcurrent}`
      : inFlight > 0
        ? `, ${plural(inFlight, 'rollout')} begun and not ended`
        : '';
  const slots = slotsText(maxConcurrent === null ? null : Math.min(maxConcurrent, status.total), status.workers);
  const next =
    state === 'interrupted'
      ? 'No worker plays it: repeat the command that started the run, and it continues.'
      : `\`everturn status ${run} --follow\` follows it${namesCluster() ? '' : ', and starts the local service if needed'}.`;
  return lines(
    `${paint('bold', place.run)}: ${state}${flight}`,
    status.waitingFor && paint('yellow', status.waitingFor),
    slots,
    '',
    summaryLines(status, run, paint),
    peopleLine(status.people),
    status.forkedFrom && `${paint('dim', 'From')}       ${lineageText(status.forkedFrom)}`,
    status.feed && ['', ...statusLines(status.feed, io.now()), ''],
    evaluationLine(status.evaluations, paint),
    status.servers.length > 0 && ['', serverTable(status.servers, paint), ''],
    weightsLines(status.weights, paint),
    `${paint('dim', 'Folder')}     ${shortPath(io, status.folder)}`,
    status.url && `${paint('dim', 'Temporal')}   ${status.url}`,
    status.toldAt !== null && `Reported by its workers ${ago(io.now() - status.toldAt)}. ${next}`,
    source === 'records' && `Counted from the records in its folder. ${next}`,
  ).join('\n');
}
