// Proves the chunks stored before their turn was complete: each is sound, they are consecutive while there is no turn,
// and they are the beginning of the turn that the same attempt wrote. A killed worker may leave chunks behind, and a
// worker that was declared dead may write some later: chunks of another attempt prove nothing.

import type { RolloutId } from '../../domain/run/ids.ts';
import { concatenated } from '../../domain/rollout/trajectory.ts';
import type { ChunkRecord, TurnRecord } from '../../domain/rollout/turn.ts';
import { answerProblems } from './turn.ts';
import { chunkFile, turnFile } from '../record/layout.ts';
import type { Store, Stored } from '../store.ts';

type Say = (file: string, problem: string) => void;
type Read = <T extends object>(
  file: string,
  kind: 'chunk',
  get: Promise<Stored<T> | undefined>,
) => Promise<Stored<T> | undefined>;

export interface ChunkPlace {
  readonly turn: number;
  readonly chunk: number;
}

export async function checkChunks(
  store: Store,
  id: RolloutId,
  places: readonly ChunkPlace[],
  turns: readonly (Stored<TurnRecord> | undefined)[],
  read: Read,
  say: Say,
): Promise<void> {
  for (const turn of new Set(places.map((place) => place.turn))) {
    const numbers = places.filter((place) => place.turn === turn).map(({ chunk }) => chunk);
    const last = Math.max(...numbers);
    const whole = turns[turn - 1]?.record;
    if (turn > turns.length + 1)
      say(chunkFile(turn, last), `is part of turn ${turn}, and turn ${turns.length} is the last`);
    const before: ChunkRecord[] = [];
    for (let chunk = 1; chunk <= last; chunk++) {
      const file = chunkFile(turn, chunk);
      const found = numbers.includes(chunk)
        ? (await read<ChunkRecord>(file, 'chunk', store.getChunk(id, turn, chunk)))?.record
        : undefined;
      if (!found) {
        if (!whole && turn > turns.length && !numbers.includes(chunk))
          say(file, `is missing, though part ${last} is there`);
        break;
      }
      before.push(found);
      for (const problem of answerProblems(found)) say(file, problem);
      if (found.turn !== turn || found.chunk !== chunk)
        say(file, `says it is part ${found.chunk} of turn ${found.turn}`);
      if (found.finish === 'stop') say(file, 'ends by stop, and was kept as a part that is not the last');
      if (whole?.attempt === found.attempt && !begins(whole, before))
        say(file, `is not what ${turnFile(turn)} begins with`);
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
