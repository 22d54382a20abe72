// A small HTTP server with WebSockets, written from RFC 6455 alone: JSON for GET by path, and a handler for each connection.

import { createHash } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

export interface Peer {
  send(text: string): void;
  /** As it stands, frame bytes included. */
  raw(bytes: Buffer): void;
  close(code?: number): void;
  /** Cuts the connection. */
  destroy(): void;
}

export interface Handler {
  open?(peer: Peer): void;
  message(text: string, peer: Peer): void;
  /** The connection is gone. */
  gone?(): void;
}

const MAGIC = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

export function frame(opcode: number, payload: Buffer, final = true): Buffer {
  const size = payload.length;
  const head = Buffer.alloc(size < 126 ? 2 : size < 65_536 ? 4 : 10);
  head[0] = (final ? 0x80 : 0) | opcode;
  if (size < 126) head[1] = size;
  else if (size < 65_536) {
    head[1] = 126;
    head.writeUInt16BE(size, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(size), 2);
  }
  return Buffer.concat([head, payload]);
}

/** The whole frames at the beginning of `bytes`, and the rest. Of a client: they are masked. */
function framesIn(bytes: Buffer) {
  const frames: { readonly opcode: number; readonly payload: Buffer }[] = [];
  let rest = bytes;
  for (;;) {
    if (rest.length < 6) return { frames, rest };
    let size = rest[1]! & 0x7f;
    let at = 2;
    if (size === 126) [size, at] = [rest.readUInt16BE(2), 4];
    else if (size === 127) [size, at] = [rest.length < 10 ? Infinity : Number(rest.readBigUInt64BE(2)), 10];
    if (rest.length < at + 4 + size) return { frames, rest };
    const mask = rest.subarray(at, at + 4);
    const payload = Buffer.from(rest.subarray(at + 4, at + 4 + size)).map((byte, i) => byte ^ mask[i % 4]!);
    frames.push({ opcode: rest[0]! & 0x0f, payload: Buffer.from(payload) });
    rest = rest.subarray(at + 4 + size);
  }
}

export async function serveSockets(
  get: (path: string, response: ServerResponse) => unknown,
  connection: (path: string) => Handler,
) {
  const sockets = new Set<Socket>();
  const server = createServer((request, response) => {
    const said = get(request.url!, response);
    if (response.writableEnded || response.headersSent) return;
    if (said === undefined) response.writeHead(404).end('{"detail": "Not Found"}');
    else response.end(JSON.stringify(said));
  });
  server.on('upgrade', (request, stream) => {
    const socket = stream as Socket;
    sockets.add(socket);
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}${MAGIC}`).digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
    const write = (bytes: Buffer) => void (socket.destroyed || socket.write(bytes));
    const peer: Peer = {
      send: (text) => write(frame(1, Buffer.from(text))),
      raw: write,
      close(code = 1000) {
        const payload = Buffer.alloc(2);
        payload.writeUInt16BE(code);
        write(frame(8, payload));
        socket.end();
      },
      destroy: () => socket.destroy(),
    };
    const handler = connection(request.url!);
    let rest: Buffer = Buffer.alloc(0);
    socket.on('data', (bytes: Buffer) => {
      const read = framesIn(Buffer.concat([rest, bytes]));
      rest = read.rest;
      for (const { opcode, payload } of read.frames) {
        if (opcode === 1) handler.message(payload.toString('utf8'), peer);
        else if (opcode === 8) peer.close();
      }
    });
    socket.on('end', () => socket.end());
    socket.on('error', () => undefined);
    socket.on('close', () => {
      sockets.delete(socket);
      handler.gone?.();
    });
    handler.open?.(peer);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => sockets.size,
    async close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
