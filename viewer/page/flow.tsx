// The changes that feedback made: at each turn the rollouts that were right and wrong, and between two turns those that stayed,
// were repaired or were spoiled. The table below it holds the same numbers for readers who do not see it.

import type { JSX } from 'preact';
import type { TurnSummary } from '../model/summary.ts';
import { count, percent } from './format.ts';
import { Legend } from './parts.tsx';

const WIDTH = 960;
const TOP = 44;
const HEIGHT = 190;
const BOTTOM = 26;
const BAR = 12;
const GAP = 3;
const MOST_TURNS = 16;

export function Flow({ turns }: { readonly turns: readonly TurnSummary[] }): JSX.Element {
  const shown = turns.slice(0, MOST_TURNS);
  const most = Math.max(1, ...shown.map(({ judged }) => judged));
  const scale = (HEIGHT - GAP) / most;
  const step = shown.length > 1 ? (WIDTH - 2 * EDGE) / (shown.length - 1) : 0;
  const x = (i: number) => (shown.length > 1 ? EDGE + i * step : WIDTH / 2);
  return (
    <>
      <svg class="flow" viewBox={`0 0 ${WIDTH} ${TOP + HEIGHT + BOTTOM}`} role="img" aria-label={said(shown)}>
        {shown.map((turn, i) =>
          i === 0 ? null : (
            <Between key={turn.turn} from={shown[i - 1]!} to={turn} x0={x(i - 1)} x1={x(i)} scale={scale} />
          ),
        )}
        {shown.map((turn, i) => (
          <At key={turn.turn} turn={turn} x={x(i)} scale={scale} />
        ))}
      </svg>
      <Legend colours={COLOURS.slice(0, shown.length > 1 ? undefined : 2)} />
    </>
  );
}

/** Room for half a label such as "12,345 of 20,000". */
const EDGE = 60;
const COLOURS = [
  ['right', 'right'],
  ['wrong', 'wrong'],
  ['stayed-right', 'stayed right'],
  ['repaired', 'wrong, then right'],
  ['spoiled', 'right, then wrong'],
  ['stayed-wrong', 'stayed wrong'],
] as const;

function At({
  turn,
  x,
  scale,
}: {
  readonly turn: TurnSummary;
  readonly x: number;
  readonly scale: number;
}): JSX.Element {
  const right = turn.right * scale;
  const wrong = (turn.judged - turn.right) * scale;
  return (
    <g>
      <text x={x} y={18} class="big" text-anchor="middle">
        {percent(turn.right, turn.judged)}
      </text>
      <text x={x} y={34} text-anchor="middle">
        {count(turn.right)} of {count(turn.judged)}
      </text>
      {right > 0 && <rect x={x - BAR / 2} y={TOP} width={BAR} height={right} rx="2" class="right" />}
      {wrong > 0 && <rect x={x - BAR / 2} y={TOP + right + GAP} width={BAR} height={wrong} rx="2" class="wrong" />}
      <text x={x} y={TOP + HEIGHT + 20} text-anchor="middle">
        turn {turn.turn}
      </text>
    </g>
  );
}

interface BetweenProps {
  readonly from: TurnSummary;
  readonly to: TurnSummary;
  readonly x0: number;
  readonly x1: number;
  readonly scale: number;
}

/** On the left: right, of which some are spoiled, then wrong, of which some are repaired; on the right in the same order. */
function Between({ from, to, x0, x1, scale }: BetweenProps): JSX.Element {
  const [repaired, spoiled] = [to.repairs.count, to.spoils.count];
  const [stayedRight, stayedWrong] = [to.spoils.of - spoiled, to.repairs.of - repaired];
  const left = { right: TOP, wrong: TOP + from.right * scale + GAP };
  const end = { right: TOP, wrong: TOP + to.right * scale + GAP };
  const bands: readonly (readonly [string, number, number, number])[] = [
    ['stayed-right', left.right, end.right, stayedRight],
    ['stayed-wrong', left.wrong + repaired * scale, end.wrong + spoiled * scale, stayedWrong],
    ['repaired', left.wrong, end.right + stayedRight * scale, repaired],
    ['spoiled', left.right + stayedRight * scale, end.wrong, spoiled],
  ];
  return (
    <g>
      {bands.map(([name, y0, y1, n]) =>
        n === 0 ? null : (
          <path key={name} class={`band ${name}`} d={band(x0 + BAR / 2, y0, x1 - BAR / 2, y1, n * scale)}>
            <title>{`turn ${from.turn} to ${to.turn}: ${count(n)} ${name.replace('-', ' ')}`}</title>
          </path>
        ),
      )}
    </g>
  );
}

function band(x0: number, y0: number, x1: number, y1: number, height: number): string {
  const middle = (x0 + x1) / 2;
  return (
    `M${x0} ${y0}C${middle} ${y0} ${middle} ${y1} ${x1} ${y1}` +
    `V${y1 + height}C${middle} ${y1 + height} ${middle} ${y0 + height} ${x0} ${y0 + height}Z`
  );
}

function said(turns: readonly TurnSummary[]): string {
  return `Right: ${turns.map(({ turn, right, judged }) => `turn ${turn} ${percent(right, judged)}`).join(', ')}. The table below has all numbers.`;
}
