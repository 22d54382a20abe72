// A text in the questions, feedback, answers and found answers of a run: hits are shown as they are found, each with a link
// to its turn. The text is in the address.

import type { JSX } from 'preact';
import type { Hit } from '../../domain/run/hit.ts';
import { inText } from '../model/visible-bytes.ts';
import { count, plural } from './format.ts';
import { Loading, Notice } from './parts.tsx';
import { hrefOf, rolloutRoute, type RunRoute, runHref } from './route.ts';
import { replaceHash } from './replace-hash.ts';
import { SearchField } from './search-field.tsx';
import { type Source, useMessage } from './source.ts';

interface Props {
  readonly route: RunRoute;
  readonly source: Source;
}

const TYPING_MS = 400;
const AGAIN_MS = 400;

export function SearchPage({ route: { run, filter: wanted }, source }: Props): JSX.Element {
  return (
    <div>
      <SearchField
        value={wanted}
        label="Search the texts of the run"
        placeholder="A text, as it is: carry the one"
        most={500}
        afterMs={TYPING_MS}
        first={wanted === ''}
        onText={(text) => replaceHash(runHref(run, 'search', text))}
      />
      {wanted === '' ? (
        <p class="dim">
          Looks in questions, in what the model was told, in answers, and in the answers that the judge found. Upper and
          lower case are the same.
        </p>
      ) : (
        <Hits key={wanted} run={run} text={wanted} source={source} />
      )}
    </div>
  );
}

interface HitsProps {
  readonly run: string;
  readonly text: string;
  readonly source: Source;
}

function Hits({ run, text, source }: HitsProps): JSX.Element {
  const { message, error } = useMessage(
    JSON.stringify(['search', run, text]),
    () => source.search(run, text),
    ({ done }) => (done ? 0 : AGAIN_MS),
  );
  if (!message) return <Loading error={error} />;
  const { hits, done, more, unread } = message;
  return (
    <>
      <p class="dim" role="status">
        {hits.length === 0 ? (done ? 'It occurs nowhere.' : 'Looking …') : plural(hits.length, 'text')}
        {more ? ', and there are more.' : !done && hits.length > 0 && ' so far, still looking …'}
      </p>
      {unread > 0 && (
        <Notice kind="problem">
          {plural(unread, 'record')} could not be read; <code>everturn check {run}</code> names them.
        </Notice>
      )}
      <ol class="hits">
        {hits.map((hit, i) => (
          <Line key={i} run={run} hit={hit} />
        ))}
      </ol>
    </>
  );
}

function Line({ run, hit }: { readonly run: string; readonly hit: Hit }): JSX.Element {
  const { query, sample, attempt, turn, where, before, found, after } = hit;
  const place = { query, sample: sample ?? 0, attempt: attempt ?? 1 };
  const href = hrefOf(rolloutRoute(run, place, { turn }));
  return (
    <li>
      <span>
        <a class="underlined" href={href}>
          {query}
        </a>{' '}
        <span class="dim">
          {[...(place.sample > 0 ? [`sample ${place.sample}`] : []), ...(turn === null ? [] : [`turn ${turn}`])].join(
            ' · ',
          )}{' '}
          {where === 'extracted' ? 'found answer' : where}
        </span>
      </span>
      <span class="text">
        {inText(before)}
        <mark>{inText(found)}</mark>
        {inText(after)}
        {hit.count > 1 && <span class="dim"> {count(hit.count)} times</span>}
      </span>
    </li>
  );
}
