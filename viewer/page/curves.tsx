// A training run over its weight versions: return, accuracy, length of answers and staleness, one small curve each. A rollout
// is of the version that gave its first answer. New points appear while the run goes on.

import type { JSX } from 'preact';
import type { VersionSummary } from '../model/summary.ts';
import { brief, count, decimals, share } from './format.ts';

const [WIDTH, HEIGHT, TOP] = [400, 110, 8];

const CURVES: readonly {
  readonly name: string;
  readonly title: string;
  readonly value: (at: VersionSummary) => number | null;
  readonly text: (value: number) => string;
}[] = [
  { name: 'return', title: 'mean G₁ of complete rollouts', value: (at) => at.meanReturn, text: decimals },
  { name: 'right at any turn', title: 'of rollouts that have ended', value: (at) => at.right, text: share },
  { name: 'tokens of an answer', title: 'their mean', value: (at) => at.tokens, text: brief },
  {
    ...{ name: 'staleness', title: 'versions from the first answer of a rollout to its last, on average' },
    ...{ value: (at: VersionSummary) => at.staleness, text: decimals },
  },
];

export function Curves({ versions }: { readonly versions: readonly VersionSummary[] }): JSX.Element {
  return (
    <div class="curves">
      {CURVES.map(({ name, title, value, text }) => {
        const points = versions.flatMap((at) => {
          const y = value(at);
          return y === null ? [] : [{ at, y }];
        });
        return points.length === 0 ? null : (
          <figure key={name} title={title}>
            <figcaption class="line apart">
              <span>{name}</span>
              <b>{text(points.at(-1)!.y)}</b>
            </figcaption>
            <Curve label={name} points={points} text={text} />
          </figure>
        );
      })}
    </div>
  );
}

interface CurveProps {
  readonly label: string;
  readonly points: readonly { readonly at: VersionSummary; readonly y: number }[];
  readonly text: (value: number) => string;
}

function Curve({ label, points, text }: CurveProps): JSX.Element {
  const all = points.map(({ y }) => y);
  const [least, most] = [Math.min(0, ...all), Math.max(...all)];
  const [from, to] = [points[0]!.at.version, points.at(-1)!.at.version];
  const x = ({ version }: VersionSummary) => (WIDTH * (version - from)) / Math.max(1, to - from);
  const y = (value: number) => TOP + HEIGHT * (1 - (value - least) / (most - least || 1));
  const said = `${label}: ${text(all[0]!)} at version ${from}, ${text(all.at(-1)!)} at version ${to}`;
  return (
    <svg viewBox={`-6 0 ${WIDTH + 12} ${HEIGHT + TOP + 22}`} role="img" aria-label={said}>
      <path class="axis" d={`M0 ${y(0)}H${WIDTH}`} />
      <polyline points={points.map((point) => `${x(point.at)},${y(point.y)}`).join(' ')} />
      {points.map(({ at, y: value }) => (
        <circle key={at.version} cx={x(at)} cy={y(value)} r="3">
          <title>{`version ${at.version}: ${text(value)}, ${count(at.rollouts)} rollouts`}</title>
        </circle>
      ))}
      <text x={0} y={HEIGHT + TOP + 18}>
        version {from}
      </text>
      <text x={WIDTH} y={HEIGHT + TOP + 18} text-anchor="end">
        {to}
      </text>
    </svg>
  );
}
