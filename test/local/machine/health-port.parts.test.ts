// The health port: what it says of the worker, and the metrics that it passes on from a real server of them.

import { type RequestListener, request } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Metrics, openHealthPort, passOnMetrics, type RelayLimits } from '../../../local/machine/health-port.ts';
import { listenHttp } from '../../support/http-listener.ts';

/** Serves by `answer`; the port. */
async function serving(answer: RequestListener): Promise<number> {
  const { port, close } = await listenHttp(answer);
  onTestFinished(close);
  return port;
}

const at = (port: number): Metrics => ({ kind: 'at', host: '127.0.0.1', port });

async function asked(metrics: Metrics, path: string, problem: string | null = null): Promise<string> {
  const health = await openHealthPort('127.0.0.1', 0, { problem: () => problem, metrics });
  onTestFinished(() => health.close());
  const reply = await fetch(`http://127.0.0.1:${health.port}${path}`);
  return `${reply.status} ${await reply.text()}`;
}

/** Through a relay of these limits. */
async function relayed(source: number, limits: RelayLimits): Promise<string> {
  const port = await serving((_, reply) => void passOnMetrics(at(source), reply, limits));
  const reply = await fetch(`http://127.0.0.1:${port}/metrics`);
  return `${reply.status} ${await reply.text()}`;
}

const NONE: Metrics = { kind: 'none', status: 404, why: 'not found: the metrics go elsewhere' };

describe('the health port', () => {
  test('says that the worker lives, whether it takes work, and what else there is', async () => {
    expect(await asked(NONE, '/live', 'it is ending')).toBe('200 live\n');
    expect(await asked(NONE, '/ready')).toBe('200 ready\n');
    expect(await asked(NONE, '/ready?x=1', 'it is ending')).toBe('503 it is ending\n');
    expect(await asked(NONE, '/')).toBe('404 not found: /live, /ready, /metrics\n');
    expect(await asked(NONE, '/metrics')).toBe('404 not found: the metrics go elsewhere\n');
  });

  test('passes the text of the metrics on as it is, with its type', async () => {
    const text = 'a_total 1\n'.repeat(100_000);
    const type = 'text/plain; version=0.0.4; charset=utf-8';
    const source = await serving((_, reply) => reply.writeHead(200, { 'content-type': type }).end(text));
    const health = await openHealthPort('127.0.0.1', 0, { problem: () => null, metrics: at(source) });
    onTestFinished(() => health.close());
    const reply = await fetch(`http://127.0.0.1:${health.port}/metrics`);
    expect(reply.headers.get('content-type')).toBe(type);
    expect(await reply.text()).toBe(text);
  });

  test('takes what steers a terminal out of the labels, and nothing else', async () => {
    const line = 'temporal_x{workflow_type="\u001b[2J é\u202e\\n\u009b😀"} 1\n';
    const source = await serving((_, reply) => {
      const bytes = Buffer.from(line);
      reply.write(bytes.subarray(0, 31), () => setImmediate(() => reply.end(bytes.subarray(31))));
    });
    expect(await asked(at(source), '/metrics')).toBe(
      '200 temporal_x{workflow_type="\ufffd[2J é\ufffd\\n\ufffd😀"} 1\n',
    );
  });

  test('answers 503 and why where nobody serves the metrics, or they are refused', async () => {
    const refusing = await serving((_, reply) => reply.writeHead(500).end('secret'));
    expect(await asked(at(refusing), '/metrics')).toBe('503 no metrics: status 500\n');
    // Port 4 is nobody's: the kernel gives none below 1024, and one that was free may be the next server's.
    expect(await asked(at(4), '/metrics')).toBe('503 no metrics: connect ECONNREFUSED 127.0.0.1:4\n');
  });

  test('answers 503 where the metrics do not come, and goes on answering all else', async () => {
    const hanging = await serving(() => undefined);
    expect(await relayed(hanging, { timeMs: 300, bytes: 1000 })).toBe('503 no metrics: no answer within 0.3 s\n');
  });

  test('breaks off a text that is too long, or stands still, so that its reader does not take the half for a whole', async () => {
    const long = await serving((_, reply) => reply.end('x'.repeat(5000)));
    await expect(relayed(long, { timeMs: 5000, bytes: 1000 })).rejects.toThrow();
    const halting = await serving((_, reply) => void reply.writeHead(200).write('half'));
    await expect(relayed(halting, { timeMs: 300, bytes: 1000 })).rejects.toThrow();
  });

  test('lets go of the metrics when its reader goes away', async () => {
    let left = false;
    const endless = await serving((_, reply) => {
      reply.on('close', () => (left = true));
      const more = () => void (left || reply.write('x\n'.repeat(100), () => setImmediate(more)));
      more();
    });
    const port = await serving((_, reply) => void passOnMetrics(at(endless), reply));
    await new Promise<void>((resolve) => {
      const reader = request({ port, host: '127.0.0.1' }, (reply) => reply.once('data', () => reader.destroy()));
      reader.on('close', resolve).end();
    });
    await expect.poll(() => left).toBe(true);
  });
});
