// The flags of an export: which rollouts it takes, and how their samples are made.

import { SEQUENCES } from '../formats/exports/index.ts';
import { ADVANTAGES } from '../records/export/group-labels.ts';
import { choiceFlag, flag, required, text, wholeFlag } from './command.ts';
import { OF_PEOPLE, UNDECIDED_FLAG } from './flags.ts';

export const EXPORT_FLAGS = {
  ...OF_PEOPLE,
  format: required(text('<name>', 'what to write')),
  undecided: UNDECIDED_FLAG,
  successRate: text('<least:most>', 'only groups with this share of right rollouts: 0.1:0.9', {
    group: 'Groups (the samples of one query):',
  }),
  dropZeroVariance: flag('leave out groups whose rewards are all equal'),
  minMembers: wholeFlag('<n>', 'leave out groups with fewer rollouts that have a reward', 1),
  advantages: choiceFlag('<kind>', ADVANTAGES, 'per turn: the return less its mean in the group, or that by std'),
  maxTokenGap: wholeFlag('<n>', "rows: mask tokens more than n weight versions older than their row's newest", 0),
  sequences: choiceFlag('<per>', SEQUENCES, 'areal: one id per rollout or per turn (default: what its trainer loads)', {
    group: 'Of single formats:',
  }),
  texts: flag('rows: also messages, answers, feedback, times and models'),
};
