// Flags that several commands share.

import { Option } from 'commander';
import { UNSAFE_FLAG, UNSAFE_VARIABLE } from '../environments/code/consent.ts';
import { UNDECIDED, type UndecidedPolicy } from '../domain/rollout/finished-turns.ts';
import { CONTRADICTED, VERDICT_SOURCES, type VerdictSource } from '../domain/rollout/judged-by-people.ts';
import { HUMAN_TURNS, type HumanTurnsPolicy } from '../records/reading.ts';

export const DEFAULT_OUT = 'runs';

export function outOption(): Option {
  return new Option('--out <dir>', 'the folder that holds runs, or s3://bucket/prefix').default(DEFAULT_OUT, './runs');
}

export function jsonOption(what = 'facts as JSON on stdout, everything else on stderr'): Option {
  return new Option('--json', what);
}

export function unsafeOption(): Option {
  return new Option(UNSAFE_FLAG, `run programs that a model wrote unprotected (or ${UNSAFE_VARIABLE}=1)`);
}

/** A turn that our side could not judge ends its rollout. */
export function undecidedOption(): Option {
  return new Option(
    '--undecided <what>',
    'rollouts that end with a turn that could not be judged: drop them, or export the turns before it',
  )
    .choices(UNDECIDED)
    .default('drop' satisfies UndecidedPolicy);
}

/** Statistics are of the model alone, unless asked otherwise. */
export function steeredOption(): Option {
  return new Option(
    '--include-steered',
    'count rollouts that a person had a part in too: with a message in their context, or of a fork',
  );
}

/** People's part in an export: by whose verdicts it counts, and whether their messages are in it. */
export function peopleOptions(): Option[] {
  return [
    new Option('--verdicts <whose>', "the judge's verdicts, or people's where they gave one (everturn verdict)")
      .choices(VERDICT_SOURCES)
      .default('judge' satisfies VerdictSource),
    new Option(
      '--contradicted <what>',
      "with --verdicts human: rollouts that went on after feedback which people's verdict contradicts: drop them " +
        '(default), cut them after that turn, or keep them whole',
    ).choices(CONTRADICTED),
    new Option('--human-turns <what>', 'rollouts with a person’s message in their context: drop or include them')
      .choices(HUMAN_TURNS)
      .default('drop' satisfies HumanTurnsPolicy),
  ];
}
