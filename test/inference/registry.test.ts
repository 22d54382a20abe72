import { expect, test } from 'vitest';
import { UsageError } from '../../domain/errors.ts';
import { parseModelSpec } from '../../inference/index.ts';

test('reads a model as scheme and target', () => {
  expect(parseModelSpec('tiny')).toEqual({ scheme: 'tiny', target: '' });
  expect(parseModelSpec('transformers:./my model')).toEqual({ scheme: 'transformers', target: './my model' });
  expect(parseModelSpec('transformers:C:\\models')).toEqual({ scheme: 'transformers', target: 'C:\\models' });
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
