// A run whose every text is hostile: ids, questions, solutions, answers, contexts, reasons, found answers, servers,
// failures, the model's name and the data set's. Each payload is in it, in one place or another.

import type { Query } from '../../domain/query/query.ts';
import type { TurnRecord } from '../../domain/rollout/turn.ts';
import type { Store } from '../../records/store.ts';
import { hashQueries } from '../../records/run/queries.ts';
import { aQuery, aRunRecord, play, RUN, someSettings, withRecords } from '../records/play.ts';
import { PAYLOADS } from './payloads.ts';

/** Texts that one rollout holds. */
const EACH = 10;

export const HOSTILE_QUERIES: readonly Query[] = Array.from({ length: Math.ceil(PAYLOADS.length / EACH) }, (_, i) => {
  const [id, question, solution] = PAYLOADS.slice(i * EACH);
  // An id has no control characters, and no path segment `..`.
  return aQuery(`${i} ${id!.replace(/\p{C}/gu, '')}`, {
    prompt: { kind: 'text', text: question ?? id! },
    solutions: [solution ?? id!],
  });
});

export async function playHostile(store: Store): Promise<void> {
  const settings = someSettings({ model: `openai:${PAYLOADS[0]}`, apiKeyEnv: PAYLOADS[1]!, tokenizer: PAYLOADS[2]! });
  await store.putQueries(HOSTILE_QUERIES);
  const record = aRunRecord(RUN, settings, {
    origins: Object.fromEntries(Object.keys(settings).map((key) => [key, 'flag' as const])),
    dataset: { path: `x/${PAYLOADS[3]!.replaceAll('/', '\\')}`, ...(await hashQueries(HOSTILE_QUERIES)), refused: 0 },
    versions: { everturn: PAYLOADS[4]!, node: PAYLOADS[5]! },
  });
  await store.put('run', null, record);
  for (const [index, query] of HOSTILE_QUERIES.entries()) {
    const own = PAYLOADS.slice(index * EACH + 3, index * EACH + EACH);
    const at = (i: number): string => own[i % own.length] ?? PAYLOADS[i]!;
    const reasoned = withRecords(store, {
      verdict: (verdict) => ({
        ...verdict,
        reason: at(0),
        extracted: at(1),
        ...(index % 2 === 1 && { answer: at(6) }),
      }),
      end: (end) => ({ ...end, failure: end.failure && { ...end.failure, reason: at(5), message: at(6) } }),
    });
    await play(reasoned, {
      query,
      index,
      verdicts: ['wrong', 'right'],
      stop: index % 3 === 0 ? 'failed' : 'max-turns',
      turn: (turn) => ({
        ...(index % 2 === 1 && called(turn, at)),
        outputText: at(2),
        answer: at(2),
        contextText: at(3),
        server: at(4),
        textLogprobs: [...at(2)].map((token, i) => ({ token, logprob: -0.1 * i })),
        outputIds: [],
        logprobs: [],
        versions: [],
        trainable: false,
      }),
    });
  }
}

/** A call of an agent's program. */
function called(turn: number, at: (i: number) => string): Partial<TurnRecord> {
  const calls = [{ name: at(3), arguments: at(4) }];
  return {
    asked: {
      ...{ call: '0'.repeat(18), hash: 'a'.repeat(64), occurrence: turn, dialect: '/chat/completions', parent: null },
      ...{ branch: null, differsAt: null, shared: 0, limits: {}, flags: [at(5)] },
      messages: [
        { role: 'assistant', text: at(0), calls: [{ id: at(1), name: at(1), arguments: { [at(0)]: at(2) } }] },
      ],
      tools: [{ name: at(6), description: at(0), parameters: {} }],
    },
    reply: { text: at(2), reasoning: at(1), calls, stopped: at(6) },
  };
}
