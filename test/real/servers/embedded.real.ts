import { describe } from 'vitest';
import { honestTests } from './honest-tests.ts';

describe('the embedded model', () => {
  honestTests(
    () => ({ raw: 'tiny', other: 'tiny', both: 'tiny', rawFlags: '' }),
    (line) => void process.stdout.write(`tiny: ${line}\n`),
  );
});
