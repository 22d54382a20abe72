// Tells another kind of server from one that is away: every gRPC server opens with a SETTINGS frame of HTTP/2. Asked only
// after a connection has failed. A proxy whose other side is away is one that is away.

import { connect } from 'node:net';

const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  // SETTINGS, empty.
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const WITHIN_MS = 3_000;
const FRAME_HEAD = 4;
const SETTINGS = 4;
const TLS_ALERT = 0x15;
/** 502 to 504 of a proxy; 505 and 501 are of a server that knows no HTTP/2. */
const AWAY = /^HTTP\/1\.[01] 50[0234]\b/;
const MOST_BYTES = 64;

/** HTTP/2 where TLS was wanted. */
export const NO_TLS = 'HTTP/2 without TLS';

/** The name of the other protocol; undefined where it is away, silent, or speaks the wanted one. */
export async function otherSpeech(address: string, wantsTls = false): Promise<string | undefined> {
  const [, host, port] = /^(?:\w+:\/\/)?(.+):(\d{1,5})$/.exec(address) ?? [];
  if (host === undefined) return undefined;
  const first = await firstBytes(host.replace(/^\[|\]$/g, ''), Number(port));
  const isPlain = first.length >= FRAME_HEAD && first[3] === SETTINGS;
  // A server with TLS says anything, or nothing, to one that speaks without.
  if (wantsTls) return isPlain ? NO_TLS : undefined;
  if (first.length < FRAME_HEAD || isPlain) return undefined;
  const text = first.toString('latin1');
  if (AWAY.test(text)) return undefined;
  if (first[0] === TLS_ALERT) return 'TLS';
  return text.startsWith('HTTP/1.') ? 'HTTP/1' : 'no HTTP/2';
}

/** None where it cannot be reached or says nothing in time. */
async function firstBytes(host: string, port: number): Promise<Buffer> {
  let got = Buffer.alloc(0);
  return new Promise((resolve) => {
    const socket = connect({ host, port });
    const end = () => {
      socket.destroy();
      resolve(got);
    };
    socket.setTimeout(WITHIN_MS, end);
    socket.on('connect', () => socket.write(PREFACE));
    socket.on('data', (part) => {
      got = Buffer.concat([got, part]);
      if (got.length >= MOST_BYTES || got[3] === SETTINGS) end();
    });
    socket.on('error', end);
    socket.on('close', end);
  });
}
