// The model behind the hostile server: what it says follows from the context and the seed, so that a run gives the same
// records whatever died on the way, and two samples of a problem think differently before they answer. It takes its time. What start-up asks is answered by the toy model, whose
// probabilities are those of a model.

import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Engine, type Kind, type Run, toyEngine } from './toy-engine.ts';

export interface Canned {
  readonly kind: Kind;
  readonly vocabSize: number;
  /** The model's context. */
  readonly length: number;
  /** What it may say, as ids without a stop token. */
  readonly answers: readonly (readonly number[])[];
  /** On average; each answer takes half to one and a half of it. */
  readonly latencyMs: number;
}

const TICK_MS = 50;
const THOUGHT = 10;

export function hostileEngine({ kind, vocabSize, length, answers, latencyMs }: Canned): Engine {
  const toy = toyEngine({ kind, vocabSize, length });
  const stopped = new Set<string>();
  const byLength = answers.toSorted((a, b) => a.length - b.length);
  /** What stands before the longest answer alone. */
  const words = byLength.at(-1)!.slice(0, -byLength[0]!.length);
  return {
    ...toy,
    abort(id) {
      if (id !== null) stopped.add(id);
      return 1;
    },
    async generate(ask): Promise<Run> {
      if (ask.max === 1 || ask.draw.top > 0) return toy.generate(ask);
      const hash = hashOf([...ask.context, ask.draw.seed]);
      const part = (i: number) => Number.parseInt(hash.slice(i * 8, i * 8 + 8), 16);
      for (let left = latencyMs * (0.5 + part(1) / 2 ** 32); left > 0; left -= TICK_MS) {
        await sleep(Math.min(left, TICK_MS));
        if (ask.gone() || stopped.delete(ask.id)) return { id: ask.id, outputs: [], finish: 'abort', spans: [] };
      }
      const said = answers[part(0) % answers.length]!;
      const thought = Array.from(hash.slice(-THOUGHT), (digit) => words[Number.parseInt(digit, 16) % words.length]!);
      const ids = [...thought, ...said, ...ask.stops.slice(0, 1)].slice(0, ask.max);
      const logprobs = toy.contextLogprobs([...ask.context, ...ids], ask.context.length - 1).slice(1);
      const outputs = ids.map((id, i) => ({ id, logprob: logprobs[i]!, top: [], kept: [id], keptLogprob: 0 }));
      const finish = ask.stops.includes(ids.at(-1)!) ? 'stop' : 'length';
      return { id: ask.id, outputs, finish, spans: [{ version: toy.version, start: 0, end: outputs.length }] };
    },
  };
}

export function hashOf(ids: readonly number[]): string {
  return createHash('sha256').update(JSON.stringify(ids)).digest('hex');
}
