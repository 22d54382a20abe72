import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../domain/errors/errors.ts';
import { MODEL_FORMS, parseModelSpec } from '../../inference/index.ts';
import { parseOpenaiTarget, parseServerUrls } from '../../inference/http/server-url.ts';
import { resolveOptions } from '../../run/config.ts';
import { FIELDS } from '../../run/options.ts';
import { ROOT, sources } from '../house/tree.ts';

describe('the name of a model', () => {
  test('reads a model as scheme and target', () => {
    expect(parseModelSpec('tiny')).toEqual({ scheme: 'tiny', target: '', files: null, servers: [] });
    expect(parseModelSpec('transformers:./my model')).toMatchObject({
      scheme: 'transformers',
      target: './my model',
      files: './my model',
    });
    expect(parseModelSpec('transformers:C:\\models')).toMatchObject({ scheme: 'transformers', target: 'C:\\models' });
  });

  test.each(['', 'gpt', 'tiny:x', 'transformers', 'transformers:', 'transformers: ', 'toString', '__proto__:x'])(
    'refuses "%s" and lists what is allowed',
    (spec) => {
      expect(() => parseModelSpec(spec)).toThrow(UsageError);
      try {
        parseModelSpec(spec);
      } catch (error) {
        expect(error).toMatchObject({ fix: expect.stringContaining('transformers:<folder or hub id>') });
      }
    },
  );

  test.each([
    ['sglang:http://a:30000,http://b:30000', 'http://a:30000,http://b:30000', ['http://a:30000', 'http://b:30000']],
    ['vllm:https://host/base/', 'https://host/base/', ['https://host/base']],
    ['openai:https://api.example.com/v1#gpt-5', 'https://api.example.com/v1#gpt-5', ['https://api.example.com/v1']],
  ])('reads %s, and says which servers it asks', (spec, target, servers) => {
    expect(parseModelSpec(spec)).toEqual({ scheme: spec.split(':')[0], target, files: null, servers });
  });

  test('asks servers at the address that is meant', () => {
    expect(parseServerUrls('http://a:1/, http://b:2/v1')).toEqual(['http://a:1', 'http://b:2']);
    expect(parseOpenaiTarget('http://a:1#m')).toEqual({ url: 'http://a:1/v1', model: 'm' });
    expect(parseOpenaiTarget('https://a/openai/v1#org/m#2')).toEqual({ url: 'https://a/openai/v1', model: 'org/m#2' });
  });

  test.each([
    'sglang:',
    'sglang:localhost:30000',
    'sglang:ftp://a',
    'vllm:file:///etc/passwd',
    'sglang:http://a,,http://b',
    'sglang:http://a,http://a/',
    'vllm:http://a#model',
    'openai:http://a',
    'openai:http://a#',
  ])('refuses %s', (spec) => {
    expect(() => parseModelSpec(spec)).toThrow(UsageError);
  });

  test.each([
    'sglang:http://user:SECRET@a:1',
    'vllm:http://a?api_key=SECRET',
    'openai:https://SECRET@a/v1#m',
    'openai:http://a?k=SECRET',
  ])('refuses a url that holds a secret, and does not say it again (%#)', (spec) => {
    try {
      parseModelSpec(spec);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(UsageError);
      expect(`${String(error)}${JSON.stringify(error)}${(error as Error).stack}`).not.toContain('SECRET');
    }
  });
});

describe('the registry', () => {
  const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

  test.each(MODEL_FORMS)(
    'is the one place in the code that says %s, for help and errors; and the README says it too',
    (form) => {
      expect(FIELDS.model.help).toContain(form);
      expect(() => resolveOptions({ flags: { model: 'nobody' } })).toThrow(
        expect.objectContaining({ fix: expect.stringContaining(form) as string }) as Error,
      );
      expect(read('README.md')).toContain(`\`${form}\``);
      const named = sources().filter((path) => path.endsWith('.ts') && !/^(test|bench|inference)\//.test(path));
      if (form.includes(':')) expect(named.filter((path) => read(path).includes(form))).toEqual([]);
    },
  );
});
