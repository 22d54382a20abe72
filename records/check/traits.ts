// The traits of a rollout that are compared with those of all others: equal texts have equal ids, a version's number is one
// label's, and one context's tokens have one model's probabilities. Memory: digests of the latest texts.

import { hash } from 'node:crypto';
import type { RolloutRecord } from '../../domain/rollout/trajectory.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import { openFirstLabels } from '../../domain/weights/weight-version.ts';
import { rolloutFolder } from '../format/layout.ts';
import type { OnBreach } from '../store.ts';
import type { CheckedRollout } from './checked.ts';
import type { RolloutSettings } from '../../domain/rollout/settings.ts';
import { isUntruncated } from '../../domain/rollout/sampling.ts';
import { fileOf } from '../format/rollout-file.ts';

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
  /** Absent for a copy by its own account: end.ts proves it. */
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
    const path = `${rolloutFolder(id)}/${fileOf('turn', i + 1)}`;
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

/** Logits that differ by 0.4 between two computations, far more than bfloat16's, change a probability by 0.1. */
const PROBABILITY_NOISE = 0.1;
const TOKENS_COMPARED = 64;
const CONTEXTS_KEPT = 2000;

/** The beginning of an answer, as sampled from one distribution. */
export interface Drawn {
  readonly from: string;
  readonly ids: readonly number[];
  readonly logprobs: readonly number[];
}

/** Undefined where logprobs depend on more than context and weights: a cut decides by noise which tokens are left, a form by its grammar. */
function drawnOf(record: TurnRecord, settings: RolloutSettings): Drawn | undefined {
  const { temperature } = settings;
  const cut = !isUntruncated(settings);
  const [span] = record.versions;
  if (record.asked?.limits.form) return undefined;
  if (temperature === 0 || (cut && record.logprobsFound !== 'raw') || !span) return undefined;
  const end = Math.min(span.end, TOKENS_COMPARED);
  const from = JSON.stringify([span.versionLabel ?? span.version, temperature]);
  return { from, ids: record.outputIds.slice(0, end), logprobs: record.logprobs.slice(0, end) };
}

/** The tokens seen after one context. */
interface Place {
  sum: number;
  readonly next: Map<number, Branch>;
}
interface Branch {
  readonly probability: number;
  readonly path: string;
  /** The sample that began it, until another one shares it. */
  readonly first: Drawn;
  place?: Place;
}

export function openProbabilityCheck(onBreach: OnBreach): (context: string, drawn: Drawn, path: string) => void {
  const roots = new Map<string, Place>();
  return (context, drawn, path) => {
    const key = `${context} ${drawn.from}`;
    const root = roots.get(key) ?? newPlace();
    roots.delete(key);
    roots.set(key, root);
    if (roots.size > CONTEXTS_KEPT) roots.delete(roots.keys().next().value!);
    const problem = added(root, drawn, path);
    if (problem !== null) onBreach({ path, problem });
  };
}

function added(root: Place, drawn: Drawn, path: string): string | null {
  let place = root;
  for (const [i, id] of drawn.ids.entries()) {
    const probability = Math.exp(drawn.logprobs[i]!);
    const known = place.next.get(id);
    if (!known) {
      begin(place, { probability, path, first: drawn }, id);
      if (place.sum <= 1 + PROBABILITY_NOISE) return null;
      const n = place.next.size;
      return `has a token ${i + 1} that makes ${place.sum.toFixed(3)} of the probabilities of ${n} tokens after one context, of one version`;
    }
    if (Math.abs(known.probability - probability) > PROBABILITY_NOISE) {
      const [one, other] = [probability, known.probability].map((value) => value.toFixed(3));
      return `gives its token ${i + 1} the probability ${one}; ${known.path} gives it ${other} after the same context, of one version`;
    }
    place = known.place ??= after(known, i);
  }
  return null;
}

const newPlace = (): Place => ({ sum: 0, next: new Map() });

function begin(place: Place, branch: Branch, id: number): void {
  place.next.set(id, branch);
  place.sum += branch.probability;
}

/** The place behind a branch's token `i`, with the next token of the sample that began it. */
function after({ first, path }: Branch, i: number): Place {
  const place = newPlace();
  const id = first.ids[i + 1];
  if (id !== undefined) begin(place, { probability: Math.exp(first.logprobs[i + 1]!), path, first }, id);
  return place;
}
