// The settings of a bucket's server, from the variables that Amazon's own tools read. Keys are held in memory only: no
// error, record or log shows one.

import { StoreError, UsageError } from '../../domain/errors/errors.ts';
import { ForbiddenAddress, isForbiddenAddress } from '../../local/machine/forbidden-address.ts';

export interface BucketSettings {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | undefined;
  readonly region: string;
  /** Without a slash at its end; undefined: Amazon's. */
  readonly endpoint: string | undefined;
  /** The header that lets only the first writer of a key succeed. */
  readonly precondition: Precondition;
}

export const PRECONDITIONS = {
  'if-none-match': { 'if-none-match': '*' },
  /** Google Cloud Storage. */
  gcs: { 'x-goog-if-generation-match': '0' },
} as const;
export type Precondition = keyof typeof PRECONDITIONS;

export type BucketEnvironment = Readonly<Record<string, string | undefined>>;

export function bucketSettings(env: BucketEnvironment): BucketSettings {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) {
    throw new StoreError(
      'This process has no keys for a bucket: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY is not set',
      {
        reason: 'no-bucket-keys',
        fix: 'Set both (and AWS_REGION, AWS_ENDPOINT_URL where needed) for each worker and command, and start it again.',
        retryable: true,
        ofThisWorker: true,
      },
    );
  }
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: env['AWS_SESSION_TOKEN'] || undefined,
    region: env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || 'us-east-1',
    endpoint: endpointOf(env),
    precondition: preconditionOf(env['EVERTURN_BUCKET_PRECONDITION']),
  };
}

function endpointOf(env: BucketEnvironment): string | undefined {
  const text = env['AWS_ENDPOINT_URL_S3'] || env['AWS_ENDPOINT_URL'];
  if (!text) return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url && /^https?:$/.test(url.protocol) && !url.username && !url.search && !url.hash;
  if (isPlain && isForbiddenAddress(url.hostname)) throw new ForbiddenAddress(`AWS_ENDPOINT_URL ${url.host}`);
  if (isPlain) return url.href.replace(/\/+$/, '');
  throw new UsageError('AWS_ENDPOINT_URL is no address of a server.', {
    reason: 'bad-url',
    fix: 'Right would be https://host or http://host:port, without a user name or a query.',
  });
}

function preconditionOf(text: string | undefined): Precondition {
  if (!text) return 'if-none-match';
  if (Object.hasOwn(PRECONDITIONS, text)) return text as Precondition;
  throw new UsageError(`EVERTURN_BUCKET_PRECONDITION is ${JSON.stringify(text)}.`, {
    reason: 'bad-value',
    fix: `It takes ${Object.keys(PRECONDITIONS).join(' or ')}.`,
  });
}

/** The url of a bucket: a part of the path at a named server; a part of the host's name at Amazon's, where it may be one. */
export function bucketUrl({ endpoint, region }: BucketSettings, bucket: string): string {
  if (endpoint !== undefined) return `${endpoint}/${encodeURIComponent(bucket)}`;
  const host = `s3.${region}.amazonaws.com`;
  return /^[a-z0-9-]+$/.test(bucket) ? `https://${bucket}.${host}` : `https://${host}/${encodeURIComponent(bucket)}`;
}
