// An endpoint in the shape of OpenAI's chat that gives one text to every request, after as long as a test says. Counts the
// turns that it was asked for: those answered, and those whose asker went away. Loopback only.

import { listenHttp } from './http-listener.ts';

export interface TextServer {
  /** As `--model` takes it. */
  readonly model: string;
  readonly asked: () => number;
  readonly answered: () => number;
  readonly left: () => number;
  /** Awaited before an answer to a turn. */
  wait: () => Promise<unknown>;
  text: string;
  close(): void;
}

/** In the context of each turn that is counted: a question about the server itself has none. */
const QUESTION = 'One and one?';
const SOLUTION = '2';
/** Rows that ask for it: q0, q1, … */
export const sums = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ query_id: `q${n}`, question: QUESTION, solutions: [SOLUTION] }));

export async function textServer(
  text = `It is \\boxed{${SOLUTION}}.`,
  wait = (): Promise<unknown> => Promise.resolve(),
): Promise<TextServer> {
  const count = { asked: 0, answered: 0, left: 0 };
  const { url, close } = await listenHttp((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => (body += part));
    request.on('end', async () => {
      const send = (reply: object) => response.setHeader('content-type', 'application/json').end(JSON.stringify(reply));
      if (request.url?.endsWith('/models')) return send({ object: 'list', data: [{ id: 'text', object: 'model' }] });
      const message = { role: 'assistant', content: self.text };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const answer = { id: 'x', object: 'chat.completion', model: 'text', choices };
      if (!body.includes(QUESTION)) return send(answer);
      count.asked++;
      response.once('close', () => count[response.writableFinished ? 'answered' : 'left']++);
      await self.wait();
      if (!response.destroyed) send(answer);
    });
  });
  const self: TextServer = {
    model: `openai:${url}/v1#text`,
    asked: () => count.asked,
    answered: () => count.answered,
    left: () => count.left,
    wait,
    text,
    close,
  };
  return self;
}
