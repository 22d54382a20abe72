// PUSH sockets of ZeroMQ, as AReaL's pullers take them: high-water mark 1000, no linger. The package `zeromq` is optional: it
// is loaded when it is asked for, from beside Everturn or from the current folder.

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '../../domain/errors/errors.ts';

interface PushSocket {
  connect(address: string): void;
  send(message: Uint8Array): Promise<void>;
  close(): void;
}

export interface ZeroMq {
  readonly Push: new (options: { sendHighWaterMark: number; linger: number; sendTimeout: number }) => PushSocket;
}

export interface Pusher {
  /** Resolves when the socket has taken the message, which proves nothing. */
  send(address: string, message: Uint8Array): Promise<void>;
  /** Drops what the sockets still hold. */
  drop(): void;
  close(): void;
}

const PACKAGE = 'zeromq';
/** A puller that is away blocks the socket when 1,000 messages wait; then the caller looks for pullers again. */
const SEND_TIMEOUT_MS = 10_000;

/** Beside Everturn, or in the current folder. */
async function loadZeroMq(): Promise<unknown> {
  try {
    return (await import(PACKAGE)) as unknown;
  } catch {
    const path = createRequire(join(process.cwd(), 'package.json')).resolve(PACKAGE);
    return (await import(pathToFileURL(path).href)) as unknown;
  }
}

export async function openPusher(load: () => Promise<unknown> = loadZeroMq): Promise<Pusher> {
  const { Push } = await load().then(
    (found) => found as ZeroMq,
    (cause: unknown) => {
      throw new UsageError('AReaL is fed over ZeroMQ, and the package `zeromq` is not installed.', {
        reason: 'no-zeromq',
        fix: 'Install it here or beside Everturn: npm install zeromq@6',
        cause,
      });
    },
  );
  const sockets = new Map<string, PushSocket>();
  return {
    async send(address, message) {
      let socket = sockets.get(address);
      if (!socket) {
        socket = new Push({ sendHighWaterMark: 1000, linger: 0, sendTimeout: SEND_TIMEOUT_MS });
        socket.connect(`tcp://${address}`);
        sockets.set(address, socket);
      }
      await socket.send(message);
    },
    drop,
    close: drop,
  };

  function drop(): void {
    for (const socket of sockets.values()) socket.close();
    sockets.clear();
  }
}
