// An endpoint of chat completions that answers once with an oddity, and a backend that asks it.

import { DEFAULT_SAMPLING } from '../../domain/rollout/sampling.ts';
import { createBackend } from '../../inference/index.ts';
import type { TextReply, TextRequest } from '../../inference/backend.ts';
import { undisturbed } from '../contract/backend.ts';
import { asText } from './kinds.ts';
import { modelServer, type Seen } from './model-server.ts';

export type Body = Seen['body'];

export interface OddChat {
  ask(changes?: Partial<TextRequest>): Promise<TextReply>;
  /** The next reply. */
  says(body: unknown, status?: number): void;
  /** The words with which requests are refused from now on; null: one is answered. */
  refuses(refusal: (body: Body) => string | null): void;
  /** The bodies of the requests, without those that ask about the endpoint. */
  sent(): Body[];
  close(): Promise<void>;
}

export async function oddChat(): Promise<OddChat> {
  const server = await modelServer({ kind: 'openai' });
  const options = { tokenizer: null, log: () => undefined };
  const backend = asText(await createBackend(`openai:${server.url}#m`, options));
  const begun = server.seen.length;
  return {
    ask: (changes = {}) =>
      backend.generate(
        {
          requestId: 'run/q/0/1',
          messages: [{ role: 'user', content: 'What is 2 + 3?' }],
          maxNewTokens: 4096,
          sampling: DEFAULT_SAMPLING,
          seed: 2 ** 52 + 7,
          ...changes,
        },
        undisturbed(),
      ),
    says: (body, status = 200) => server.fail({ status, body: body as object }),
    refuses(refusal) {
      server.instead = (_, body) => {
        const words = refusal(body);
        return words === null ? null : refused(words);
      };
    },
    sent: () => server.seen.slice(begun).map(({ body }) => body),
    async close() {
      await backend.close();
      await server.close();
    },
  };
}

export const choice = (message: unknown, finish_reason: unknown = 'stop', more = {}) => ({
  choices: [{ index: 0, message, finish_reason, ...more }],
});
export const refused = (message: string, more = {}) => ({ status: 400, body: { error: { message, ...more } } });
