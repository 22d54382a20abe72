// Proves the chunks stored before their turn was complete: each is sound, they are consecutive while there is no turn,
// and they are the beginning of the turn that the same attempt wrote. A killed worker may leave chunks behind, and a
// worker that was declared dead may write some later: chunks of another attempt prove nothing.

import { concatenated } from '../../domain/rollout/turn-facts.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { chunkFile, turnFile } from '../format/layout.ts';
import { answerProblems } from './answer.ts';
import { differences } from './differences.ts';
import type { CheckedRollout, Problem } from './checked.ts';

export function* chunkProblems({ turns, chunks, files }: CheckedRollout): Generator<Problem> {
  const places = files.flatMap((file) => (file.kind === 'chunk' ? [file] : []));
  for (const turn of new Set(places.map((place) => place.turn))) {
    const numbers = places.filter((place) => place.turn === turn).map(({ chunk }) => chunk);
    const last = Math.max(...numbers);
    const whole = turns[turn - 1]?.record;
    if (turn > turns.length + 1)
      yield [chunkFile(turn, last), `is part of turn ${turn}, and turn ${turns.length} is the last`];
    const before: ChunkRecord[] = [];
    for (let chunk = 1; chunk <= last; chunk++) {
      const file = chunkFile(turn, chunk);
      const found = chunks.get(file)?.record;
      if (!found) {
        if (!whole && turn > turns.length && !numbers.includes(chunk))
          yield [file, `is missing, though part ${last} is there`];
        break;
      }
      before.push(found);
      for (const problem of [...answerProblems(found), ...differences(found, { turn, chunk })]) yield [file, problem];
      if (found.finish === 'stop') yield [file, 'ends by stop, and was kept as a part that is not the last'];
      if (whole?.attempt === found.attempt && !begins(whole, before))
        yield [file, `is not what ${turnFile(turn)} begins with`];
    }
  }
}

function begins(turn: TurnRecord, parts: readonly ChunkRecord[]): boolean {
  const same = (whole: readonly number[], part: readonly number[]) => part.every((value, i) => whole[i] === value);
  return (
    same(turn.outputIds, concatenated(...parts.map(({ outputIds }) => outputIds))) &&
    same(turn.logprobs, concatenated(...parts.map(({ logprobs }) => logprobs)))
  );
}
