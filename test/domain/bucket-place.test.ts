import { describe, expect, test } from 'vitest';
import { bucketPath, bucketProblem, parseBucketPlace } from '../../domain/run/bucket-place.ts';
import { basename, dirname, join, resolvePlace } from '../../records/place.ts';

describe('a place in a bucket', () => {
  test.each(['s3://bucket', 's3://bucket/a', 's3://my.bucket-1/a b/ü~c/d.json', 's3://Under_score/x'])(
    '%j is its own name',
    (path) => expect(bucketPath(parseBucketPlace(path)!)).toBe(path),
  );

  test.each([
    's3://',
    's3:///a',
    's3://b',
    's3://bucket/',
    's3://bucket//a',
    's3://bucket/a/../b',
    's3://bucket/./a',
    's3://..a/x',
    's3://buc ket/a',
    's3://bucket/a?b',
    's3://bucket/a%2fb',
    's3://bucket/a\\b',
    's3://bucket/a\nb',
    `s3://bucket/${'a'.repeat(601)}`,
    '/bucket',
    's3:/bucket',
  ])('%j is none', (path) => expect(parseBucketPlace(path)).toBeUndefined());

  test('is joined and taken apart as a path is', () => {
    expect(join('s3://bucket', 'a', 'b.json')).toBe('s3://bucket/a/b.json');
    expect([dirname('s3://bucket/a/b'), dirname('s3://bucket/a'), dirname('s3://bucket')]).toEqual([
      's3://bucket/a',
      's3://bucket',
      's3://bucket',
    ]);
    expect(basename('s3://bucket/a/b')).toBe('b');
    expect([join('/x', '../y'), dirname('/x/y'), basename('/x/y')]).toEqual(['/y', '/x', 'y']);
  });

  test('is what a user means by it, or is refused with the right form', () => {
    expect(resolvePlace('/cwd', 's3://bucket/runs/')).toBe('s3://bucket/runs');
    expect(resolvePlace('/cwd', 'S3://bucket/runs')).toBe('s3://bucket/runs');
    expect(resolvePlace('/cwd', 'runs')).toBe('/cwd/runs');
    expect(resolvePlace('/cwd', '/a/b')).toBe('/a/b');
    for (const named of ['gs://bucket/runs', 's3://', 's3://bucket/../x', 'https://bucket.s3.amazonaws.com/x'])
      expect(() => resolvePlace('/cwd', named)).toThrow(/no place for runs/);
  });

  test.each([
    ['s3://bk/runs', 'fewer than 3 characters'],
    ['s3://', 'fewer than 3 characters'],
    ['s3://-bucket', 'no name of a bucket'],
    ['s3://a..b', 'no name of a bucket'],
    ['s3://bucket/a//b', 'a part of its prefix is not plain'],
    [`s3://bucket/${'x'.repeat(601)}`, 'longer than 600'],
  ])('%j is refused with the rule that it breaks', (path, why) => {
    expect(parseBucketPlace(path)).toBeUndefined();
    expect(bucketProblem(path)).toContain(why);
  });
});
