import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openBucket } from '../../records/bucket/bucket.ts';
import { openSender, uploadOf } from '../../records/bucket/request.ts';
import { bucketSettings } from '../../records/bucket/settings.ts';
import { parseListing } from '../../records/bucket/xml.ts';
import { listenHttp } from '../support/http-listener.ts';
import { bucketEnvironment, openS3Server, type S3Call, type S3Server } from '../support/s3-server.ts';

let server: S3Server;
beforeEach(async () => {
  server = await openS3Server();
});
afterEach(() => server.close());

const QUICK = { totalMs: 20_000, silenceMs: 150 };
/** For servers that answer late by design. */
const PATIENT = { totalMs: 20_000, silenceMs: 5_000 };

function opened(more: Record<string, string> = {}, { bucket = 'bucket', limits = QUICK } = {}) {
  const settings = bucketSettings({ ...bucketEnvironment(server.url), ...more });
  return openBucket(bucket, openSender(settings, limits), settings.precondition);
}

const isProbe = ({ key }: S3Call) => key.includes('.probe-');
/** For the first `count` calls of a kind, probes left alone. */
function first(count: number, method: string, fault: NonNullable<ReturnType<S3Server['fault']>>): void {
  let left = count;
  server.fault = (call) => (call.method === method && !isProbe(call) && left-- > 0 ? fault : undefined);
}

