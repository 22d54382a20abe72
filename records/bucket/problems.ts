// A bucket's refusals and silences as StoreErrors: which place, why, and the way out. All can pass by a repair (keys, clock,
// server), so a worker waits and tries again, and no sample is lost; a command says it once and ends.

import { type BucketPlace, bucketPath } from '../../domain/run/bucket-place.ts';
import { StoreError } from '../../domain/errors/errors.ts';
import { oneLine } from '../../domain/text/foreign-text.ts';
import type { Reason } from '../../domain/errors/reasons.ts';
import type { BucketSettings } from './settings.ts';
import { type ErrorAnswer, parseError } from './xml.ts';

export interface Refusal {
  readonly status: number;
  readonly date: string | undefined;
  readonly server: string | undefined;
  readonly region: string | undefined;
  /** The target of a redirect. */
  readonly location: string | undefined;
  readonly body: string;
}

type Words = readonly [reason: Reason<'store'>, words: string, fix: string];

export function refusedBy(
  action: string,
  place: BucketPlace,
  settings: Pick<BucketSettings, 'region' | 'endpoint'>,
  refusal: Refusal,
): StoreError {
  const error = parseError(refusal.body);
  const [reason, words, fix] = wordsOf(place, settings, refusal, error);
  return new StoreError(`cannot ${action} ${bucketPath(place)}: ${words}`, { reason, fix, retryable: true });
}

function wordsOf(
  { bucket }: BucketPlace,
  settings: Pick<BucketSettings, 'region' | 'endpoint'>,
  { status, date, region: theirs, location }: Refusal,
  error: ErrorAnswer,
): Words {
  const at = settings.endpoint ?? `Amazon S3 in ${settings.region}`;
  const region = theirs ?? error.region;
  const wrongRegion = region !== undefined && region !== '' && region !== settings.region;
  switch (error.code) {
    case 'NoSuchBucket':
      return [
        'bucket-missing',
        `there is no bucket "${bucket}" at ${at}`,
        'Create it, or correct --out or AWS_ENDPOINT_URL.',
      ];
    case 'RequestTimeTooSkewed':
      return ['clock-skew', `this machine's clock and the server's differ${byHowMuch(date)}`, 'Set the clock (NTP).'];
    case 'InvalidAccessKeyId':
    case 'XAdminUserNotFound': // versitygw
      return ['bucket-denied', `${at} does not know this AWS_ACCESS_KEY_ID`, NEW_KEYS];
    case 'SignatureDoesNotMatch':
      return [
        'bucket-denied',
        'the signature is wrong: AWS_SECRET_ACCESS_KEY belongs to another key, or AWS_REGION is wrong',
        NEW_KEYS,
      ];
    case 'ExpiredToken':
    case 'InvalidToken':
    case 'TokenRefreshRequired':
      return ['bucket-denied', 'AWS_SESSION_TOKEN is expired or wrong', NEW_KEYS];
    case 'EntityTooLarge':
      return ['file-too-large', 'the object would be larger than the server takes', 'Split the data set.'];
    default:
  }
  if (wrongRegion || REGION_CODES.has(error.code))
    return [
      'bucket-region',
      `the bucket is in ${region ? `region ${region}` : 'another region'}, and AWS_REGION says ${settings.region}`,
      region ? `Set AWS_REGION=${region}.` : 'Set AWS_REGION to the region of the bucket.',
    ];
  if (status >= 300 && status < 400)
    return [
      'bucket-refused',
      `the server sends this request elsewhere (${status}${location ? `, to ${oneLine(location).slice(0, 200)}` : ''})`,
      'Set AWS_ENDPOINT_URL to the address where the S3 server itself answers, with its http or https.',
    ];
  if (status === 401 || status === 403)
    return ['bucket-denied', `the server denies it (${said(status, error)})`, ALLOW];
  return [
    'bucket-refused',
    `the server refuses it (${said(status, error)})`,
    'Is AWS_ENDPOINT_URL the address of an S3 server?',
  ];
}

/** `PermanentRedirect` and `TemporaryRedirect` come with the region's own address. */
const REGION_CODES = new Set(['AuthorizationHeaderMalformed', 'PermanentRedirect', 'TemporaryRedirect']);
const NEW_KEYS = 'Correct the variables and start the command or worker again; the run continues by itself.';
const ALLOW =
  'The keys need GetObject, PutObject, DeleteObject and ListBucket for this prefix; once they have them, the run continues by itself.';

/** At most a line of the server's text, which is foreign. */
function said(status: number, { code, message }: ErrorAnswer): string {
  const line = `${status} ${code}${message ? `: ${message}` : ''}`.replace(/[\p{C}\s]+/gu, ' ').trim();
  return line.slice(0, 200);
}

function byHowMuch(date: string | undefined): string {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs)) return '';
  const seconds = Math.round((Date.now() - theirs) / 1000);
  // Its own clock agrees: something between the two delays requests, or their times are in different zones.
  if (Math.abs(seconds) < 60) return ', it says, though its answer has the time of this machine';
  return ` by ${Math.abs(seconds)} s: this one is ${seconds < 0 ? 'behind' : 'ahead'}`;
}

/** No usable answer, however often it was asked. */
export function awayFrom(
  action: string,
  place: BucketPlace,
  endpoint: string,
  last: unknown,
  seconds: number,
): StoreError {
  const said = oneLine(last instanceof Error ? last.message : String(last)).slice(0, 200);
  const what = /wrong.version.number/i.test(said) ? 'it speaks http, and AWS_ENDPOINT_URL says https' : said;
  return new StoreError(
    `cannot ${action} ${bucketPath(place)}: ${endpoint} gave no answer for ${seconds} s (${what})`,
    {
      reason: 'bucket-away',
      fix: 'Is it up, and reachable from this machine? Once it answers, the run continues by itself.',
      retryable: true,
      cause: last,
    },
  );
}

/** The listing of a bucket was answered with something else. */
export function notBucket(place: BucketPlace, status: number, type: string | undefined): StoreError {
  const what = type ? ` of type ${oneLine(type).slice(0, 60)}` : '';
  return new StoreError(
    `cannot read ${bucketPath(place)}: the server's answer (${status}${what}) is no listing of a bucket`,
    {
      reason: 'bucket-refused',
      fix: 'Is AWS_ENDPOINT_URL the address of an S3 server, and not of its web console or of a proxy?',
      retryable: true,
    },
  );
}

export function unsafeBucket(place: BucketPlace, server: string | undefined, found: string): StoreError {
  const name = server ? ` (server: ${server.replace(/[^\w./ -]/g, '').slice(0, 60)})` : '';
  return new StoreError(`${bucketPath(place)}${name} cannot hold a run: ${found}`, {
    reason: 'bucket-unsafe',
    fix:
      'Writers would overwrite each other. Use a server with conditional writes (Amazon S3, versitygw, R2, Ceph; for Google ' +
      'EVERTURN_BUCKET_PRECONDITION=gcs), or a folder.',
    retryable: true,
  });
}
