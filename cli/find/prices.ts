// Prices of tokens: two flags, or a file with those of several models. They decide no rollout, and no record has them.

import { resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { unsteered } from '../../domain/rollout/rollout-summary.ts';
import { flawOfWritten, isObject, maybe, objectOf, realNumber, type TypeOf } from '../../domain/schema/fields.ts';
import { readRegular } from '../../local/machine/regular-file.ts';
import type { Cost, CostOf } from '../../library/compare-runs.ts';
import { costBounds, type Prices } from '../../domain/statistics/timing.ts';
import { number, text, unusable, type Values } from '../command.ts';
import type { Io } from '../io.ts';

export const PRICE_FLAGS = {
  priceIn: priceFlag('price of a million tokens of input'),
  priceCached: priceFlag('price of a million cached tokens of input (default: --price-in)'),
  priceOut: priceFlag('price of a million tokens of output'),
  prices: text(
    '<file>',
    'the prices of several models in YAML or JSON, a line each: `gpt-x: {in: 3, cached: 0.3, out: 15}`',
  ),
};

export function costBy(io: Io, flags: Values<typeof PRICE_FLAGS>): CostOf {
  const pricesOf = pricesBy(io, flags);
  return (model, rollouts) => {
    const one = pricesOf(model);
    return one && costBounds(unsteered(rollouts), one);
  };
}

export function pricesBy(
  { cwd }: Io,
  { priceIn, priceCached, priceOut, prices }: Values<typeof PRICE_FLAGS>,
): (model: string | null) => Prices | undefined {
  if ((priceIn === undefined) !== (priceOut === undefined) || (priceIn === undefined && priceCached !== undefined))
    throw unusable('One price alone gives no cost.', 'Give both --price-in and --price-out, per million tokens.');
  const ofFile = prices === undefined ? {} : readPrices(resolve(cwd, prices), prices);
  const given = priceIn !== undefined && { input: priceIn, cached: priceCached ?? priceIn, output: priceOut! };
  return (model) => pricesIn(ofFile, model) ?? (given || undefined);
}

export const costText = (cost: Cost): string => {
  if (cost === null) return '–: an endpoint counted no tokens';
  const [least, most] = cost.map((bound) => bound.toFixed(4));
  return least === most ? least! : `between ${least} and ${most}: nobody said which tokens were cached`;
};

/** Prices are found by the model as --model has it, or by the part behind its `#`. */
function pricesIn(prices: Readonly<Record<string, Prices>>, model: string | null): Prices | undefined {
  const names = model === null ? [] : [model, model.slice(model.indexOf('#') + 1)];
  const known = names.find((name) => Object.hasOwn(prices, name));
  return known === undefined ? undefined : prices[known];
}

const PRICE = realNumber(0, Number.MAX_VALUE, 'a number of at least 0');
const PRICES = objectOf({ in: PRICE, out: PRICE, cached: maybe(PRICE) });
const MOST_BYTES = 1 << 20;

function readPrices(path: string, shown: string): Record<string, Prices> {
  const refused = (what: string, cause?: unknown) =>
    unusable(
      `--prices ${shown}: ${what}.`,
      'Write a line for each model: `gpt-x: {in: 3, cached: 0.3, out: 15}`.',
      'bad-config',
      cause,
    );
  let value: unknown;
  try {
    value = parseYaml(readRegular(path, MOST_BYTES));
  } catch (cause) {
    throw refused('cannot be read as YAML or JSON', cause);
  }
  if (!isObject(value)) throw refused('holds no model');
  return Object.fromEntries(
    Object.entries(value).map(([model, given]) => {
      const flaw = flawOfWritten(PRICES, given);
      if (flaw !== undefined) throw refused(`${model}: ${flaw}`);
      const { in: input, out: output, cached = input } = given as TypeOf<typeof PRICES>;
      return [model, { input, cached, output }];
    }),
  );
}

function priceFlag(help: string) {
  return number('<x>', help, Infinity, 'Give a number of at least 0, per million tokens.');
}
