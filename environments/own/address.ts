// The address of an environment's server: `https://…#shape&option=value`. The shape is the form of its messages.

import { UsageError } from '../../domain/errors.ts';
import { MAX_IDLE_SECONDS, MAX_TIMEOUT_SECONDS } from '../../domain/environment.ts';
import { short } from '../../domain/foreign-text.ts';

const SHAPES = ['everturn', 'openrlhf', 'slime', 'nemo-gym', 'openenv'] as const;
export type Shape = (typeof SHAPES)[number];

/** Of `#openenv`. */
export interface OpenEnvOptions {
  /** The field of its action that takes the answer; absent: as its schema says. */
  readonly action?: string;
  /** The fields of its observation that the model sees; absent: those that are not empty. */
  readonly show?: readonly string[];
  readonly idleSeconds?: number;
  readonly timeoutSeconds?: number;
}

export interface Address {
  /** Without a fragment. */
  readonly base: string;
  readonly shape: Shape;
  readonly options: OpenEnvOptions;
  /** For messages. */
  readonly who: string;
}

export function addressOf(href: string): Address {
  const url = new URL(href);
  const [named = '', ...given] = url.hash.slice(1).split('&');
  const shape = SHAPES.find((known) => known === (named || 'everturn'));
  if (!shape) {
    throw refused(
      href,
      `names the shape ${JSON.stringify(short(named, 40))}`,
      `Give one of: ${SHAPES.map((known) => `#${known}`).join(', ')}.`,
    );
  }
  const options = given.map((one) => optionOf(href, shape, one));
  url.hash = '';
  return { base: url.href.replace(/\/$/, ''), shape, options: Object.assign({}, ...options), who: url.host };
}

function optionOf(href: string, shape: Shape, text: string): OpenEnvOptions {
  const at = text.indexOf('=');
  const [name, value] = [text.slice(0, Math.max(at, 0)), decoded(text.slice(at + 1))];
  if (shape === 'openenv' && value !== '') {
    if (name === 'action') return { action: value };
    if (name === 'show') return { show: value.split(',') };
    if (name === 'idleSeconds') return { idleSeconds: secondsOf(href, name, value, MAX_IDLE_SECONDS) };
    if (name === 'timeoutSeconds') return { timeoutSeconds: secondsOf(href, name, value, MAX_TIMEOUT_SECONDS) };
  }
  throw refused(
    href,
    `has the option ${JSON.stringify(short(text, 40))}`,
    shape === 'openenv'
      ? 'Give #openenv with any of &action=<field>, &show=<field>,<field>, &idleSeconds=<n>, &timeoutSeconds=<n>.'
      : 'Only #openenv has options.',
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function secondsOf(href: string, name: string, text: string, most: number): number {
  const seconds = Number(text);
  if (seconds > 0 && seconds <= most) return seconds;
  throw refused(href, `has ${name}=${short(text, 20)}`, `Give a number above 0 and up to ${most}.`);
}

function refused(href: string, problem: string, fix: string): UsageError {
  return new UsageError(`--environment ${short(href, 200)} ${problem}.`, { reason: 'bad-value', fix });
}
