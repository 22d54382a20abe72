// One WebSocket to a user's own server: JSON messages, one call at a time. Guarantees: a call ends in its time whatever the
// server does, a message is read up to its limit only, no redirect is followed, and a socket that failed once is closed.

import type { Socket } from 'node:net';
import type { WebSocket } from 'undici';
import { MAX_REPLY_BYTES } from '../../domain/environment.ts';
import { EnvironmentError } from '../../domain/errors.ts';
import { short } from '../../domain/foreign-text.ts';
import { forbiddenIn, guardedConnector } from '../../machine/forbidden-address.ts';
import { type CallLimits, inTime } from './in-time.ts';
import { forbidden } from './post.ts';
import { broken, parseJson } from './reply.ts';

interface Waiting {
  resolve(text: string): void;
  reject(error: unknown): void;
}

/** Messages that nobody asked for, at most. */
const MOST_UNREAD = 8;
const MOST_FRAGMENTS = 4_096;
/** A larger message cuts the connection; the socket does not say that it was for its size. */
const MOST_READ_BYTES = 4 * MAX_REPLY_BYTES;
/** From the close until the connection is cut: a server that does not answer it is not waited for. */
const CLOSING_MS = 2_000;

export class JsonSocket {
  readonly #socket: WebSocket;
  readonly #destroy: () => void;
  readonly #who: string;
  readonly #unread: string[] = [];
  readonly #opened: Promise<void>;
  #waiting: Waiting | undefined;
  #ended: EnvironmentError | undefined;
  #calls = 0;

  private constructor(who: string, socket: WebSocket, destroy: () => void) {
    this.#who = who;
    this.#socket = socket;
    this.#destroy = destroy;
    this.#opened = new Promise((resolve, reject) => {
      socket.addEventListener('open', () => resolve());
      socket.addEventListener('message', ({ data }: { readonly data: unknown }) => this.#take(data));
      socket.addEventListener('error', ({ message, error }) => {
        const how = message === '' ? `was cut, or sent a message of more than ${MOST_READ_BYTES >> 20} MiB` : 'failed';
        this.#end(away(who, how, error));
        reject(this.#ended!);
      });
      socket.addEventListener('close', ({ code, reason }) => {
        this.#end(away(who, `was closed by its server (${code}${reason === '' ? '' : `, ${short(reason, 100)}`})`));
        reject(this.#ended!);
      });
    });
    // A socket that fails before anybody waits for it is no unhandled rejection.
    this.#opened.catch(() => undefined);
  }

  /** Opens a connection. `url`: of http or https. */
  static async open(who: string, url: string, limits: CallLimits): Promise<JsonSocket> {
    const undici = await import('undici');
    const connect = guardedConnector(undici.buildConnector, { timeout: limits.timeoutMs });
    let below: Socket | null = null;
    let refused: unknown;
    const dispatcher = new undici.Agent({
      webSocket: { maxPayloadSize: MOST_READ_BYTES, maxFragments: MOST_FRAGMENTS },
      connect: (options, done) =>
        connect(options, (...[error, socket]) => {
          below = socket;
          if (socket) return done(null, socket);
          // The socket's own event does not say it.
          refused = forbiddenIn(error);
          done(error!, null);
        }),
    });
    const socket = new undici.WebSocket(url.replace(/^http/, 'ws'), { dispatcher });
    const opened = new JsonSocket(who, socket, () => below?.destroy());
    await opened
      .#within(limits, 'connect', () => opened.#opened)
      .catch((error: unknown) => {
        throw refused ? forbidden(who, refused) : error;
      });
    return opened;
  }

  get isOver(): boolean {
    return this.#ended !== undefined;
  }

  /** The next message after this one is sent. Calls must not overlap. */
  async call(method: string, message: object, limits: CallLimits): Promise<unknown> {
    const said = await this.#within(limits, method, () => {
      // A server that refuses a session says so unasked, before the first call.
      if (this.#calls++ > 0 && this.#unread.length > 0)
        throw broken(this.#who, method, 'it sent a message that nobody asked for');
      const next = this.#next();
      if (!this.#ended) this.#socket.send(JSON.stringify(message));
      return next;
    });
    try {
      return parseJson(this.#who, Buffer.from(said));
    } catch (error) {
      throw this.#cut(error);
    }
  }

  /** Sends the last message, and closes. */
  close(message: object): void {
    if (this.#ended) return;
    this.#socket.send(JSON.stringify(message));
    this.#cut(undefined);
  }

  async #within<T>(limits: CallLimits, method: string, work: () => Promise<T>): Promise<T> {
    try {
      return await inTime(this.#who, method, limits, work);
    } catch (error) {
      throw this.#cut(error);
    }
  }

  #next(): Promise<string> {
    const said = this.#unread.shift();
    if (said !== undefined) return Promise.resolve(said);
    if (this.#ended) return Promise.reject(this.#ended);
    return new Promise((resolve, reject) => (this.#waiting = { resolve, reject }));
  }

  #take(data: unknown): void {
    if (this.#ended) return;
    const said = typeof data === 'string' ? data : '';
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting.resolve(said);
    else if (this.#unread.length < MOST_UNREAD) this.#unread.push(said);
    else this.#cut(undefined);
  }

  #cut<E>(error: E): E {
    this.#end(away(this.#who, 'was ended'));
    this.#socket.close();
    setTimeout(this.#destroy, CLOSING_MS).unref();
    return error;
  }

  #end(error: EnvironmentError): void {
    this.#ended ??= error;
    this.#waiting?.reject(this.#ended);
    this.#waiting = undefined;
  }
}

function away(who: string, how: string, cause?: unknown): EnvironmentError {
  return new EnvironmentError(`The connection to the environment ${who} ${how}.`, {
    reason: 'environment-unreachable',
    fix: 'Is its server up, and is its address right?',
    retryable: true,
    ...(cause === undefined ? {} : { cause }),
  });
}
