import { describe, expect, test } from 'vitest';
import { openTurnNotices } from '../../activities/turn-notices.ts';

const ID = { out: '/runs', run: 'r', query: 'q', sample: 0, attempt: 1 };
const never = new Promise<void>(() => undefined);

describe('the call of an agent', () => {
  test('is answered by a turn that is told of, also while its Update goes on, and by no other', async () => {
    const stored = openTurnNotices();
    const [first, other] = [stored.toldOr(never, ID, 1), stored.toldOr(never, ID, 2)];
    let answered = false;
    void other.then(() => (answered = true));
    stored.tell(ID, 1);
    await first;
    expect(answered).toBe(false);
  });

  test('is answered by the end of its Update where another worker played the turn, and fails as that does', async () => {
    const stored = openTurnNotices();
    await stored.toldOr(Promise.resolve(), ID, 1);
    await expect(stored.toldOr(Promise.reject(new Error('refused')), ID, 1)).rejects.toThrow('refused');
  });
});
