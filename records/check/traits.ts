// The traits of a rollout that are compared with those of all others: equal texts have equal ids, a version's number is one
// label's, and one context's tokens have one model's probabilities (probabilities.ts). Memory: digests of the latest texts.

import { hash } from 'node:crypto';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { openFirstLabels } from '../../domain/weights/weight-version.ts';
import { type Drawn, drawnOf, openProbabilityCheck } from './probabilities.ts';
import { rolloutFolder, turnFile } from '../format/layout.ts';
import type { OnBreach } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

const MOST_KEPT = 20_000;

/** One rollout, as far as it is compared with others: digests, no tokens. */
export interface Traits {
  /** Its query and sample, as the folder of the first attempt. */
  readonly of: string;
  readonly turns: readonly TurnTraits[];
}

interface TurnTraits {
  readonly path: string;
  /** The place and digest of the text that this turn added, and the digest of its ids. */
  readonly text: { readonly key: string; readonly ids: string };
  /** Absent for a copy by its own account: carried.ts proves it. */
  readonly answer?: Answer;
}

interface Answer {
  /** The hash of all tokens before it. */
  readonly context: string;
  readonly drawn?: Drawn | undefined;
  readonly versions: TurnRecord['versions'];
}

/** Up to the first turn that is missing or has no tokens. */
export function traitsOf({ id, rollout, turns }: CheckedRollout): Traits {
  const traits: TurnTraits[] = [];
  const found = { of: rolloutFolder({ ...id, attempt: 1 }), turns: traits };
  /** By turn, of all tokens up to its end. */
  const ends: string[] = [];
  for (const [i, turn] of turns.entries()) {
    if (!turn || turn.record.trainable === false) return found;
    const { record } = turn;
    const path = `${rolloutFolder(id)}/${turnFile(i + 1)}`;
    const parent = record.asked ? record.asked.parent : i || null;
    const before = parent === null ? undefined : turns[parent - 1]?.record;
    const text = { key: placeOfText(record, before, rollout), ids: digest(record.contextIds) };
    const context = digest(record.contextIds, parent === null ? '' : ends[parent - 1]);
    const answer = { context, drawn: drawnOf(record, rollout.settings), versions: record.versions };
    traits.push({ path, text, ...(!record.carried && { answer }) });
    ends.push(digest(record.outputIds, context));
  }
  return found;
}

/** The ids of a text after a stop token may depend on that token. */
function placeOfText(
  { contextText, asked }: TurnRecord,
  before: TurnRecord | undefined,
  { query }: RolloutRecord,
): string {
  const place = !before
    ? asked
      ? 'messages'
      : query.prompt.kind
    : before?.finish === 'stop'
      ? before.outputIds.at(-1)
      : 'cut';
  return `${place} ${hash('sha256', contextText, 'base64')}`;
}

export function openTraitsCheck(onBreach: OnBreach): (rollout: Traits) => void {
  const probabilities = openProbabilityCheck(onBreach);
  const firstLabels = openFirstLabels();
  const texts = new Map<string, { readonly ids: string; readonly path: string }>();

  return ({ turns }) => {
    for (const { path, text, answer } of turns) {
      const say = (problem: string) => onBreach({ path, problem });
      const first = texts.get(text.key);
      if (first && first.ids !== text.ids) say(`has other context ids than ${first.path}, of the same text`);
      if (!first) {
        if (texts.size >= MOST_KEPT) texts.delete(texts.keys().next().value!);
        texts.set(text.key, { ids: text.ids, path });
      }
      if (!answer) continue;
      const { context, drawn, versions } = answer;
      if (drawn) probabilities(context, drawn, path);
      for (const { version, versionLabel: label } of versions) {
        const named = firstLabels(version, label);
        if (named !== null) say(`names weights ${label!}; the run has ${named}: both are version ${version}`);
      }
    }
  };
}

/** One call for both: a hash that is made step by step costs more than what it hashes. */
function digest(numbers: readonly number[], before = ''): string {
  const values = new Float64Array(numbers);
  const bytes = new Uint8Array(values.buffer);
  return hash('sha256', before === '' ? bytes : Buffer.concat([Buffer.from(before), bytes]), 'base64');
}
