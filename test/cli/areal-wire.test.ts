// The bytes that the pusher puts on the wire, beside a recording of AReaL's own ZMQJsonPusher with the same samples, which its
// own ZMQJsonPuller returned (inclusionAI/AReaL@820ca498; record-wire.mjs in test/trainers, which also saw `zeromq` send the
// same bytes). Needs none of them: a reader of ZMTP 3 (rfc.zeromq.org/spec/23) takes the stream apart.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { PER_MESSAGE, pushToAreal } from '../../cli/serve/areal-push.ts';
import { openPusher } from '../../cli/serve/zeromq.ts';

const fixture = (name: string) => readFileSync(new URL(`../fixtures/${name}`, import.meta.url));
const SAMPLES = fixture('formats/areal-turn.jsonl').toString().trimEnd().split('\n');

const WIRE = fixture('areal-push.zmtp');

const LONG = 2;
const COMMAND = 4;

interface Frame {
  readonly command: boolean;
  readonly more: boolean;
  readonly body: Buffer;
}

/** A stream without security: a greeting of 64 bytes, then frames: flags, length of 1 or 8 bytes, body. */
function readZmtp(bytes: Buffer): { readonly greeting: Buffer; readonly frames: readonly Frame[] } {
  const frames: Frame[] = [];
  for (let at = 64; at < bytes.length;) {
    const flags = bytes[at]!;
    const isLong = (flags & LONG) !== 0;
    const length = isLong ? Number(bytes.readBigUInt64BE(at + 1)) : bytes[at + 1]!;
    const from = at + (isLong ? 9 : 2);
    const body = bytes.subarray(from, from + length);
    if (body.length !== length) throw new Error(`a frame at ${at} is cut off`);
    frames.push({ command: (flags & COMMAND) !== 0, more: (flags & 1) !== 0, body });
    at = from + length;
  }
  return { greeting: bytes.subarray(0, 64), frames };
}

const STREAM = readZmtp(WIRE);

/** As a PUSH socket does. */
function frameOf(message: Uint8Array): Buffer {
  if (message.length <= 255) return Buffer.concat([Buffer.from([0, message.length]), message]);
  const head = Buffer.alloc(9);
  head[0] = LONG;
  head.writeBigUInt64BE(BigInt(message.length), 1);
  return Buffer.concat([head, message]);
}

/** Every message that the pusher gives to its socket for one step of these samples. */
async function pushed(samples: readonly string[]): Promise<Uint8Array[]> {
  const messages: Uint8Array[] = [];
  const Push = class {
    connect() {}
    async send(message: Uint8Array) {
      messages.push(message);
    }
    close() {}
  };
  const count = () => messages.flatMap((m) => JSON.parse(Buffer.from(m).toString()) as unknown[]).length;
  let version = 0;
  let leased = false;
  await pushToAreal({
    feed: {
      rewind: async () => ({ line: 1, version: 0 }),
      attach: async () => null,
      async lease() {
        if (leased) return null;
        leased = true;
        return { lease: 'l', samples };
      },
      async acknowledge() {
        version = 1;
        return true;
      },
      version: async () => {},
      renew: async () => {},
    },
    names: {
      trainingSamples: async () => count(),
      modelVersion: async () => version,
      pullers: async () => ['127.0.0.1:1'],
    },
    ...{ role: 'actor', pusher: await openPusher(async () => ({ Push })), signal: new AbortController().signal },
    ...{ load: async () => undefined, save: async () => {}, say: () => {}, pollMs: 1 },
  });
  return messages;
}

describe('the wire to AReaL', () => {
  test('has, byte for byte, the messages of AReaL’s own pusher, which its own puller returned', async () => {
    const messages = STREAM.frames.filter(({ command }) => !command);
    expect(messages.map(({ more }) => more)).toEqual([false, false]);
    const now = await pushed(SAMPLES);
    expect(now.map((message) => Buffer.from(message))).toEqual(messages.map(({ body }) => body));
    const stream = Buffer.concat(now.map(frameOf));
    expect(WIRE.subarray(-stream.length).equals(stream)).toBe(true);
  });

  test('is a PUSH socket without security, and lists of at most 16 samples', () => {
    const { greeting, frames } = STREAM;
    expect([greeting[0], greeting[9], greeting[10]]).toEqual([0xff, 0x7f, 3]);
    expect(greeting.subarray(12, 32).toString('latin1')).toBe(`NULL${'\0'.repeat(16)}`);
    const [ready, ...messages] = frames;
    expect(ready!.command).toBe(true);
    expect(ready!.body.toString('latin1')).toMatch(/^\x05READY\x0bSocket-Type\0\0\0\x04PUSH/);
    const lists = messages.map(({ body }) => JSON.parse(body.toString('utf8')) as unknown[]);
    expect(lists.map((list) => list.length)).toEqual([PER_MESSAGE, SAMPLES.length - PER_MESSAGE]);
    expect(lists.flat()).toEqual(SAMPLES.map((line) => JSON.parse(line) as unknown));
  });
});
