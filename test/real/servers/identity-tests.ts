// Who a real server is: its name, tokenizer, chat template and canary, against what the
// same files say here and what the other server says.

import { expect, test } from 'vitest';
import { CANARY_TOLERANCE, canaryDistance } from '../../../domain/weights/model-identity.ts';
import { tinyIdentity } from '../../../inference/index.ts';
import type { Place } from './place.ts';

export function identityTests({ traits, backend, open, second, say }: Place): void {
  test('is known by its name, tokenizer, template and canary, as another server of the same model is', async () => {
    const here = await tinyIdentity();
    const one = backend().facts.identity!;
    const alone = await open(second());
    const two = alone.facts.identity!;
    await alone.close();
    const size = Object.keys(one.canary?.values ?? {}).length;
    const distance = one.canary && two.canary ? canaryDistance(one.canary, two.canary) : null;
    say(`identity: name ${one.name}, canary of ${size} values at ${one.canary?.version}`);
    say(`identity: the canaries of two servers differ by ${distance?.toExponential(2)} nats on average`);
    expect(one).toMatchObject({ name: 'tiny', tokenizer: here.tokenizer, template: here.template });
    expect(two).toMatchObject({ name: 'tiny', tokenizer: here.tokenizer, template: here.template });
    expect(one.canary?.version).toBe('default');
    expect(size).toBeGreaterThan(80);
    expect(distance).toBeLessThan(CANARY_TOLERANCE / 100);
    expect(traits.kind).toBeTruthy();
  });
}
