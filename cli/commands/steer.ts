// `everturn pause|resume|tune|cancel <run>`: one update to the run's workflow, answered by a worker.

import { withLink } from '../../local/service/link.ts';
import { steerRun, stopRun } from '../../library/steer.ts';
import { resolveOptions } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { type Answer, command, required, text } from '../command.ts';
import { EXIT } from '../exit.ts';
import { aroundOf, locateRun } from '../find/place.ts';
import { commandLine } from '../../library/command-line.ts';
import { knownResult } from '../../run/place.ts';
import { OF_RUN, RUN_ARGUMENT } from '../flags.ts';
import { type Io, say } from '../io.ts';
import { follow } from '../play/follow.ts';
import { plural } from '../format.ts';
import { openProgressView } from '../view/progress-view.ts';
import { outcomeLine } from '../view/summary.ts';

const steering = (how: 'pause' | 'resume', done: string) =>
  command({
    ...{ args: RUN_ARGUMENT, flags: OF_RUN, help: `Example:\n  everturn ${how} my-run` },
    run: (io, given) => steered(io, given, how, done),
  });

/** Rollouts in flight continue to their end. */
export const pause = steering('pause', 'is paused');
export const resume = steering('resume', 'goes on');

export const tune = command({
  args: RUN_ARGUMENT,
  flags: { ...OF_RUN, maxConcurrent: required(text('<n>', FIELDS.maxConcurrent.help)) },
  help: 'Example:\n  everturn tune my-run --max-concurrent 32',
  run(io, given) {
    const { maxConcurrent } = resolveOptions({ flags: { maxConcurrent: given.maxConcurrent } }).options;
    const done = `has at most ${plural(maxConcurrent, 'rollout')} in flight from now on`;
    return steered(io, given, { maxConcurrent }, done);
  },
});

async function steered(
  io: Io,
  { run: named, out }: { readonly run: string; readonly out: string },
  how: Parameters<typeof steerRun>[2],
  done: string,
): Promise<Answer> {
  const place = await locateRun(io, named, out);
  const { run } = place;
  const progress = await steerRun(place, aroundOf(io), how);
  if (!progress) return { json: { run, state: null }, text: `Run "${run}" ${done}; its counts are not known yet.` };
  const { state, done: ended, total, inFlight, maxConcurrent } = progress;
  const flight = `${plural(inFlight, 'rollout')} in flight, at most ${maxConcurrent} at once`;
  return { json: progress, text: `Run "${run}" is ${state}: ${ended} of ${total} done, ${flight}.` };
}

/** Rollouts in flight end as cancelled; finished turns stay stored. */
export const cancel = command({
  args: RUN_ARGUMENT,
  flags: OF_RUN,
  help: 'Example:\n  everturn cancel my-run',
  async run(io, { run: named, out }) {
    const place = await locateRun(io, named, out);
    const { run } = place;
    const how = await stopRun(place, aroundOf(io));
    if (how === 'no-worker') say(io, 'No worker answers; the server will end the run through the next one.');
    const end =
      how !== 'ended' && (await withLink(aroundOf(io), (link) => follow(io, link, run, openProgressView(io, false))));
    if (end === 'detached') {
      say(io, `The run still ends; \`${commandLine(io, place, 'status')}\` shows its progress.`);
      return EXIT.detached;
    }
    const result = await knownResult(place);
    const what = how === 'ended' ? 'had already ended' : 'is cancelled';
    return {
      json: { run, wasEnded: how === 'ended', ...result },
      text: `Run "${run}" ${what}. ${result ? outcomeLine(result) : 'It has no result.'}`,
    };
  },
});
