// Asks three times side by side, and takes the most frequent answer. Temporal replays the function after a crash.
//
//   everturn run examples/arithmetic.jsonl --agent ./examples/agents/vote.ts --limit 20

import { agent } from 'everturn/agent';

export default agent(async ({ row, ask }) => {
  const replies = await Promise.all([1, 2, 3].map(() => ask(String(row['question']))));
  const numbers = replies.map(({ text }) => text.match(/-?\d+/g)?.at(-1) ?? '');
  const votes = (number: string) => numbers.filter((other) => other === number).length;
  return numbers.toSorted((one, other) => votes(other) - votes(one))[0]!;
});