describe('a write to a bucket', () => {
  test('is the first one of its key, or says that another was', async () => {
    const bucket = opened();
    const all = await Promise.all(
      Array.from({ length: 8 }, (_, i) => opened({}, { limits: PATIENT }).writeOnce('a/b', uploadOf(`writer ${i}`))),
    );
    expect(all.filter(Boolean)).toHaveLength(1);
    expect((await bucket.read('a/b'))!.toString()).toBe(`writer ${all.indexOf(true)}`);
  });

  test.each([['cut'], ['silent']] as const)('whose answer is %s is repeated, and counts as ours', async (fault) => {
    first(2, 'PUT', fault);
    expect(await opened().writeOnce('a', uploadOf('mine'))).toBe(true);
    expect(server.objects.get('a')!.body.toString()).toBe('mine');
  });

  test("whose answer is cut, and which met another's content, is not ours", async () => {
    const bucket = opened();
    await bucket.writeOnce('a', uploadOf('theirs'));
    first(1, 'PUT', 'cut');
    expect(await bucket.writeOnce('a', uploadOf('mine'))).toBe(false);
    expect(server.objects.get('a')!.body.toString()).toBe('theirs');
  });

  test.each([
    [503, 'SlowDown'],
    [500, 'InternalError'],
    [409, 'ConditionalRequestConflict'],
    [400, 'RequestTimeout'],
    [502, ''],
  ])('that is refused with %i %s is repeated until it is taken', async (status, code) => {
    first(3, 'PUT', [status, code]);
    expect(await opened().writeOnce('a', uploadOf('mine'))).toBe(true);
  });

  test('to a server that stays away is an error that waiting may mend, within its time', async () => {
    first(Infinity, 'PUT', [503, 'SlowDown']);
    const began = performance.now();
    const limits = { totalMs: 500, silenceMs: 150 };
    await expect(opened({}, { limits }).writeOnce('a', uploadOf('mine'))).rejects.toMatchObject({
      reason: 'bucket-away',
      retryable: true,
    });
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test('of no byte and of some megabytes arrives whole', async () => {
    const bucket = opened({}, { limits: PATIENT });
    const large = Buffer.alloc(5_000_000, 'ü');
    expect(await bucket.writeOnce('none', uploadOf(''))).toBe(true);
    expect(await bucket.writeOnce('large', uploadOf(large))).toBe(true);
    expect((await bucket.read('none'))!.length).toBe(0);
    expect((await bucket.read('large'))!.equals(large)).toBe(true);
    expect((await bucket.readAt('large', 4_999_990, 100))!.length).toBe(10);
    expect((await bucket.readAt('large', 9_999_990, 100))!.length).toBe(0);
  });
});

describe('a bucket without conditional writes', () => {
  test.each([
    ['no', 'it takes a second write of one name'],
    ['racy', 'of 16 writers of one name at once'],
    ['narrow', 'of 16 writers of one name at once'],
  ] as const)('(%s) is refused before anything is written, and no probe stays', async (conditional, why) => {
    server.conditional = conditional;
    await expect(opened({}, { limits: PATIENT }).writeOnce('runs/first/run.json', uploadOf('x'))).rejects.toMatchObject(
      {
        reason: 'bucket-unsafe',
        message: expect.stringContaining(why),
      },
    );
    expect([...server.objects.keys()]).toEqual([]);
    await expect(opened({}, { limits: PATIENT }).writeOnce('run.json', uploadOf('x'))).rejects.toThrow(/toy-s3/);
  });

  test.each([
    ['as Backblaze B2 answers', 'NotImplemented'],
    ['without a body that says so', ''],
  ])('and with a server that refuses the header is named as one, %s', async (_, code) => {
    server.fault = ({ method, headers }) =>
      method === 'PUT' && headers['if-none-match'] !== undefined ? [501, code] : undefined;
    await expect(opened().writeOnce('runs/first/run.json', uploadOf('x'))).rejects.toMatchObject({
      reason: 'bucket-unsafe',
      message: expect.stringMatching(/^s3:\/\/bucket\/runs\/first cannot hold a run: .*501/) as string,
      fix: expect.stringContaining('conditional writes') as string,
    });
    expect(server.objects.size).toBe(0);
  });

  test('is probed once by a process, also of many writers at once', async () => {
    const bucket = opened();
    await Promise.all(Array.from({ length: 5 }, (_, i) => bucket.writeOnce(`a/${i}`, uploadOf('x'))));
    expect(server.calls.filter((call) => isProbe(call) && call.method === 'PUT')).toHaveLength(50);
    expect(server.objects.size).toBe(5);
  });
});

describe('a refusal of a bucket', () => {
  test.each([
    [[403, 'AccessDenied'], 'bucket-denied', 'need GetObject, PutObject'],
    [[403, 'SignatureDoesNotMatch'], 'bucket-denied', 'AWS_SECRET_ACCESS_KEY'],
    [[400, 'ExpiredToken'], 'bucket-denied', 'AWS_SESSION_TOKEN'],
    [[403, 'RequestTimeTooSkewed'], 'clock-skew', 'Set the clock'],
    [[400, 'AuthorizationHeaderMalformed', '<Region>eu-west-1</Region>'], 'bucket-region', 'AWS_REGION=eu-west-1'],
    [[301, 'PermanentRedirect'], 'bucket-region', 'AWS_REGION'],
    [[301, ''], 'bucket-refused', 'sends this request elsewhere (301)'],
    [[307, ''], 'bucket-refused', 'AWS_ENDPOINT_URL'],
    [[400, 'InvalidRequest'], 'bucket-refused', 'InvalidRequest'],
    [[405, ''], 'bucket-refused', '405'],
  ] as const)('%j has the reason %s and a way out', async (fault, reason, words) => {
    first(Infinity, 'PUT', fault);
    const refused = opened().writeOnce('a', uploadOf('mine'));
    const error = (await refused.catch((one: unknown) => one)) as Error & { fix: string };
    expect(error).toMatchObject({ reason, retryable: true });
    expect(`${error.message} ${error.fix}`).toContain(words);
    expect(`${error.message} ${error.fix}`).not.toContain('testsecret');
  });

  test('by name: an unknown key, a missing bucket, no keys', async () => {
    await expect(opened({ AWS_ACCESS_KEY_ID: 'other' }).read('a')).rejects.toMatchObject({ reason: 'bucket-denied' });
    await expect(opened({}, { bucket: 'none' }).read('a')).rejects.toMatchObject({ reason: 'bucket-missing' });
    await expect(opened({}, { bucket: 'none' }).facts('a')).rejects.toMatchObject({ reason: 'bucket-missing' });
    expect(() => opened({ AWS_SECRET_ACCESS_KEY: '' })).toThrow(/AWS_SECRET_ACCESS_KEY is not set/);
    expect(await opened().read('a')).toBeUndefined();
    expect(await opened().facts('a')).toBeUndefined();
  });

  test('of keys that go in mid-run is no missing object, whatever its status', async () => {
    const bucket = opened();
    expect(await bucket.read('a')).toBeUndefined();
    server.fault = () => [404, 'XAdminUserNotFound'];
    await expect(bucket.read('a')).rejects.toMatchObject({ reason: 'bucket-denied', retryable: true });
    server.fault = () => undefined;
    expect(await bucket.read('a')).toBeUndefined();
  });

  test.each([
    ['a page', 'text/html', '<html>Sign in</html>'],
    ['nothing', undefined, ''],
    ['a listing of something else', 'application/json', '{"objects":[]}'],
  ])(
    'of no S3 server, which answers everything with %s, is named before anything is read or written',
    async (_, type, page) => {
      const methods: string[] = [];
      const web = await listenHttp((request, response) => {
        methods.push(request.method!);
        response.writeHead(200, type === undefined ? {} : { 'content-type': type }).end(page);
      });
      const bucket = () => opened({ AWS_ENDPOINT_URL: web.url });
      const refusal = {
        reason: 'bucket-refused',
        message: expect.stringContaining('no listing of a bucket') as string,
      };
      try {
        await expect(bucket().read('run.json')).rejects.toMatchObject(refusal);
        await expect(bucket().facts('run.json')).rejects.toMatchObject(refusal);
        await expect(bucket().writeOnce('run.json', uploadOf('x'))).rejects.toMatchObject(refusal);
        await expect(bucket().replace('run.json', uploadOf('x'))).rejects.toMatchObject(refusal);
        await expect(bucket().list('').next()).rejects.toMatchObject(refusal);
        expect(new Set(methods)).toEqual(new Set(['GET']));
      } finally {
        web.close();
      }
    },
  );
});

describe("the bucket's requests", () => {
  test("carry Google's precondition where it is set, and no secret", async () => {
    await opened({ EVERTURN_BUCKET_PRECONDITION: 'gcs', AWS_SESSION_TOKEN: 'session' }).writeOnce('a', uploadOf('x'));
    const { headers } = server.calls.find(({ key, method }) => key === 'a' && method === 'PUT')!;
    expect(headers).toMatchObject({ 'x-goog-if-generation-match': '0', 'x-amz-security-token': 'session' });
    expect(headers['if-none-match']).toBeUndefined();
    expect(JSON.stringify(server.calls)).not.toContain('testsecret');
  });

  test('name keys of any characters as they are', async () => {
    const bucket = opened();
    const keys = ["a b/c+d=e&f'(g)!/ü~", 'x/$@:,;', 'x/q~0.1'];
    for (const key of keys) await bucket.writeOnce(key, uploadOf(key));
    for (const key of keys) expect((await bucket.read(key))!.toString()).toBe(key);
    const found: string[] = [];
    for await (const page of bucket.list('')) found.push(...page.objects.map(({ key }) => key));
    expect(found.sort()).toEqual(keys.sort());
  });
});

describe('the XML of a bucket', () => {
  test('is read with its entities, and a cut or foreign listing is none', () => {
    const page =
      '<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>' +
      '<Contents><Key>&lt;x&gt;&#233;&#xe9;</Key><Size>3</Size><ETag>&quot;e&quot;</ETag><LastModified>2026-01-01T00:00:00Z</LastModified></Contents>' +
      '<CommonPrefixes><Prefix>p/</Prefix></CommonPrefixes></ListBucketResult>';
    expect(parseListing(page)).toEqual({
      objects: [{ key: '<x>éé', bytes: 3, etag: '"e"', modifiedMs: Date.UTC(2026, 0, 1) }],
      prefixes: ['p/'],
      next: 'a&b',
    });
    for (let end = 0; end < page.length; end++) expect(parseListing(page.slice(0, end))).toBeUndefined();
    expect(parseListing('<html>Welcome</html>')).toBeUndefined();
  });
});
