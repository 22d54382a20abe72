import { test } from 'vitest';
import { judgeMath } from '../../environments/math/judge.ts';
import { parseAnswer } from '../../environments/math/parse.ts';
test('x', () => {
  for (const [s, a] of [['\\frac{m_1 v_1 + m_2 v_2}{m_1 + m_2}', '\\boxed{v_f = \\frac{m_2 v_2 + m_1 v_1}{m_2 + m_1}}'],['5','\\boxed{\\text{at least } 5}'],['4t^2 + 7t + 6','\\boxed{6 + 7t + 4t^2}'],['n \\equiv 1 \\pmod 4','n ≡ 1 (mod 4)'],['5','So 6 = 5.'],['-4','\\boxed{-4_9}']])
    console.log(JSON.stringify([s, a, judgeMath(a, [s])]));
  const show = (x: string) => console.log(JSON.stringify(parseAnswer(x, { grouping: true, decimalComma: false }), (_, v) => typeof v === 'bigint' ? Number(v) : v));
  show('\\text{at least } 5'); show('6 + 7t + 4t^2'); show('v_f = \\frac{m_2 v_2 + m_1 v_1}{m_2 + m_1}');
});
