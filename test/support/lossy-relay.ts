// A relay before a Temporal server that loses some calls: no answer and no refusal, as from workers that are too busy for
// a query. All other calls pass as they are. Loopback only.

import { connect, createServer, type IncomingHttpHeaders } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';

/** The last header or trailer of the other side came with this frame. */
const END_STREAM = 1;

export interface LossyRelay {
  readonly address: string;
  readonly lost: () => number;
  close(): void;
}

/** `call`: the method of Temporal's service that is lost. */
export async function openLossyRelay(to: string, call: string): Promise<LossyRelay> {
  let lost = 0;
  const upstream = connect(`http://${to}`);
  const server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    if (headers[':path']?.endsWith(`/${call}`)) return void lost++;
    const asked = upstream.request(headers);
    const trailers = new Promise<IncomingHttpHeaders>((resolve) => {
      asked.once('trailers', resolve);
      asked.once('close', () => resolve({}));
    });
    pipeline(stream, asked, () => {});
    asked.once('response', (answer, flags) => {
      const isWhole = (flags & END_STREAM) !== 0;
      stream.respond(answer, isWhole ? { endStream: true } : { waitForTrailers: true });
      if (isWhole) return;
      stream.once('wantTrailers', () => void trailers.then((last) => stream.sendTrailers(last)));
      pipeline(asked, stream, () => {});
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    lost: () => lost,
    close() {
      upstream.destroy();
      server.close();
    },
  };
}
