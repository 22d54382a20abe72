// A training run over its weight versions: return, accuracy, length of answers and staleness, one small curve each. A rollout
// is of the version that gave its first answer. And its held-out evaluations. New points appear while the run goes on.

import type { JSX } from 'preact';
import type { Interval } from '../../domain/statistics/mean.ts';
import type { Evaluation } from '../model/messages.ts';
import type { VersionSummary } from '../model/summary.ts';
import { runHref } from './route.ts';
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
    name: 'staleness',
    title: 'versions from the first answer of a rollout to the step that trained on it, on average',
    value: (at) => at.staleness,
    text: decimals,
  },
];

interface Point {
  readonly version: number;
  readonly y: number;
  readonly rollouts: number;
  /** 95 %. */
  readonly interval?: Interval | null;
  /** Its own run. */
  readonly run?: string;
}

interface Props {
  readonly versions: readonly VersionSummary[];
  readonly evaluations: readonly Evaluation[];
  /** The runs of evaluations have pages. */
  readonly linked: boolean;
}

export function Curves({ versions, evaluations, linked }: Props): JSX.Element {
  const heldOut = evaluations.flatMap(({ version, right, rollouts, interval, run }): Point[] =>
    right === null ? [] : [{ version, y: right, rollouts, interval, ...(linked && { run }) }],
  );
  const curves = CURVES.map(({ value, ...curve }) => ({
    ...curve,
    points: versions.flatMap((at): Point[] => {
      const y = value(at);
      return y === null ? [] : [{ version: at.version, y, rollouts: at.rollouts }];
    }),
  }));
  const title = 'held-out rollouts that are right at any turn, and 95 % intervals';
  const all = [{ name: 'right, held out', title, text: share, points: heldOut }, ...curves];
  const numbers = [...versions, ...evaluations].map(({ version }) => version);
  const range = [Math.min(...numbers), Math.max(...numbers)] as const;
  const open = evaluations.filter(({ state }) => state === 'open');
  return (
    <>
      <div class="curves">
        {all.map(({ name, title, text, points }) =>
          points.length === 0 ? null : (
            <figure key={name} title={title}>
              <figcaption class="line apart">
                <span>{name}</span>
                <b>{text(points.at(-1)!.y)}</b>
              </figcaption>
              <Curve label={name} points={points} text={text} range={range} />
            </figure>
          ),
        )}
      </div>
      {open.map(({ version, run, total }) => (
        <p key={version} class="dim">
          Version {version} is being evaluated by {run}, on {count(total)} held-out rollouts.
        </p>
      ))}
    </>
  );
}

interface CurveProps {
  readonly label: string;
  readonly points: readonly Point[];
  readonly text: (value: number) => string;
  /** The first and the last version: the same for all curves. */
  readonly range: readonly [number, number];
}

function Curve({ label, points, text, range: [from, to] }: CurveProps): JSX.Element {
  const all = points.flatMap(({ y, interval }) => [y, ...(interval ?? [])]);
  const [least, most] = [Math.min(0, ...all), Math.max(...all)];
  const x = ({ version }: Point) => (WIDTH * (version - from)) / Math.max(1, to - from);
  const y = (value: number) => TOP + HEIGHT * (1 - (value - least) / (most - least || 1));
  const [first, last] = [points[0]!, points.at(-1)!];
  const said = `${label}: ${text(first.y)} at version ${first.version}, ${text(last.y)} at version ${last.version}`;
  return (
    <svg
      viewBox={`-6 0 ${WIDTH + 12} ${HEIGHT + TOP + 22}`}
      role={points.some(({ run }) => run !== undefined) ? 'group' : 'img'}
      aria-label={said}
    >
      <path class="axis" d={`M0 ${y(0)}H${WIDTH}`} />
      <polyline points={points.map((point) => `${x(point)},${y(point.y)}`).join(' ')} />
      {points.map((point) => {
        const { version, y: value, rollouts, interval, run } = point;
        const words = `version ${version}: ${text(value)}, ${count(rollouts)} rollouts`;
        const dot = (
          <circle cx={x(point)} cy={y(value)} r="3">
            <title>{words}</title>
          </circle>
        );
        return (
          <g key={version}>
            {interval && <path class="interval" d={`M${x(point)} ${y(interval[0])}V${y(interval[1])}`} />}
            {run === undefined ? (
              dot
            ) : (
              <a href={runHref(run)} aria-label={words}>
                {dot}
              </a>
            )}
          </g>
        );
      })}
      <text x={0} y={HEIGHT + TOP + 18}>
        version {from}
      </text>
      <text x={WIDTH} y={HEIGHT + TOP + 18} text-anchor="end">
        {to}
      </text>
    </svg>
  );
}
