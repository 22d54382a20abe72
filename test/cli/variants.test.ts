// Several --model and --vary: the runs of one command.

import { describe, expect, test } from 'vitest';
import { isRunName } from '../../domain/names/ids.ts';
import { slugsOf, variantsOf } from '../../cli/play/variants.ts';

const labels = (models: string[], vary: string[], flags: object = {}) =>
  variantsOf(models, vary, flags).map(({ label }) => label);

describe('the runs of one command', () => {
  test('are one without --vary and with one model', () => {
    expect(variantsOf([], [], {})).toEqual([{ label: '', flags: {} }]);
    expect(variantsOf(['tiny'], [], {})).toEqual([{ label: '', flags: { model: 'tiny' } }]);
  });

  test('are each model with each value, named by what differs', () => {
    const models = ['openai:http://a#x', 'openai:http://a#y'];
    expect(labels(models, ['temperature=0,1'])).toEqual([
      ...['x, temperature=0', 'x, temperature=1'],
      ...['y, temperature=0', 'y, temperature=1'],
    ]);
    expect(labels(['tiny'], ['top-p=0.5,1'])).toEqual(['topP=0.5', 'topP=1']);
    expect(labels(['openai:http://a#x', 'openai:http://b#x'], [])).toEqual(['openai:http://a#x', 'openai:http://b#x']);
    expect(variantsOf([], ['environment=./a.ts'], {})[0]!.flags).toEqual({ environment: ['./a.ts'] });
  });

  test('have names of their own, whatever the values hold', () => {
    const labels = ['system=../work/brief.txt', 'prompt={{ body }}', 'topP=0.5', '{{}}', `prompt=${'x'.repeat(99)}. `];
    const names = [labels, ['prompt={{ a }}', 'prompt={{ a }}?', '??']].flatMap((some) => slugsOf(some, 98));
    expect(names.map((name) => isRunName(`a-${name}`))).toEqual(names.map(() => true));
    expect(new Set(names).size).toBe(names.length);
    expect(slugsOf([`${'x'.repeat(9)}a`, `${'x'.repeat(9)}b`], 9)).toEqual(['1-xxxxxxx', '2-xxxxxxx']);
    expect(slugsOf(['gpt-x, temperature=0', 'topP=0.5'], 98)).toEqual(['gpt-x-temperature-0', 'topP-0.5']);
  });

  test.each([
    [['temperature'], {}, 'names no values'],
    [['temperature=0,'], {}, 'names no values'],
    [['temprature=0,1'], {}, 'is not an option'],
    [['temperature=0,1', 'temperature=2'], {}, 'given twice'],
    [['temperature=0,1'], { temperature: '1' }, 'given twice'],
    [[`seed=${Array.from({ length: 40 }, (_, i) => i).join()}`], {}, 'These are 40 runs'],
  ])('refuse %j', (vary, flags, said) => {
    expect(() => variantsOf([], vary, flags)).toThrow(said);
  });
});
