// A place in a bucket, written `s3://bucket/prefix`, and its parts. Pure. A plain place has no empty part, no `.` or `..`,
// and no slash at its end, so that one place has one name: permissions compare names.

const SCHEME = 's3://';

export interface BucketPlace {
  readonly bucket: string;
  /** Without a slash at either end; empty for the bucket itself. */
  readonly key: string;
}

export const isBucketPlace = (path: string): boolean => path.startsWith(SCHEME);

export const bucketPath = ({ bucket, key }: BucketPlace): string => `${SCHEME}${bucket}${key === '' ? '' : `/${key}`}`;

/** Amazon's rules, and the capitals and underscores that others allow. */
const BUCKET = /^[A-Za-z0-9][A-Za-z0-9._-]{1,220}[A-Za-z0-9]$/;
const MAX_KEY_CHARS = 600;

/** The form of a place in a bucket, for the fix of an error. */
export const BUCKET_FORM =
  'A bucket is named s3://bucket or s3://bucket/prefix: its name has 3 to 222 letters, digits, `.`, `_` or `-`, and begins and ends with a letter or digit; ' +
  'no part of the prefix is empty, `.` or `..`, or holds `%`, `?`, `#`, `*` or a backslash.';

/** The rule that a text breaks which is no plain place. */
export function bucketProblem(path: string): string {
  const [bucket = '', ...parts] = path.slice(SCHEME.length).split('/');
  if (bucket.length < 3) return `its bucket has the name ${JSON.stringify(bucket)}, of fewer than 3 characters`;
  if (!BUCKET.test(bucket) || bucket.includes('..'))
    return `${JSON.stringify(bucket.slice(0, 300))} is no name of a bucket`;
  if (parts.join('/').length > MAX_KEY_CHARS) return `its prefix is longer than ${MAX_KEY_CHARS} characters`;
  return 'a part of its prefix is not plain';
}

/** Undefined for anything but a plain place. */
export function parseBucketPlace(path: string): BucketPlace | undefined {
  if (!isBucketPlace(path)) return undefined;
  const [bucket = '', ...parts] = path.slice(SCHEME.length).split('/');
  // A key may be any text; these characters are a mistake, or break a URL or a terminal.
  const isPlain = (part: string) => part !== '' && part !== '.' && part !== '..' && !/[\p{C}\\?#%*]/u.test(part);
  const key = parts.join('/');
  if (!BUCKET.test(bucket) || bucket.includes('..') || !parts.every(isPlain)) return undefined;
  return key.length > MAX_KEY_CHARS ? undefined : { bucket, key };
}
