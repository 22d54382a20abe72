// `everturn status <run>`: the progress of a run, from the server if it answers, else from the run's folder. Starts
// nothing, unless `--follow` waits for the run's end.

import { withLink } from '../../local/service/link.ts';
import { namesCluster } from '../../client/temporal/cluster-settings.ts';
import { feedLines } from '../../domain/feed/lines.ts';
import type { RunProgress } from '../../library/run-handle.ts';
import { detailsOfRun, type RunDetails } from '../../library/run-details.ts';
import { resolveOptions } from '../../run/config.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { type Answer, command, flag, text, unusable } from '../command.ts';
import type { ExitCode } from '../exit.ts';
import { aroundOf, locateRun } from '../find/place.ts';
import { runArgument, shortPath } from '../../library/command-line.ts';
import { knownResult, type RunPlace } from '../../run/place.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say, typable } from '../io.ts';
import { showEnding } from '../play/ending.ts';
import { followToEnd } from '../play/follow.ts';
import { bytesText } from '../view/plan-text.ts';
import { BIASED, EXPERTS_MISSING, STAYS } from '../play/play-run.ts';
import { ago, lines, paintFor, plural } from '../format.ts';
import { peopleLine } from '../view/people.ts';
import { serverTable, slotsText, weightsLines } from '../view/servers.ts';
import { evaluationLine } from '../view/statistics-text.ts';
import { summaryLines } from '../view/summary.ts';
import { untrainedLine } from '../view/untrained.ts';
import { lineageText } from '../view/trajectory-text.ts';

export type RunStatus = RunProgress & RunDetails;

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
    const found = await place.status();
    const whole: RunStatus = { ...found, ...(await detailsOfRun(place, found, aroundOf(io))) };
    return { json: whole, text: typable(io, statusText(io, place, whole)) };
  },
});

async function followed(io: Io, place: RunPlace, given: string | undefined, json: boolean): Promise<Answer | ExitCode> {
  const { maxFailed } = resolveOptions({ environment: io.env, flags: { maxFailed: given } }).options;
  const result = await knownResult(place);
  if (result) return showEnding(io, { place, result, maxFailed, isPast: true }, json);
  return withLink(aroundOf(io), async (link) => {
    if (!json) say(io, STAYS);
    return followToEnd(io, link, place, { maxFailed, json, endAlone: true });
  });
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
    status.feed && ['', ...feedStatusLines(status.feed, io.now()), ''],
    status.biased && paint('yellow', BIASED),
    status.experts &&
      `${paint('dim', 'Experts')}    ${bytesText(status.experts.bytes)} in ${plural(status.experts.files, 'file')}, before their compression`,
    status.expertsMissing && paint('yellow', EXPERTS_MISSING),
    status.untrained && paint('yellow', untrainedLine(status.untrained)),
    evaluationLine(status.evaluations, paint),
    status.servers.length > 0 && ['', serverTable(status.servers, paint), ''],
    weightsLines(status.weights, paint),
    `${paint('dim', 'Folder')}     ${shortPath(io, status.folder)}`,
    status.url && `${paint('dim', 'Temporal')}   ${status.url}`,
    status.toldAt !== null && `Reported by its workers ${ago(io.now() - status.toldAt)}. ${next}`,
    source === 'records' && `Counted from the records in its folder. ${next}`,
  ).join('\n');
}

const feedStatusLines = ({ open, warning, ...head }: NonNullable<RunDetails['feed']>, now: number): string[] => [
  ...feedLines(head, open, (until) => forMore(until, now)),
  ...(warning === null ? [] : [`  ${warning}`]),
];

const forMore = (until: number, now: number) => `for ${Math.max(0, Math.round((until - now) / 1000))} s more`;
