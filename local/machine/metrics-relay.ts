// The metrics of this process, which its runtime serves at an address of its own, passed on to one who asks elsewhere:
// as they come, at most so many bytes, within a time. A text that breaks off is an error to its reader, never a shorter one.
// Labels of the SDK hold names of workflow types, which any client of the cluster chooses: the format escapes them, and
// here they lose what steers a terminal. Their number is not bounded.

import { once } from 'node:events';
import { get, type IncomingMessage, type ServerResponse } from 'node:http';
import { withoutSteering } from '../../domain/text/foreign-text.ts';

export type Metrics =
  | { readonly kind: 'at'; readonly host: string; readonly port: number }
  | { readonly kind: 'none'; readonly status: 404 | 503; readonly why: string };

export interface RelayLimits {
  readonly timeMs: number;
  readonly bytes: number;
}

/** Prometheus gives up after 10 s by default. */
const LIMITS: RelayLimits = { timeMs: 8000, bytes: 2 ** 26 };

export async function passOnMetrics(source: Metrics, reply: ServerResponse, limits = LIMITS): Promise<void> {
  if (source.kind === 'none') return sendText(reply, source.status, source.why);
  const late = AbortSignal.timeout(limits.timeMs);
  const gone = new AbortController();
  reply.once('close', () => gone.abort());
  const signal = AbortSignal.any([late, gone.signal]);
  try {
    const answer = await asked(source, signal);
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`);
    const type = answer.headers['content-type'] ?? 'text/plain; charset=utf-8';
    // No `connection: close`: with it some readers take a text that breaks off for a whole one.
    reply.writeHead(200, { 'content-type': type });
    let bytes = 0;
    for await (const part of answer.setEncoding('utf8') as AsyncIterable<string>) {
      if ((bytes += Buffer.byteLength(part)) > limits.bytes) throw new Error(`more than ${limits.bytes} bytes`);
      if (!reply.write(withoutSteering(part))) await once(reply, 'drain', { signal });
    }
    if (!answer.complete) throw new Error('it broke off');
    reply.end();
  } catch (error) {
    const why = late.aborted ? `no answer within ${limits.timeMs / 1000} s` : (error as Error).message;
    if (reply.headersSent) reply.destroy();
    else sendText(reply, 503, `no metrics: ${why}`);
  }
}

export function sendText(reply: ServerResponse, status: number, text: string): void {
  reply.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' }).end(`${text}\n`);
}

function asked({ host, port }: Metrics & { kind: 'at' }, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get({ host, port, path: '/metrics', agent: false, signal }, resolve).once('error', reject);
  });
}
