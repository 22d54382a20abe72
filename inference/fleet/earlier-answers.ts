// Refuses what contradicts an earlier answer of the fleet: the answer of another context to the last logprob (a cache, a
// router that confuses requests), and weights that have the number of another version of the run. Holds digests of the
// latest answers, no tokens. The records of other workers are compared by `check`.

import { hash } from 'node:crypto';
import { short } from '../../domain/text/foreign-text.ts';
import type { VersionSpan } from '../../domain/rollout/turn.ts';
import { type FirstLabels, openFirstLabels } from '../../domain/weights/weight-version.ts';
import { badReply } from '../http/http-errors.ts';

const ANSWERS_KEPT = 20_000;
const RUNS_KEPT = 64;

interface GivenAnswer {
  readonly url: string;
  /** `<run>/<query>/<sample>/<turn>`. */
  readonly requestId: string;
  readonly context: unknown;
  readonly tokens: unknown;
  readonly logprobs: readonly number[];
  readonly versions: readonly VersionSpan[];
}

export function openEarlierAnswers(): (answer: GivenAnswer) => void {
  const contexts = new Map<string, string>();
  const labels = new Map<string, FirstLabels>();

  return ({ url, requestId, context, tokens, logprobs, versions }) => {
    const place = { url, path: '', secret: null };
    const run = requestId.split('/')[0]!;
    const labelsOfRun = labels.get(run) ?? openFirstLabels();
    keep(labels, run, labelsOfRun, RUNS_KEPT);
    for (const { version, versionLabel: label } of versions) {
      const first = labelsOfRun(version, label);
      if (first === null) continue;
      const [one, other] = [label!, first].map((each) => short(JSON.stringify(each), 100));
      throw badReply(`names its weights ${one}, and the run has ${other}: both are version ${version}`, place, {
        flaw: 'two weight versions of one number',
      });
    }
    if (!isUnrepeatable(logprobs)) return;
    const digest = digestOf([tokens, logprobs]);
    const [known, own] = [contexts.get(digest), digestOf(context)];
    if (known !== undefined && known !== own) {
      const flaw = 'the answer of another context';
      throw badReply('gave an answer that it gave before, to the last logprob, after another context', place, { flaw });
    }
    keep(contexts, digest, own, ANSWERS_KEPT);
  };
}

function keep<T>(map: Map<string, T>, key: string, value: T, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > most) map.delete(map.keys().next().value!);
}

/** Of token ids their bytes, which are a tenth of the work for a long context. */
function digestOf(value: unknown): string {
  const areIds = Array.isArray(value) && value.every(Number.isInteger);
  return hash('sha256', areIds ? new Uint8Array(Uint32Array.from(value).buffer) : JSON.stringify(value), 'base64');
}

const TELLING_TOKENS = 12;
/** Each of these has ten bits or more, also in bfloat16. */
const TELLING_VALUES = 6;
/** Above this, a logprob is one of the few values that a confident model gives. */
const SURE = -1e-3;

function isUnrepeatable(logprobs: readonly number[]): boolean {
  if (logprobs.length < TELLING_TOKENS) return false;
  const values = new Set<number>();
  for (const logprob of logprobs) if (logprob < SURE && values.add(logprob).size >= TELLING_VALUES) return true;
  return false;
}
