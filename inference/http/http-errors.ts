// Every failure of a server as a ModelError with a stable reason: retryable (busy, cut off, starting) or final
// (rejected). The message has the server's url and its own error text.

import { ModelError } from '../../domain/errors/errors.ts';
import type { Reason } from '../../domain/errors/reasons.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { forbiddenIn } from '../../local/machine/forbidden-address.ts';
import { type Complaint, complaintIn, type Meaning, pauseIn } from './server-words.ts';

/** The place of a failure; every message begins with it. */
export interface RequestPlace {
  /** Without credentials. */
  readonly url: string;
  readonly path: string;
  /** Removed from every message. */
  readonly secret: string | null;
}

interface Kind {
  readonly reason: Reason<'model'>;
  readonly retryable: boolean;
  readonly fix?: string;
}

const RETRY = true;
const NEVER = false;

/** A key is missing, or is refused. */
const NO_KEY =
  'See that the variable which --api-key-env names holds a valid key, also for the workers: a local service has it after `everturn down`.';

const NO_QUOTA: Kind = {
  reason: 'insufficient-quota',
  retryable: NEVER,
  fix: 'No wait helps: pay for more there, or name another key.',
};

const BY_STATUS: Readonly<Record<number, Kind>> = {
  401: { reason: 'server-auth', retryable: NEVER, fix: NO_KEY },
  403: { reason: 'server-auth', retryable: NEVER, fix: NO_KEY },
  404: {
    reason: 'server-lacks',
    retryable: NEVER,
    fix: 'Check the url, the kind of server and the name of the model.',
  },
  408: { reason: 'server-timeout', retryable: RETRY },
  409: { reason: 'server-error', retryable: RETRY },
  413: { reason: 'request-too-large', retryable: NEVER },
  422: { reason: 'request-refused', retryable: NEVER },
  425: { reason: 'server-busy', retryable: RETRY },
  429: { reason: 'server-busy', retryable: RETRY },
  499: { reason: 'server-error', retryable: RETRY },
  503: { reason: 'server-busy', retryable: RETRY },
  504: { reason: 'server-timeout', retryable: RETRY },
};

/** Each server's error text for "this does not fit the model's context", as recorded or documented. */
const TOO_LONG =
  /context[ _](?:length|window|size|limit)|exceeds? the context|maximum (?:allowed|model|context|prompt) length|longer than the (?:model|maximum)|(?:prompt|input) is too long|model token limit|max_tokens must be at least 1, got (?:0|-\d)/i;

/** Statuses so general that a word of the server says more. */
const GENERAL: ReadonlySet<number> = new Set([200, 400, 500]);
/** Statuses of refusals of any kind: the server's own words say which, by the status that they mean. */
const VAGUE: ReadonlySet<number> = new Set([200, 400, 404, 422]);
const MEANT: Partial<Record<Meaning, number>> = { key: 401, busy: 429, model: 404 };
/** A reply that is neither an answer nor a failure with a name. */
const UNNAMED = 503;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function statusError(status: number, headers: Headers, body: string, place: RequestPlace): ModelError {
  if (status >= 600)
    return badReply(`answered ${status}, which is no status`, place, { flaw: 'a status that is none' });
  return complaintError(status, headers, complaintIn(jsonOr(body)), place);
}

