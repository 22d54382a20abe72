// What `check` says of a feed's ledger beside its faults.

import { describe, expect, test } from 'vitest';
import { ledgerLine } from '../../cli/commands/check.ts';
import { shortened } from '../../library/check.ts';

describe('check on a ledger', () => {
  test('says how many entries it read, and whether a feed could confirm them', () => {
    expect(ledgerLine(7, 7)).toBe("The feed's ledger: 7 entries checked; the run's feed counts 7.");
    expect(ledgerLine(1, undefined)).toMatch(/1 entry checked; no feed answers/);
    expect(shortened(3, 7)).toEqual({ path: 'feed', problem: "has 3 entries; the run's feed counts 7" });
  });
});
