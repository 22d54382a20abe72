// `everturn watch <run>`: follows a run to its end, from any terminal.

import { resolveOptions } from '../../run/config.ts';
import { DEFAULT_OPTIONS } from '../../run/options.ts';
import { command, flag, text } from '../command.ts';
import { withLink } from '../find/link.ts';
import { knownResult, locateRun } from '../find/place.ts';
import { OUT, RUN } from '../flags.ts';
import { say } from '../io.ts';
import { showEnding } from '../play/ending.ts';
import { fillsScreen, followToEnd } from '../play/follow.ts';
import { STAYS } from '../play/start.ts';

export const watch = command({
  args: RUN,
  flags: {
    out: OUT,
    maxFailed: text('<n>', `exit with code 3 if more rollouts than this fail (default: ${DEFAULT_OPTIONS.maxFailed})`),
    plain: flag('one line instead of the whole terminal'),
    json: flag('events as JSON lines on stdout, everything else on stderr'),
  },
  help: 'Ctrl-C detaches; the run continues. Exit codes as of `everturn run`.\n\nExample:\n  everturn watch my-run',
  async run(io, { run, out, maxFailed: given, plain, json }) {
    const { maxFailed } = resolveOptions({ environment: io.env, flags: { maxFailed: given } }).options;
    const place = await locateRun(io, run, out);
    const result = await knownResult(place);
    if (result) return showEnding(io, { place, result, maxFailed }, json);
    return withLink(io, async (link) => {
      const screen = !json && !plain;
      if (!json && !(screen && fillsScreen(io))) say(io, STAYS);
      return followToEnd(io, link, place, { maxFailed, json, screen });
    });
  },
});