/** `status`: of the reply; the server's own words may name another one. */
export function complaintError(
  status: number,
  headers: Headers,
  complaint: Complaint,
  place: RequestPlace,
): ModelError {
  const words = short(complaint.words, 500, place.secret);
  const codes = short(complaint.codes, 100, place.secret);
  const said = VAGUE.has(status) && complaint.meaning ? MEANT[complaint.meaning] : undefined;
  const named = GENERAL.has(status) ? (complaint.status ?? (status < 400 ? UNNAMED : status)) : status;
  const { reason, retryable, fix } = kindOf(said ?? named, words, complaint);
  const retryAfterMs = retryable ? pauseIn(headers) : undefined;
  const told = [words, ...(codes === '' || words.includes(codes) ? [] : [`(${codes})`])].join(' ').trim();
  return new ModelError(`${shownAddress(place)} answered ${status}${told ? `: ${told}` : ''}`, {
    reason,
    retryable,
    ...(complaint.written !== undefined && { cause: new UnreadAnswer(complaint.written) }),
    ...(fix === undefined ? {} : { fix }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });
}

/** The cause of a failure that is an answer: its message is what the model wrote. */
export class UnreadAnswer extends Error {}

function kindOf(status: number, words: string, complaint: Complaint): Kind {
  if (status >= 300 && status < 400) {
    const fix = 'Name the address that answers itself: a key is not sent on to wherever a server points.';
    return { reason: 'server-redirects', retryable: NEVER, fix };
  }
  const { meaning } = complaint;
  if (status === 402 || meaning === 'used-up') return NO_QUOTA;
  if (meaning === 'withheld' && status !== 401 && status !== 429)
    return { reason: 'answer-withheld', retryable: NEVER };
  const isTooLong = TOO_LONG.test(words) || TOO_LONG.test(complaint.codes);
  if ([400, 413, 422].includes(status) && isTooLong) return { reason: 'context-length', retryable: NEVER };
  if (status === 404 && (meaning === 'model' || /model/i.test(words)))
    return { reason: 'model-not-found', retryable: NEVER };
  const kind = BY_STATUS[status];
  if (kind) return kind;
  return status >= 500 ? { reason: 'server-error', retryable: RETRY } : { reason: 'request-refused', retryable: NEVER };
}

function jsonOr(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}

const TIMEOUTS: Readonly<Record<string, string>> = {
  UND_ERR_CONNECT_TIMEOUT: 'did not take the connection in time',
  ETIMEDOUT: 'did not take the connection in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not begin to answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
};
const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN']);
const CLOSED = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

/** An error of undici, the socket or TLS. */
export function transportError(cause: unknown, place: RequestPlace): ModelError {
  const code = codeOf(cause);
  const make = (what: string, reason: Reason<'model'>, retryable: boolean, fix?: string) =>
    new ModelError(`${shownAddress(place)} ${what}`, {
      reason,
      retryable,
      cause,
      ...(fix === undefined ? {} : { fix }),
    });
  if (CLOSED.has(code)) return closedError(place.url);
  if (forbiddenIn(cause)) return forbiddenError(place);
  if (code in TIMEOUTS) return make(TIMEOUTS[code]!, 'server-timeout', RETRY);
  if (UNREACHABLE.has(code)) return make('cannot be reached', 'server-unreachable', RETRY, 'Is it running there?');
  if (/^(?:CERT_|ERR_TLS|ERR_SSL|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO)/.test(code)) {
    return make('has no certificate that can be trusted', 'server-tls', NEVER, 'NODE_EXTRA_CA_CERTS adds one.');
  }
  const flaw = flawOfHttp(cause, code);
  if (flaw !== null) return badReply(`does not speak HTTP as it should (${flaw})`, place, { flaw, cause });
  return make('broke the connection', 'server-reset', RETRY);
}

/** A fault of HTTP itself, as opposed to a broken connection. */
function flawOfHttp(cause: unknown, code: string): string | null {
  if (code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'another length than its header says';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'headers without end';
  if (!(cause instanceof Error)) return null;
  if (cause.name === 'HTTPParserError') return 'not HTTP';
  // undici's errors for 100 and 101, which were not requested.
  const interim =
    code === 'ERR_ASSERTION' || (code === 'UND_ERR_SOCKET' && /bad (?:response|upgrade)/.test(cause.message));
  return interim ? 'a status that ends nothing' : null;
}

function forbiddenError(place: RequestPlace): ModelError {
  const fix = 'Link-local addresses, and those where a cloud serves its secrets, are never requested.';
  return new ModelError(`${shownAddress(place)} is at an address that no model server has`, {
    reason: 'server-forbidden',
    fix,
  });
}

export function totalTimeout(place: RequestPlace, afterMs: number): ModelError {
  const message = `${shownAddress(place)} had not answered after ${afterMs / 1000} s`;
  return new ModelError(message, { reason: 'server-timeout', retryable: RETRY });
}

export function closedError(url: string): ModelError {
  return new ModelError(`The connection to ${url} was closed`, { reason: 'backend-closed', retryable: RETRY });
}

/**
 * A reply that is no answer: truncated, no JSON, without a choice. A retry may give a whole one. `flaw` is the fault
 * without its changing parts: a turn that gets the same flaw three times is not retried.
 */
export function badReply(
  what: string,
  place: RequestPlace,
  { flaw = what, reason = 'reply-malformed', cause }: { flaw?: string; reason?: Reason<'model'>; cause?: unknown } = {},
): ModelError {
  return new ModelError(`${shownAddress(place)} ${what}`, { reason, retryable: RETRY, flaw, server: place.url, cause });
}

/** A reply that is not read at all. */
export function bombReply(what: string, place: RequestPlace): ModelError {
  return new ModelError(`${shownAddress(place)} ${what}`, {
    reason: 'reply-too-large',
    fix: 'What is at that address?',
  });
}

/** Replies are stored and shown: one that contains the API key would spread it. */
export function keyReply(place: RequestPlace): ModelError {
  const fix = 'Change the key, and ask its operator why the answers contain it.';
  return new ModelError(`${shownAddress(place)} repeated the API key in its answer`, {
    reason: 'reply-tells-key',
    fix,
  });
}

export function tooLargeReply(place: RequestPlace, limitBytes: number): ModelError {
  return new ModelError(`${shownAddress(place)} sent more than ${limitBytes} bytes`, {
    reason: 'reply-too-large',
    fix: 'An answer to this request is smaller; what is at that address?',
  });
}

export function shownAddress({ url, path }: Pick<RequestPlace, 'url' | 'path'>): string {
  return `${url}${path}`;
}

function codeOf(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}
