// Tools of the user's own: everturn run rows.jsonl --tool examples/tools/shop.ts
// A price list that may be read again and again, and an order that must not be sent twice.

const PRICES: Record<string, number> = { apple: 3, pear: 4, plum: 5 };

export const tools = [
  {
    name: 'price',
    description: 'The price of one fruit.',
    effect: 'pure',
    parameters: {
      type: 'object',
      properties: { fruit: { type: 'string', enum: Object.keys(PRICES) } },
      required: ['fruit'],
      additionalProperties: false,
    },
    run({ fruit }: { fruit: string }) {
      return `${PRICES[fruit]}`;
    },
  },
  {
    name: 'order',
    description: 'Orders fruit, at once and for good.',
    effect: 'once',
    timeoutSeconds: 30,
    parameters: {
      type: 'object',
      properties: { fruit: { type: 'string' }, count: { type: 'integer', minimum: 1, maximum: 100 } },
      required: ['fruit', 'count'],
    },
    async run({ fruit, count }: { fruit: string; count: number }, { key, signal }: { key: string; signal: AbortSignal }) {
      const shop = process.env['ENVIRONMENT_SHOP'];
      if (PRICES[fruit] === undefined) throw new Error(`We have no ${fruit}.`);
      if (shop) await fetch(shop, { method: 'POST', headers: { 'idempotency-key': key }, signal });
      return { ordered: count, fruit, total: count * PRICES[fruit] };
    },
  },
];
