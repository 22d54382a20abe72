// The versions of an answer's tokens: those that the server named for this answer. A reply with spans names them itself. For
// any other reply the server is asked before and after: one version for all tokens, or the reply is refused. Guarantees
// contiguous spans that cover every token, and an empty one of an answer without tokens. A server that never names a version is at version 0, without a label.

import { ModelError } from '../../domain/errors/errors.ts';
import { short } from '../../domain/text/foreign-text.ts';
import { FIRST_VERSION, versionNumber } from '../../domain/weights/weight-version.ts';
import type { NamedAdapter } from '../../domain/weights/adapter.ts';
import type { VersionSpan } from '../../domain/rollout/turn.ts';
import { badReply, type RequestPlace } from '../http/http-errors.ts';

/** Every record stores the string, so a long one is cut. */
const LABEL_CHARS = 200;

type Version = string | number | null | undefined;

export interface ReportedSpan {
  readonly version?: Version;
  readonly start: number;
  readonly end: number;
}

/** A reply as far as it names versions. */
interface SaidVersions {
  readonly spans: readonly ReportedSpan[] | null | undefined;
  /** The version of the whole answer. */
  readonly label?: Version;
}

/** The versions of one server's weights. */
interface Versions {
  /** Asked before a request; undefined: not asked, because replies have spans. */
  before(signal: AbortSignal | undefined): Promise<string | null | undefined>;
  /** Null if the spans do not cover `tokens` tokens. */
  of(
    said: SaidVersions,
    tokens: number,
    before: string | null | undefined,
    signal?: AbortSignal,
  ): Promise<VersionSpan[] | null>;
}

/** `now` asks the server; null: it does not say. `spans`: whether its first reply had spans. */
export function openVersions(
  place: RequestPlace,
  now: (signal?: AbortSignal) => Promise<string | null>,
  spans: boolean,
): Versions {
  let asks = !spans;
  let names = spans;
  return {
    before: async (signal) => (asks ? now(signal) : undefined),
    async of(said, tokens, before, signal) {
      if (tokens === 0)
        return [oneSpan(labelOf(said.label ?? said.spans?.at(-1)?.version) ?? (await now(signal)), 0, 0)];
      if (said.spans) {
        names = true;
        if (said.spans.some(({ version }) => labelOf(version) === null)) throw unnamed(place);
        return reportedSpans(said.spans, tokens);
      }
      asks = true;
      const label = labelOf(said.label);
      if (before === undefined) throw moved(place, 'did not say which weights gave this answer');
      const after = label !== null && label === before ? before : await now(signal);
      if (label !== null && label !== before && before === after) throw alien(place, label, after);
      if (before !== after || (label !== null && label !== after)) {
        throw moved(place, 'changed its weights during this answer, and does not report at which token');
      }
      names ||= after !== null;
      if (after === null && names) throw unnamed(place);
      return [oneSpan(after, 0, tokens)];
    },
  };
}

/** The spans of an answer by an adapter: its own, where the model under it was one throughout, the run's. */
export function adapterSpans(
  adapter: NamedAdapter | undefined,
  spans: VersionSpan[] | null,
  place: RequestPlace,
): VersionSpan[] | null {
  if (!adapter || !spans?.[0]) return spans;
  const [first, another] = spans;
  const isAnother = another !== undefined || (adapter.base !== null && adapter.base !== first.versionLabel);
  if (isAnother) throw moved(place, `changed the model under the adapter ${adapter.name}`);
  return [oneSpan(adapter.label, first.start, spans.at(-1)!.end)];
}

/** The label of what an adapter makes; that of the model where there is none, or it belongs to another one. */
export const versionUnder = (adapter: NamedAdapter | undefined, model: string | null): string | null =>
  adapter && (adapter.base === null || adapter.base === model) ? adapter.label : model;

/** Null where nothing is named. */
export function labelOf(version: Version): string | null {
  return version === null || version === undefined || version === '' ? null : String(version);
}

/** Null if the spans do not cover `tokens` tokens. Empty ones are dropped, equal neighbours joined. */
function reportedSpans(reported: readonly ReportedSpan[], tokens: number): VersionSpan[] | null {
  const spans: VersionSpan[] = [];
  let end = 0;
  for (const span of reported) {
    if (span.start !== end || span.end < span.start) return null;
    end = span.end;
    if (span.start === span.end) continue;
    const last = spans.at(-1);
    const next = oneSpan(labelOf(span.version), span.start, span.end);
    if (last && last.versionLabel === next.versionLabel && last.version === next.version) {
      spans[spans.length - 1] = { ...last, end };
    } else spans.push(next);
  }
  return end === tokens ? spans : null;
}

function oneSpan(label: string | null, start: number, end: number): VersionSpan {
  if (label === null) return { version: FIRST_VERSION, start, end };
  return { version: versionNumber(label), versionLabel: label.slice(0, LABEL_CHARS), start, end };
}

/** The tokens cannot be assigned to versions, so the answer is requested again. */
function moved({ url }: RequestPlace, what: string): ModelError {
  return new ModelError(`${url} ${what}`, {
    reason: 'version-moved',
    retryable: true,
    flaw: 'weights that changed during the answer',
  });
}

function alien(place: RequestPlace, said: string, is: string | null): ModelError {
  const [one, other] = [said, is].map((label) => short(JSON.stringify(label), 100));
  return badReply(`says that its weights are ${one}; the server says ${other}, before and after`, place, {
    flaw: 'a weight version that the server does not have',
  });
}

function unnamed(place: RequestPlace): ModelError {
  return badReply('named no weight version for this answer, and has named one before', place, {
    flaw: 'no weight version',
  });
}
