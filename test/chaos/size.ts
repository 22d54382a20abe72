// How large a chaos test is: its full numbers with EVERTURN_CHAOS=full (`npm run test:chaos`), else a tenth of them.

export const FULL = process.env['EVERTURN_CHAOS'] === 'full';

export function sized(full: number): number {
  return FULL ? full : Math.max(1, Math.round(full / 10));
}
