// The verdicts of another judge on a run's answers, and of people: statistics under the first, and how often either contradicts the
// run's own judge.

import type { RolloutSummary, TurnSummary } from '../domain/rollout/rollout-summary.ts';
import type { VerdictValue } from '../domain/rollout/verdict.ts';
import { agreedVerdict, standingVerdicts } from '../domain/run/steering.ts';
import { rolloutFolder } from '../records/format/layout.ts';
import { readJudgements } from '../records/run/judgements.ts';
import { readActs } from '../records/run/steering.ts';
import type { Store } from '../records/store.ts';
import { type Estimate, shareEstimate } from '../domain/statistics/estimate.ts';

type OfTurn = Pick<RolloutSummary, 'query' | 'sample' | 'attempt'> & { readonly turn: number };
type Verdicts = (of: OfTurn) => VerdictValue | undefined;

const keyOf = ({ query, sample, attempt, turn }: OfTurn): string => JSON.stringify([query, sample, attempt, turn]);

/** Of the file `judgements/<name>.jsonl`. Memory: some hundred bytes a judged turn. */
export async function verdictsNamed(store: Store, name: string): Promise<Verdicts> {
  const verdicts = new Map<string, VerdictValue>();
  for await (const row of readJudgements(store, name)) verdicts.set(keyOf(row), row.verdict);
  return (of) => verdicts.get(keyOf(of));
}

/** What all people who judged a turn say of it, where they agree. */
async function verdictsOfPeople(store: Store): Promise<Verdicts> {
  // A damaged act is for `check` to name.
  const acts = await readActs(store, () => {});
  return (of) => {
    const agreed = agreedVerdict(standingVerdicts(acts.get(rolloutFolder(of)) ?? [], of.turn));
    return agreed === 'disagree' ? undefined : agreed;
  };
}

const successOf = ({ verdict }: TurnSummary) => (verdict === 'right' ? 1 : verdict === 'wrong' ? 0 : null);
const isAnswer = ({ verdict }: TurnSummary): boolean => verdict !== 'called';

/** The rollout as the other judge sees it: an answer that it did not judge is as unknown. Its rewards stay the run's. */
export function judgedBy(rollout: RolloutSummary, verdicts: Verdicts): RolloutSummary {
  const turns = rollout.turns.map((turn) => {
    if (!isAnswer(turn) || turn.verdict === null) return turn;
    return { ...turn, verdict: verdicts({ ...rollout, turn: turn.turn }) ?? ('undecided' as const) };
  });
  const success = turns.filter(isAnswer).map(successOf);
  return { ...rollout, turns, success };
}

/** The share of answers, judged by both, on which the run's judge is contradicted: by people, or by the other judge. Null: none. */
function contradictedBy(rollouts: readonly RolloutSummary[], verdicts: Verdicts, who: string): Estimate | null {
  const byQuery = new Map<string, number[]>();
  for (const rollout of rollouts)
    for (const { turn, verdict: own } of rollout.turns) {
      const other = verdicts({ ...rollout, turn });
      if (!other || other === 'undecided' || (own !== 'right' && own !== 'wrong')) continue;
      byQuery.set(rollout.query, [...(byQuery.get(rollout.query) ?? []), own === other ? 0 : 1]);
    }
  if (byQuery.size === 0) return null;
  const definition = `answers on which ${who} and the run's judge disagree, of those that both call right or wrong`;
  return shareEstimate({ name: `judge contradicted by ${who}`, unit: 'answers', leftOut: 0, definition }, [
    ...byQuery.values(),
  ]);
}

export const contradictedByPeople = async (store: Store, rollouts: readonly RolloutSummary[]) =>
  contradictedBy(rollouts, await verdictsOfPeople(store), 'people');

export const contradictedByJudgements = (name: string, verdicts: Verdicts, rollouts: readonly RolloutSummary[]) =>
  contradictedBy(rollouts, verdicts, `judgements ${name}`);
