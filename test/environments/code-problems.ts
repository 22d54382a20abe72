// Small problems on lists, texts and numbers.

import { problem, type Problem, sum } from './code-problem.ts';
import { MORE_PROBLEMS } from './code-more-problems.ts';

const lists = [[[3, 1, 2]], [[5, 5, 5, 1]], [[-1, 0, 7, 7, 2]]];
const words = [['banana'], ['abracadabra'], ['x']];
const isPrime = (n: number) =>
  n > 1 && Array.from({ length: Math.floor(Math.sqrt(n)) - 1 }, (_, i) => i + 2).every((d) => n % d);

export const PROBLEMS: readonly Problem[] = [
  problem('sum', 'xs: List[int]', lists, sum, 'return sum(xs)'),
  problem('sorted', 'xs: List[int]', lists, (xs: number[]) => xs.sort((a, b) => a - b), 'xs.sort()\nreturn xs'),
  problem(
    'maximum',
    'xs: List[int]',
    lists,
    (xs: number[]) => Math.max(...xs),
    'best = -inf\nfor x in xs: best = max(best, x)\nreturn best',
  ),
  problem('mean', 'xs: List[int]', lists, (xs: number[]) => sum(xs) / xs.length, 'return sum(xs) / len(xs)'),
  problem(
    'distinct in order',
    'xs: List[int]',
    lists,
    (xs: number[]) => [...new Set(xs)],
    'return list(dict.fromkeys(xs))',
  ),
  problem('reversed', 'xs: List[int]', lists, (xs: number[]) => xs.toReversed(), 'return xs[::-1]'),
  problem(
    'running sums',
    'xs: List[int]',
    lists,
    (xs: number[]) => xs.map((_, i) => sum(xs.slice(0, i + 1))),
    'return list(accumulate(xs))',
  ),
  problem(
    'counts',
    'xs: List[int]',
    lists,
    (xs: number[]) => xs.map((x) => xs.filter((y) => y === x).length),
    'c = Counter(xs)\nreturn [c[x] for x in xs]',
  ),
  problem(
    'minimum and maximum',
    'xs: List[int]',
    lists,
    (xs: number[]) => [Math.min(...xs), Math.max(...xs)],
    'return min(xs), max(xs)',
  ),
  problem(
    'square root of the squares',
    'xs: List[int]',
    lists,
    (xs: number[]) => Math.sqrt(sum(xs.map((x) => x * x))),
    'return sqrt(sum(x * x for x in xs))',
  ),
  problem(
    'two largest by a heap',
    'xs: List[int]',
    lists,
    (xs: number[]) => xs.sort((a, b) => b - a).slice(0, 2),
    'return heapq.nlargest(2, xs)',
  ),
  problem(
    'pairs',
    'xs: List[int]',
    lists,
    (xs: number[]) => xs.slice(1).map((x, i) => [xs[i], x]),
    'return list(zip(xs, xs[1:]))',
  ),
  problem(
    'is sorted',
    'xs: List[int]',
    lists,
    (xs: number[]) => xs.every((x, i) => i === 0 || xs[i - 1]! <= x),
    'return all(a <= b for a, b in zip(xs, xs[1:]))',
  ),
  problem(
    'best subarray',
    'xs: List[int]',
    lists,
    (xs: number[]) => Math.max(...xs.flatMap((_, i) => xs.slice(i).map((_, j) => sum(xs.slice(i, i + j + 1))))),
    'best = cur = xs[0]\nfor x in xs[1:]:\n    cur = max(x, cur + x)\n    best = max(best, cur)\nreturn best',
  ),
  problem(
    'letters',
    's: str',
    words,
    (s: string) => Object.fromEntries([...s].map((c) => [c, s.split(c).length - 1])),
    'd = defaultdict(int)\nfor c in s: d[c] += 1\nreturn dict(d)',
  ),
  problem('backwards', 's: str', words, (s: string) => [...s].toReversed().join(''), "return ''.join(reversed(s))"),
  problem(
    'palindrome',
    's: str',
    [...words, ['abba']],
    (s: string) => s === [...s].toReversed().join(''),
    'return s == s[::-1]',
  ),
  problem('upper', 's: str', words, (s: string) => s.toUpperCase(), 'return s.upper()'),
  problem(
    'first single letter',
    's: str',
    words,
    (s: string) => [...s].findIndex((c) => s.indexOf(c) === s.lastIndexOf(c)),
    'return next((i for i, c in enumerate(s) if s.count(c) == 1), -1)',
  ),
  problem(
    'or nothing',
    's: str',
    words,
    (s: string) => (s.length > 1 ? s[1] : null),
    'return s[1] if len(s) > 1 else None',
  ),
  problem(
    'by a regular expression',
    's: str',
    words,
    (s: string) => s.replace(/a+/g, '*'),
    "import re\nreturn re.sub('a+', '*', s)",
  ),
  problem(
    'run lengths',
    's: str',
    [['aabccc'], ['a'], ['']],
    (s: string) => (s.match(/(.)\1*/g) ?? []).map((r) => [r[0], r.length]),
    'return [[k, len(list(g))] for k, g in itertools.groupby(s)]',
  ),
  problem(
    'fibonacci',
    'n: int',
    [[1], [10], [75]],
    (n: number) => {
      let [a, b] = [0n, 1n];
      for (let i = 0; i < n; i++) [a, b] = [b, a + b];
      return Number(a);
    },
    '@lru_cache(None)\ndef f(k): return k if k < 2 else f(k - 1) + f(k - 2)\nreturn f(n)',
  ),
  problem(
    'factorial',
    'n: int',
    [[0], [5], [15]],
    (n: number) => Array.from({ length: n }, (_, i) => i + 1).reduce((a, b) => a * b, 1),
    'return math.factorial(n)',
  ),
  problem(
    'primes below',
    'n: int',
    [[2], [30], [100]],
    (n: number) => Array.from({ length: n }, (_, i) => i).filter(isPrime),
    'sieve = bytearray([1]) * n\nsieve[:2] = b"\\0\\0"[:n]\nfor i in range(2, isqrt(n) + 1):\n    if sieve[i]: sieve[i*i::i] = bytes(len(sieve[i*i::i]))\nreturn [i for i in range(n) if sieve[i]]',
  ),
  problem(
    'collatz',
    'n: int',
    [[1], [7], [27]],
    (n: number) => {
      let k = 0;
      for (; n !== 1; k++) n = n % 2 ? 3 * n + 1 : n / 2;
      return k;
    },
    'k = 0\nwhile n != 1:\n    n = 3 * n + 1 if n % 2 else n // 2\n    k += 1\nreturn k',
  ),
  problem('binary digits', 'n: int', [[1], [10], [255]], (n: number) => n.toString(2), 'return bin(n)[2:]'),
  problem(
    'digit sum',
    'n: int',
    [[0], [999], [12345]],
    (n: number) => sum([...String(n)].map(Number)),
    'return sum(map(int, str(n)))',
  ),
  problem(
    'deep recursion',
    'n: int',
    [[10], [5000], [30000]],
    (n: number) => n,
    'def down(k): return 0 if k == 0 else 1 + down(k - 1)\nreturn down(n)',
  ),
  problem('steps of a tenth', 'n: int', [[1], [3], [7]], (n: number) => n / 10, 'return sum(0.1 for _ in range(n))'),
  problem('pi', 'n: int', [[2000]], () => 2000 * Math.PI, 'return n * math.pi'),
  problem('a whole float', 'n: int', [[2], [5]], (n: number) => n, 'return n / 1'),
  problem(
    'permutations',
    'n: int',
    [[1], [3]],
    (n: number) =>
      n === 1
        ? [[0]]
        : [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
          ],
    'return [p for p in permutations(range(n))]',
  ),
  problem(
    'queens',
    'n: int',
    [[1], [4], [6]],
    (n: number) => ({ 1: 1, 4: 2, 6: 4 })[n],
    'def place(row, used):\n    if row == n: return 1\n    return sum(place(row + 1, used + [c]) for c in range(n) if all(c != u and abs(c - u) != row - r for r, u in enumerate(used)))\nreturn place(0, [])',
  ),
  ...MORE_PROBLEMS,
];
