// Proves across rollouts that no answer is a copy of another, that equal texts have equal ids, and that a version's number is
// one label's. Honest answers may be equal (a greedy model, a confident one): a copy is a repetition that chance does not
// explain. Memory: digests of the latest texts and answers; copies further apart are not found.

import { hash } from 'node:crypto';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { isWhole } from '../../domain/rollout/sampling.ts';
import { isTelling } from '../../domain/rollout/telling.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { openFirstLabels } from '../../domain/weights/weight-version.ts';
import { type Drawn, drawnOf, openProbabilityCheck } from './probabilities.ts';
import { rolloutFolder, turnFile } from '../format/layout.ts';
import type { OnBreach } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

/** An answer with this logprob (probability e^-40) is not drawn twice from two seeds. */
const IMPROBABLE = -40;
const MOST_KEPT = 20_000;

/** One rollout, as far as it is compared with others: digests, no tokens. */
export interface Traits {
  /** Its query and sample, as the folder of the first attempt: another attempt has the same seeds. */
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
  /** Of its ids and logprobs; absent for one that is too short to tell. */
  readonly digest?: string;
  /** Of all tokens before it. */
  readonly context: string;
  readonly drawn?: Drawn | undefined;
  readonly versions: TurnRecord['versions'];
  readonly isDrawn: boolean;
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
    const { logprobs, versions } = record;
    const path = `${rolloutFolder(id)}/${turnFile(i + 1)}`;
    const parent = record.asked ? record.asked.parent : i || null;
    const before = parent === null ? undefined : turns[parent - 1]?.record;
    const text = { key: placeOfText(record, before, rollout), ids: digest(record.contextIds) };
    const context = digest(record.contextIds, parent === null ? '' : ends[parent - 1]);
    const answer = {
      ...(isTelling(logprobs) && { digest: digest(record.outputIds, digest(logprobs)) }),
      ...{ context, drawn: drawnOf(record, rollout.settings), versions },
      isDrawn: isDrawn(record, rollout.settings),
    };
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

export function openCopyCheck(onBreach: OnBreach): (rollout: Traits) => void {
  const probabilities = openProbabilityCheck(onBreach);
  const firstLabels = openFirstLabels();
  const texts = new Map<string, { readonly ids: string; readonly path: string }>();
  const answers = new Map<string, { readonly context: string; readonly of: string; readonly path: string }>();

  return ({ of, turns }) => {
    for (const { path, text, answer } of turns) {
      const say = (problem: string) => onBreach({ path, problem });
      const same = firstOf(texts, text.key, { ids: text.ids, path });
      if (same.ids !== text.ids) say(`has other context ids than ${same.path}, of the same text`);
      if (!answer) continue;
      const { context, drawn, versions, digest: key, isDrawn } = answer;
      if (drawn) probabilities(context, drawn, path);
      for (const { version, versionLabel: label } of versions) {
        const first = firstLabels(version, label);
        if (first !== null) say(`names weights ${label!}; the run has ${first}: both are version ${version}`);
      }
      if (key === undefined) continue;
      const twin = firstOf(answers, key, { context, of, path });
      const what = `has the ids and logprobs of ${twin.path}`;
      if (context !== twin.context) say(`${what}, to the bit, behind another context`);
      else if (of !== twin.of && isDrawn) say(`${what}, an answer that is not drawn twice`);
    }
  };
}

function firstOf<T>(map: Map<string, T>, key: string, one: T): T {
  const known = map.get(key);
  if (known) return known;
  if (map.size >= MOST_KEPT) map.delete(map.keys().next().value!);
  map.set(key, one);
  return one;
}

/** Whether its logprobs exclude a second draw: also a server that ignores seeds draws each answer for itself. */
function isDrawn({ logprobs }: TurnRecord, settings: RolloutSettings): boolean {
  const { temperature } = settings;
  const ofTheDraw = settings.logprobs === 'policy' || (temperature === 1 && isWhole(settings));
  return temperature > 0 && ofTheDraw && logprobs.reduce((sum, value) => sum + value, 0) < IMPROBABLE;
}

/** Of both, in one call: a hash that is made step by step costs more than what it hashes. */
function digest(numbers: readonly number[], before = ''): string {
  const values = new Float64Array(numbers);
  const bytes = new Uint8Array(values.buffer);
  return hash('sha256', before === '' ? bytes : Buffer.concat([Buffer.from(before), bytes]), 'base64');
}
