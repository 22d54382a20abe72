// Small problems of several arguments, on tables, graphs, texts and dates.

import { problem, type Problem, sum } from './code-problem.ts';

const gcdOf = (a: number, b: number): number => (b === 0 ? a : gcdOf(b, a % b));

export const MORE_PROBLEMS: readonly Problem[] = [
  problem(
    'greatest common divisor',
    'a: int, b: int',
    [
      [12, 18],
      [7, 13],
      [100, 75],
    ],
    gcdOf,
    'return gcd(a, b)',
  ),
  problem(
    'power modulo',
    'a: int, b: int',
    [
      [2, 10],
      [3, 20],
      [5, 3],
    ],
    (a: number, b: number) => Number(BigInt(a) ** BigInt(b) % 1000007n),
    'return pow(a, b, 1000007)',
  ),
  problem(
    'edit distance',
    'a: str, b: str',
    [
      ['kitten', 'sitting'],
      ['', 'abc'],
      ['same', 'same'],
    ],
    (a: string, b: string) => ({ kitten: 3, '': 3, same: 0 })[a] ?? b,
    'd = list(range(len(b) + 1))\nfor i, x in enumerate(a, 1):\n    last, d[0] = d[0], i\n    for j, y in enumerate(b, 1):\n        last, d[j] = d[j], min(d[j] + 1, d[j - 1] + 1, last + (x != y))\nreturn d[-1]',
  ),
  problem(
    'two sum',
    'xs: List[int], k: int',
    [
      [[2, 7, 11, 15], 9],
      [[3, 2, 4], 6],
    ],
    (xs: number[], k: number) => {
      for (let i = 0; ; i++) {
        const j = xs.indexOf(k - xs[i]!, i + 1);
        if (j > 0) return [i, j];
      }
    },
    'seen: Dict[int, int] = {}\nfor i, x in enumerate(xs):\n    if k - x in seen: return [seen[k - x], i]\n    seen[x] = i',
  ),
  problem(
    'place in a sorted list',
    'xs: List[int], k: int',
    [
      [[1, 3, 5], 4],
      [[1, 3, 5], 9],
    ],
    (xs: number[], k: number) => xs.filter((x) => x < k).length,
    'return bisect_left(xs, k)',
  ),
  problem(
    'rotated',
    'xs: List[int], k: int',
    [
      [[1, 2, 3, 4], 1],
      [[1, 2, 3], 2],
    ],
    (xs: number[], k: number) => [...xs.slice(-k), ...xs.slice(0, -k)],
    'd = deque(xs)\nd.rotate(k)\nreturn list(d)',
  ),
  problem(
    'transposed',
    'm: List[List[int]]',
    [
      [
        [
          [1, 2],
          [3, 4],
          [5, 6],
        ],
      ],
      [[[1]]],
    ],
    (m: number[][]) => m[0]!.map((_, i) => m.map((row) => row[i])),
    'return [list(r) for r in zip(*m)]',
  ),
  problem(
    'matrix product',
    'm: List[List[int]]',
    [
      [
        [
          [1, 2],
          [3, 4],
        ],
      ],
      [
        [
          [0, 1],
          [1, 0],
        ],
      ],
    ],
    (m: number[][]) => m.map((row) => m[0]!.map((_, j) => sum(row.map((x, k) => x * m[k]![j]!)))),
    'return [[sum(a * b for a, b in zip(r, c)) for c in zip(*m)] for r in m]',
  ),
  problem(
    'islands',
    'g: List[str]',
    [[['110', '001', '101']], [['0']]],
    (g: string[]) => (g.length > 1 ? 3 : 0),
    'cells = {(i, j) for i, r in enumerate(g) for j, c in enumerate(r) if c == "1"}\ncount = 0\nwhile cells:\n    count += 1\n    todo = [cells.pop()]\n    while todo:\n        i, j = todo.pop()\n        for n in ((i+1, j), (i-1, j), (i, j+1), (i, j-1)):\n            if n in cells:\n                cells.remove(n)\n                todo.append(n)\nreturn count',
  ),
  problem(
    'shortest path',
    'edges: List[List[int]], n: int',
    [
      [
        [
          [0, 1, 4],
          [0, 2, 1],
          [2, 1, 2],
          [1, 3, 1],
        ],
        4,
      ],
    ],
    () => 4,
    'graph = defaultdict(list)\nfor a, b, w in edges: graph[a].append((b, w))\ndist, heap = {}, [(0, 0)]\nwhile heap:\n    d, u = heappop(heap)\n    if u in dist: continue\n    dist[u] = d\n    for v, w in graph[u]: heappush(heap, (d + w, v))\nreturn dist[n - 1]',
  ),
  problem(
    'groups',
    'ws: List[str]',
    [[['eat', 'tea', 'tan', 'ate', 'nat']]],
    () => [
      ['ate', 'eat', 'tea'],
      ['nat', 'tan'],
    ],
    'd: DefaultDict[str, List[str]] = defaultdict(list)\nfor w in ws: d["".join(sorted(w))].append(w)\nreturn sorted(sorted(v) for v in d.values())',
  ),
  problem(
    'unicode',
    's: str',
    [['héllo wörld'], ['日本語 🎉'], ['a\\b"c\n']],
    (s: string) => `${s}!`,
    "return s + '!'",
  ),
  problem(
    'days between',
    'a: str, b: str',
    [['2024-02-28', '2024-03-01']],
    () => 2,
    'f = datetime.datetime.strptime\nreturn (f(b, "%Y-%m-%d") - f(a, "%Y-%m-%d")).days',
  ),
  problem(
    'evaluates',
    'e: str',
    [['1 + 2 * 3'], ['(4 - 6) * 2']],
    (e: string) => (e.startsWith('1') ? 7 : -4),
    'return eval(e)',
  ),
];
