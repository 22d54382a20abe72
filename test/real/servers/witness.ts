// A relay before a real server that passes everything on as it is, and keeps what runs asked it to generate and what it
// answered: ids as the server saw and made them, whatever the records say.

import { buffer } from 'node:stream/consumers';
import { listenHttp } from '../../support/http-listener.ts';

/** One generation. */
export interface Asked {
  /** Run, query, sample and turn, as in `first_q1_0_3`. */
  readonly key: string;
  readonly contextIds: readonly number[];
  /** Null while it is under way. */
  outputIds: readonly number[] | null;
}

export interface Witness {
  readonly url: string;
  /** Of one run, in order. */
  of(run: string): Asked[];
  close(): void;
}

/** Of SGLang's /generate and vLLM's /inference/v1/generate. */
interface Body {
  readonly rid?: string;
  readonly request_id?: string;
  readonly input_ids?: number[];
  readonly token_ids?: number[];
}
interface Answer {
  readonly output_ids?: number[];
  readonly choices?: { readonly token_ids: number[] }[];
}

export async function openWitness(to: string): Promise<Witness> {
  const asked: Asked[] = [];
  const { url: own, close } = await listenHttp((request, response) => {
    void (async () => {
      const { method, url, headers } = request;
      const body = await buffer(request);
      let one: Asked | undefined;
      if (url!.endsWith('/generate')) {
        const {
          rid,
          request_id: id = rid,
          input_ids: ids,
          token_ids: contextIds = ids,
        } = JSON.parse(`${body}`) as Body;
        if (id) asked.push((one = { key: id.replace(/-[0-9a-f]{8}$/, ''), contextIds: contextIds!, outputIds: null }));
      }
      const type = { 'content-type': headers['content-type'] ?? 'application/json' };
      const sent = await fetch(to + url, { method: method!, headers: type, ...(body.length > 0 && { body }) });
      const text = await sent.text();
      if (one && sent.ok) {
        const { output_ids: ids, choices } = JSON.parse(text) as Answer;
        one.outputIds = choices?.[0]!.token_ids ?? ids!;
      }
      response.writeHead(sent.status, { 'content-type': sent.headers.get('content-type') ?? 'text/plain' }).end(text);
    })().catch(() => response.destroy());
  });
  return {
    url: own,
    of: (run) => asked.filter(({ key }) => key.startsWith(`${run}_`)),
    close,
  };
}
