// `everturn why <run> <query>`: the cause of a rollout's wait, or of its end.

import { whyOf } from '../../library/why.ts';
import { command } from '../command.ts';
import { aroundOf, findRun } from '../find/place.ts';
import { JSON_FLAG, OF_ROLLOUT, ROLLOUT_ARGUMENTS } from '../flags.ts';
import { whyText } from '../view/why-text.ts';

export const why = command({
  args: ROLLOUT_ARGUMENTS,
  flags: { ...OF_ROLLOUT, json: JSON_FLAG },
  help: 'Example:\n  everturn why my-run arith-0001',
  async run(io, given) {
    const place = await findRun(io, given.run, given.out);
    const known = await whyOf(place, given, aroundOf(io));
    return { json: known, text: () => whyText(io, place, known) };
  },
});
