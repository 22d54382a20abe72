// Arguments and flags that several commands share.

import { UNSAFE_VARIABLE } from '../environments/code/consent.ts';
import { UNDECIDED, type UndecidedPolicy } from '../domain/samples/finished-turns.ts';
import { CONTRADICTED, VERDICT_SOURCES, type VerdictSource } from '../domain/samples/human-verdicts.ts';
import { DEFAULT_OUT } from '../run/place.ts';
import { HUMAN_TURNS, type HumanTurnsPolicy } from '../records/export/group-labels.ts';
import { flag, choiceFlag, text, wholeFlag, withDefault } from './command.ts';

export const RUN_ARGUMENT = { '<run>': "a run's name, or its folder" };
export const OUT = withDefault(
  text('<dir>', 'the folder that holds runs, or s3://bucket/prefix'),
  DEFAULT_OUT,
  './runs',
);
export const JSON_FLAG = flag('facts as JSON on stdout, everything else on stderr');

export const OF_RUN = { out: OUT, json: JSON_FLAG };

/** One rollout of a run: `--sample` and `--attempt` choose among those of the query. */
export const ROLLOUT_ARGUMENTS = { ...RUN_ARGUMENT, '<query>': "the query's id" };
export const OF_ROLLOUT = {
  out: OUT,
  sample: withDefault(wholeFlag('<n>', 'one of its rollouts', 0), 0),
  attempt: wholeFlag('<n>', 'one attempt of that rollout (default: the last)', 1),
};

export const UNSAFE = flag(`run programs that a model wrote unprotected (or ${UNSAFE_VARIABLE}=1)`);

/** A turn that our side could not judge ends its rollout. */
export const UNDECIDED_FLAG = withDefault(
  choiceFlag(
    '<what>',
    UNDECIDED,
    'rollouts that end with a turn that could not be judged: drop them, or export the turns before it',
  ),
  'drop' satisfies UndecidedPolicy,
);

/** Statistics are of the model alone, unless asked otherwise. */
export const INCLUDE_STEERED = flag(
  'count rollouts that a person had a part in too: with a message in their context, or of a fork',
);

/** People's part in an export: by whose verdicts it counts, and whether their messages are in it. */
export const OF_PEOPLE = {
  verdicts: withDefault(
    choiceFlag('<whose>', VERDICT_SOURCES, "the judge's verdicts, or people's where they gave one (everturn verdict)"),
    'judge' satisfies VerdictSource,
  ),
  contradicted: choiceFlag(
    '<what>',
    CONTRADICTED,
    "with --verdicts human: rollouts that went on after feedback which people's verdict contradicts: drop them " +
      '(default), cut them after that turn, or keep them whole',
  ),
  humanTurns: withDefault(
    choiceFlag('<what>', HUMAN_TURNS, 'rollouts with a person’s message in their context: drop or include them'),
    'drop' satisfies HumanTurnsPolicy,
  ),
};
