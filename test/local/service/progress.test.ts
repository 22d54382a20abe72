import { describe, expect, test } from 'vitest';
import { printProgress, type BuildProgress } from '../../../local/service/progress.ts';

const BUILD: BuildProgress = {
  kind: 'build',
  phase: 'compiling',
  elapsedMs: 65_000,
  done: 430,
  total: 1718,
  remainingMs: 120_000,
};

function printed(isTTY: boolean, ...progress: Parameters<ReturnType<typeof printProgress>>[0][]): string {
  let text = '';
  const print = printProgress({ isTTY, write: (part: string) => (text += part) });
  for (const p of progress) print(p);
  return text;
}

describe('the progress of a long step', () => {
  test('redraws one line on a terminal, and ends it before the next text', () => {
    const text = printed(true, BUILD, { ...BUILD, done: 859 }, { kind: 'step', text: 'Next.' });
    expect(text.split('\n')).toHaveLength(3);
    expect(text).toContain('████████████░░░░░░░░░░░░ 1:05 · compiling, 859 of 1718 packages · about 2:00 left');
    expect(text.endsWith('\nNext.\n')).toBe(true);
  });

  test('writes a plain line now and then elsewhere, without control characters', () => {
    const ticks = Array.from({ length: 30 }, (_, second) => ({ ...BUILD, elapsedMs: second * 1000 }));
    const text = printed(false, ...ticks);
    expect(text.trimEnd().split('\n')).toHaveLength(3);
    for (const control of ['\r', '\x1b']) expect(text).not.toContain(control);
  });
});
