// Proves across rollouts that no trajectory is a copy of another, that equal texts have equal ids, and that a version's
// number is one label's. Honest answers may be equal (a greedy model, a confident one): a copy is a repetition that chance
// does not explain. Memory: bounded; a row for each turn that is long enough to decide may wait in a file.

import { hash } from 'node:crypto';
import type { RolloutSettings } from '../../domain/run/settings.ts';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import { isWhole } from '../../domain/rollout/sampling.ts';
import { isTelling } from '../../domain/rollout/telling.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { openFirstLabels } from '../../domain/weights/weight-version.ts';
import { openGroups } from './groups.ts';
import { type Drawn, drawnOf, openProbabilityCheck } from './probabilities.ts';
import { rolloutFolder, turnFile, ROLLOUT_FILE } from '../format/layout.ts';
import type { OnBreach } from '../store.ts';
import type { CheckedRollout } from './checked.ts';

/** An answer with this logprob (probability e^-40) is not drawn twice from two seeds. */
const IMPROBABLE = -40;
/** This many turns with all times equal to the millisecond do not occur by chance. */
const TELLING_TURNS = 2;
const MOST_TEXTS = 20_000;

/** One rollout, as far as it is compared with others: digests, no tokens. */
export interface Traits {
  readonly folder: string;
  /** Its query and sample, as the folder of the first attempt: another attempt has the same seeds. */
  readonly of: string;
  readonly turns: readonly TurnTraits[];
  /** Of all its answers and times; absent for one that is too short to decide. */
  readonly whole?: string;
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
export function traitsOf({ id, rollout, turns, end }: CheckedRollout): Traits {
  const folder = rolloutFolder(id);
  const traits: TurnTraits[] = [];
  const found = { folder, of: rolloutFolder({ ...id, attempt: 1 }), turns: traits };
  let context = '';
  const stamps: number[] = [rollout.birthTime];
  const parts: string[] = [];
  for (const [i, turn] of turns.entries()) {
    if (!turn || turn.record.trainable === false) return found;
    const { record } = turn;
    const path = `${folder}/${turnFile(i + 1)}`;
    const text = { key: placeOfText(record, turns[i - 1]?.record, rollout), ids: digest(record.contextIds) };
    context = digest(record.contextIds, context);
    if (record.carried) traits.push({ path, text });
    else {
      const answer = digest(record.outputIds, digest(record.logprobs));
      parts.push(answer);
      stamps.push(record.startedAt, record.finishedAt);
      const own = isDrawn(record, rollout.settings);
      const { logprobs, versions } = record;
      const drawn = drawnOf(record, rollout.settings);
      const reported = isTelling(logprobs) ? { digest: answer } : {};
      traits.push({ path, text, answer: { ...reported, context, drawn, versions, isDrawn: own } });
    }
    context = digest(record.outputIds, context);
  }
  if (!end || parts.length < TELLING_TURNS) return found;
  return { ...found, whole: digest([...stamps, end.finishedAt], parts.join()) };
}

/** The ids of a text after a stop token may depend on that token. */
function placeOfText(
  { turn, contextText }: TurnRecord,
  before: TurnRecord | undefined,
  { query }: RolloutRecord,
): string {
  const place = turn === 1 ? query.prompt.kind : before?.finish === 'stop' ? before.outputIds.at(-1) : 'cut';
  return `${place} ${hash('sha256', contextText, 'base64')}`;
}

export interface CopyCheck {
  add(rollout: Traits): void;
  /** After the last rollout. */
  all(): void;
}

export function openCopyCheck(onBreach: OnBreach): CopyCheck {
  const answers = openGroups();
  const wholes = openGroups();
  const probabilities = openProbabilityCheck(onBreach);
  const firstLabels = openFirstLabels();
  const texts = new Map<string, { readonly ids: string; readonly path: string }>();

  return { add, all };

  function add({ folder, of, turns, whole }: Traits): void {
    for (const { path, text, answer } of turns) {
      sameText(text.key, text.ids, path);
      if (!answer) continue;
      const { context, drawn, versions, digest: key, isDrawn } = answer;
      if (drawn) probabilities(context, drawn, path);
      for (const { version, versionLabel: label } of versions) {
        const first = firstLabels(version, label);
        if (first !== null)
          onBreach({ path, problem: `names weights ${label!}; the run has ${first}: both are version ${version}` });
      }
      if (key !== undefined) answers.add(key, [path, of, context, isDrawn ? 'drawn' : '']);
    }
    if (whole !== undefined) wholes.add(whole, [folder]);
  }

  function all(): void {
    for (const [[first, firstOf, firstContext] = [], ...others] of answers.several()) {
      for (const [path = '', of, context, drawn] of others) {
        const twin = `has the ids and logprobs of ${first}`;
        if (context !== firstContext) onBreach({ path, problem: `${twin}, to the bit, behind another context` });
        else if (of !== firstOf && drawn) onBreach({ path, problem: `${twin}, an answer that is not drawn twice` });
      }
    }
    for (const [[first] = [], ...others] of wholes.several()) {
      const problem = `is a copy of ${first}: each answer, and each time to the millisecond`;
      for (const [folder] of others) onBreach({ path: `${folder}/${ROLLOUT_FILE}`, problem });
    }
  }

  /** A tokenizer gives the same ids for the same text. */
  function sameText(key: string, ids: string, path: string): void {
    const known = texts.get(key);
    if (known && known.ids !== ids)
      onBreach({ path, problem: `has other context ids than ${known.path}, of the same text` });
    if (known) return;
    if (texts.size >= MOST_TEXTS) texts.delete(texts.keys().next().value!);
    texts.set(key, { ids, path });
  }
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
