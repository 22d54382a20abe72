// A mock judge: a chat completions server whose replies are scripted, and which records what it was sent.

import type { ServerResponse } from 'node:http';
import { listenHttp } from '../../support/http-listener.ts';

export interface Asked {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: {
    readonly model: string;
    readonly temperature: number;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
  };
}

export interface JudgeServer {
  /** With its path, as a rubric names it. */
  readonly url: string;
  readonly asked: readonly Asked[];
  reply: (asked: Asked) => string | null;
  /** `finish_reason`. */
  finish: string;
  fault: ((response: ServerResponse) => void) | undefined;
  close(): void;
}

export async function serveJudge(reply: (asked: Asked) => string | null): Promise<JudgeServer> {
  const asked: Asked[] = [];
  const state = { reply, finish: 'stop', fault: undefined as JudgeServer['fault'] };
  const { url, close } = await listenHttp((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(parts).toString('utf8')) as Asked['body'];
      const one = { path: request.url!, authorization: request.headers.authorization, body };
      asked.push(one);
      if (state.fault) return state.fault(response);
      const content = state.reply(one);
      const usage = { prompt_tokens: 1000, completion_tokens: 20 };
      response.end(
        JSON.stringify({ choices: [{ message: { role: 'assistant', content }, finish_reason: state.finish }], usage }),
      );
    });
  });
  return Object.assign(state, {
    url: `${url}/v1`,
    asked,
    close,
  });
}

/** The mark that the last message asks for. */
export const markOf = ({ body }: Asked): string =>
  body.messages
    .at(-1)!
    .content.match(/VERDICT-[0-9a-f]{24}:/g)!
    .at(-1)!;

/** The answer to be judged, as a careful judge finds it: between the fences of the last message's own code. */
export function answerOf(asked: Asked): string {
  const code = markOf(asked).slice('VERDICT-'.length, -1);
  const text = asked.body.messages.at(-1)!.content;
  const [open, close] = [`<<<ANSWER-${code}\n`, `\nANSWER-${code}>>>`];
  return text.slice(text.indexOf(open) + open.length, text.lastIndexOf(close));
}
