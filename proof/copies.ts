// Proves across rollouts that no trajectory is a copy of another, and that equal texts have equal ids. Honest answers may
// be equal (a greedy model, a confident one): a copy is a repetition that chance does not explain. Memory: a hash for each
// turn that is long enough to decide.

import { createHash } from 'node:crypto';
import type { RolloutSettings } from '../domain/settings.ts';
import type { TurnRecord } from '../domain/turn.ts';
import type { CheckedRollout } from './rollout.ts';
import { rolloutFolder, turnFile, ROLLOUT_FILE } from '../storage/record/layout.ts';
import type { OnBreach } from '../storage/store.ts';

/** This many different logprobs, equal to the bit, do not recur by chance after another context. */
const TELLING_VALUES = 16;
/** Below this, a logprob is one of the few values that a confident model gives. */
const SURE = 1e-3;
/** An answer with this logprob (probability e^-40) is not drawn twice from two seeds. */
const IMPROBABLE = -40;
/** This many turns with all times equal to the millisecond do not occur by chance. */
const TELLING_TURNS = 2;
const MOST_TEXTS = 20_000;

interface Seen {
  /** Query and sample: another attempt has the same seeds. */
  readonly of: string;
  readonly context: string;
  readonly path: string;
  readonly folder: string;
  readonly times: string;
}

export function openCopyCheck(onBreach: OnBreach): (rollout: CheckedRollout) => void {
  const answers = new Map<string, Seen>();
  const wholes = new Map<string, string>();
  const texts = new Map<string, { readonly ids: string; readonly path: string }>();

  return ({ id, rollout, turns, end }) => {
    const folder = rolloutFolder(id);
    const of = rolloutFolder({ ...id, attempt: 1 });
    let context = '';
    const stamps: number[] = [rollout.birthTime];
    const parts: string[] = [];
    /** Answers that another rollout has too, by its folder. */
    const met = new Map<string, number>();
    for (const [i, turn] of turns.entries()) {
      if (!turn) return;
      const { record } = turn;
      const path = `${folder}/${turnFile(i + 1)}`;
      if (record.trainable === false) return;
      const added = digest(record.contextIds);
      sameText(record, turns[i - 1]?.record, rollout.query.prompt.kind, added, path);
      context = digest(record.contextIds, context);
      if (record.carried) {
        // A copy by its own account: lineage.ts proves it.
        context = digest(record.outputIds, context);
        continue;
      }
      const answer = digest(record.outputIds, digest(record.logprobs));
      parts.push(answer);
      stamps.push(record.startedAt, record.finishedAt);
      const known = answers.get(answer);
      const times = `${record.startedAt} ${record.finishedAt}`;
      const telling = new Set(record.logprobs.filter((value) => value < -SURE)).size >= TELLING_VALUES;
      if (!known && telling) answers.set(answer, { of, context, path, folder, times });
      if (known) met.set(known.folder, (met.get(known.folder) ?? 0) + 1);
      // A single answer may come from a server that repeats itself.
      if (known && known.context !== context && (known.times === times || met.get(known.folder)! > 1))
        onBreach({ path, problem: `has the ids and logprobs of ${known.path}, to the bit, behind another context` });
      else if (known && known.context === context && known.of !== of && isDrawn(record, rollout.settings))
        onBreach({ path, problem: `has the ids and logprobs of ${known.path}, an answer that is not drawn twice` });
      context = digest(record.outputIds, context);
    }
    if (!end || parts.length < TELLING_TURNS) return;
    const whole = digest([...stamps, end.finishedAt], parts.join());
    const twin = wholes.get(whole);
    if (twin === undefined) wholes.set(whole, folder);
    else
      onBreach({
        path: `${folder}/${ROLLOUT_FILE}`,
        problem: `is a copy of ${twin}: each answer, and each time to the millisecond`,
      });
  };

  /** A tokenizer gives the same ids for the same text. */
  function sameText(
    { turn, contextText }: TurnRecord,
    before: TurnRecord | undefined,
    kind: string,
    ids: string,
    path: string,
  ): void {
    // The ids of a text after a stop token may depend on that token.
    const place = turn === 1 ? kind : before?.finish === 'stop' ? before.outputIds.at(-1) : 'cut';
    const key = `${place} ${createHash('sha256').update(contextText).digest('base64')}`;
    const known = texts.get(key);
    if (known && known.ids !== ids)
      onBreach({ path, problem: `has other context ids than ${known.path}, of the same text` });
    if (known) return;
    if (texts.size >= MOST_TEXTS) texts.delete(texts.keys().next().value!);
    texts.set(key, { ids, path });
  }
}

/** Whether its logprobs are of our own sampler and exclude a second draw. Servers may ignore the seed. */
function isDrawn({ logprobs, server }: TurnRecord, settings: RolloutSettings): boolean {
  if (server !== null) return false;
  const { temperature, topP, topK } = settings;
  const ofTheDraw = settings.logprobs === 'policy' || (temperature === 1 && topP === 1 && topK >= 1e7);
  return temperature > 0 && ofTheDraw && logprobs.reduce((sum, value) => sum + value, 0) < IMPROBABLE;
}

function digest(numbers: readonly number[], before = ''): string {
  return createHash('sha256').update(before).update(Float64Array.from(numbers)).digest('base64');
}
