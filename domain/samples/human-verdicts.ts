// A trajectory under people's verdicts instead of the judge's: success, r_t and G_t are computed again, and an undecided
// turn that a person decided makes its rollout complete. Pure; the records stay as they are.
//
// A later turn answered the judge's feedback. If people say otherwise of an earlier turn, that feedback was untrue of the
// verdict that is exported: such a rollout is left out, cut after that turn, or taken whole, as asked.

import { scoredCalls } from '../rollout/call-credit.ts';
import { scoredTurns } from '../rollout/ending.ts';
import { agreedVerdict, type NamedAct, standingVerdicts } from '../run/steering.ts';
import type { EndRecord, PlayedTurn, Trajectory } from '../rollout/trajectory.ts';

export const VERDICT_SOURCES = ['judge', 'human'] as const;
/** `human`: people's verdicts where there are any, else the judge's. */
export type VerdictSource = (typeof VERDICT_SOURCES)[number];

export const CONTRADICTED = ['drop', 'truncate', 'keep'] as const;
export type ContradictedPolicy = (typeof CONTRADICTED)[number];

const PEOPLE_LEAVE_OUT = ['people-disagree', 'feedback-contradicts'] as const;
export type PeopleLeaveOut = (typeof PEOPLE_LEAVE_OUT)[number];

/** `acts`: those on this rollout. */
export function applyHumanVerdicts(
  played: Trajectory,
  acts: readonly NamedAct[],
  contradicted: ContradictedPolicy,
): Trajectory | PeopleLeaveOut {
  const { rollout, end } = played;
  if (!end || (end.outcome !== 'complete' && end.outcome !== 'undecided')) return played;
  const turns: PlayedTurn[] = [];
  let changed = false;
  for (const turn of played.turns) {
    const humanVerdict = agreedVerdict(standingVerdicts(acts, turn.record.turn));
    if (humanVerdict === 'disagree') return 'people-disagree';
    const differs = humanVerdict !== undefined && turn.verdict !== null && humanVerdict !== turn.verdict.verdict;
    if (!differs) {
      turns.push(turn);
      continue;
    }
    changed = true;
    // A person says right or wrong; an environment's own rewards were of another verdict.
    const { reward: _, base: __, ...reply } = turn.verdict!;
    turns.push({ ...turn, verdict: { ...reply, verdict: humanVerdict, reason: 'human' } });
    if (turn.record.turn === played.turns.length || contradicted === 'keep') continue;
    if (contradicted === 'drop') return 'feedback-contradicts';
    break;
  }
  return changed ? { rollout, turns, end: endOf(turns, end, played) } : played;
}

function endOf(turns: readonly PlayedTurn[], end: EndRecord, { rollout }: Trajectory): EndRecord {
  const complete = turns.every(({ verdict }) => verdict && verdict.verdict !== 'undecided');
  const verdicts = turns.map(({ verdict }) => verdict ?? ({ verdict: 'undecided' } as const));
  const stop = turns.length === end.turns.length ? end.stopReason : 'max-turns';
  const { program } = rollout.settings;
  const records = turns.map(({ record }) => record);
  const { success, turnRewards, returns } = program
    ? scoredCalls(records, verdicts, stop, rollout.settings, end.abandoned)
    : scoredTurns(verdicts, stop, rollout.settings);
  return {
    ...end,
    outcome: complete ? 'complete' : 'undecided',
    turnRewards,
    returns: complete ? returns : [],
    success,
    turns: end.turns.slice(0, turns.length),
  };
}
