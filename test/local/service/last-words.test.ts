import { describe, expect, test } from 'vitest';
import { lastWords } from '../../../local/service/start-supervisor.ts';

describe('the last lines of a log', () => {
  test('of a log its last error is shown, without the stack and what came before', () => {
    const log = [
      'worker: starting',
      'Error: an older one',
      '    at old (file.js:1:1)',
      'starting again',
      'everturn: The model in /models/x cannot be read.',
      '  It has no config.json.',
      '    at read (file.js:2:2)',
      'Node.js v20.20.2',
    ].join('\n');
    expect(lastWords(log)).toBe('everturn: The model in /models/x cannot be read.\n  It has no config.json.');
  });

  test('a log without an error shows its last lines, and an empty one nothing', () => {
    expect(lastWords(['1', '2', '3', '4', '5', '6'].join('\n'))).toBe('3\n4\n5\n6');
    expect(lastWords('')).toBe('');
  });
});
