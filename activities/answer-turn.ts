// One try at the answer to a turn: the model is asked, and the answer recorded by the turn's name, once. Of two tries that both have
// an answer, the one that is recorded first counts, and both return it.

import { turnSeed } from '../domain/names/ids.ts';
import type { TurnRecord } from '../domain/rollout/turn.ts';
import type { Backend, TextBackend } from '../inference/backend.ts';
import type { Stored } from '../records/store.ts';
import { answerInText, type DueTurn, type NoRoom } from './answer.ts';
import { answerInTokens } from './answer-in-tokens.ts';
import type { ActivityDeps } from './deps.ts';

export type AnswerTurn = (
  backend: Backend,
  turn: Omit<DueTurn, 'seed' | 'declaredWeights' | 'now'>,
) => Promise<Stored<TurnRecord> | NoRoom>;

/** A program that answers for its own functions alone updates no weights. */
export function answeringTurns({ weights, now }: Pick<ActivityDeps, 'now'> & Partial<Pick<ActivityDeps, 'weights'>>) {
  return async function answerTurn(backend, asked) {
    const { store, id, turn, prompt, attempt } = asked;
    const startedAt = now();
    const seed = turnSeed(asked.rollout.settings.seed, id.query, id.sample, prompt.seedName);
    const declaredWeights = async () => (await weights?.ledger(store.folder).read())?.entries ?? [];
    const due: DueTurn = { ...asked, seed, declaredWeights, now };
    const answer = await (givesText(backend) ? answerInText(backend, due) : answerInTokens(backend, due));
    if ('noRoom' in answer) return answer;
    const stored = await store.put('turn', id, {
      turn,
      ...answer.fields,
      seed,
      previous: prompt.previous,
      attempt,
      startedAt,
      // The clock may have been set back meanwhile.
      finishedAt: Math.max(startedAt, now()),
      model: backend.facts.name,
      ...prompt.fieldsOf(answer),
    });
    if (answer.chunks > 0) await store.dropChunks(id, turn);
    return stored;
  } satisfies AnswerTurn;
}

function givesText(backend: Backend): backend is TextBackend {
  return backend.facts.kind === 'text';
}
