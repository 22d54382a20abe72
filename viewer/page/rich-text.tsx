// A text of a model, a data set or an environment as people read it: Markdown and formulas rendered, or as it was written.
// Elements are made one by one from a list of allowed ones, never from markup, so that no text can become anything else. A
// text is rendered when it comes into sight, and a very long one stays as it was written.

import { createContext, h, type ComponentChild, type JSX, type ComponentChildren } from 'preact';
import { useContext, useEffect, useMemo, useRef, useState, useLayoutEffect } from 'preact/hooks';
import { plain } from '../model/visible-bytes.ts';
import { count } from './format.ts';
import { readMarkdown, type Token } from './markdown.ts';
import { Tex } from './math.tsx';
import { onKey } from './keys.ts';
import { rememberChoice } from './remembered.ts';

type Reading = 'rendered' | 'raw';
const ReadingContext = createContext<Reading>('rendered');

const MOST_CHARS = 60_000;
const MOST_DEPTH = 60;
const NEAR = { rootMargin: '600px' };
const ELEMENTS = new Set(
  'p ul ol li blockquote h1 h2 h3 h4 h5 h6 table thead tbody tr th td em strong s hr br'.split(' '),
);

interface Props {
  readonly text: string;
  /** The text as it was written, if that is another one. */
  readonly raw?: string;
  readonly class?: string;
}

export function RichText({ text, raw = text, class: style = '' }: Props): JSX.Element {
  const reading = useContext(ReadingContext);
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  const rendered = reading === 'rendered' && seen && text.length <= MOST_CHARS;
  useEffect(() => {
    if (reading !== 'rendered' || seen) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    }, NEAR);
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [reading, seen]);
  const content = useMemo(() => (rendered ? elementsOf(text) : plain(raw)), [text, raw, rendered]);
  return (
    <div ref={box} class={`${rendered ? 'rich' : 'text'} ${style}`}>
      {content}
    </div>
  );
}

const MUCH = 40_000;

/** A long text is folded at its middle: its beginning and its end say most. */
export function LongText({ text, class: style }: { readonly text: string; readonly class: string }): JSX.Element {
  const [all, setAll] = useState(false);
  if (all || text.length <= MUCH) return <RichText class={style} text={text} />;
  return (
    <>
      <RichText class={style} text={text.slice(0, MUCH / 2)} />
      <button type="button" onClick={() => setAll(true)}>
        Show {count(text.length - MUCH)} more characters
      </button>
      <RichText class={style} text={text.slice(-MUCH / 2)} />
    </>
  );
}

/** A text that cannot be read as Markdown, because it is nested too deeply for the reader, stays as it is. */
function elementsOf(text: string): ComponentChild {
  try {
    return childrenOf(readMarkdown(text));
  } catch {
    return plain(text);
  }
}

function childrenOf(tokens: readonly Token[]): ComponentChild[] {
  /** The children of the open elements, the outermost first. */
  const open: { readonly token: Token | null; readonly children: ComponentChild[] }[] = [{ token: null, children: [] }];
  for (const token of tokens) {
    const { children } = open.at(-1)!;
    if (token.nesting === 1) open.push({ token, children: [] });
    else if (token.nesting === 0) children.push(leafOf(token));
    else {
      const done = open.pop()!;
      // Emphasis within emphasis has no limit in Markdown.
      const made = open.length > MOST_DEPTH ? done.children : elementOf(done.token!, done.children);
      open.at(-1)!.children.push(made);
    }
  }
  return open[0]!.children;
}

function elementOf(token: Token, children: ComponentChild[]): ComponentChild {
  const { tag, hidden } = token;
  if (tag === 'a') return <Link to={String(token.attrGet('href') ?? '')}>{children}</Link>;
  if (hidden || !ELEMENTS.has(tag)) return children;
  // The page has headings of its own above these.
  const name = tag.replace(/^h([1-6])$/, (_, level: string) => `h${Math.min(6, Number(level) + 2)}`);
  const start = tag === 'ol' ? token.attrGet('start') : null;
  return h(name, start === null ? {} : { start }, ...children);
}

function leafOf(token: Token): ComponentChild {
  const { type, content, children } = token;
  switch (type) {
    case 'inline':
      return childrenOf(children ?? []);
    case 'formula':
      return <Tex tex={content} display={token.block} />;
    case 'code_inline':
      return <code>{plain(content)}</code>;
    case 'fence':
      return <pre class="text">{plain(content)}</pre>;
    case 'softbreak':
    case 'hardbreak':
      return <br />;
    case 'hr':
      return <hr />;
    default:
      return plain(content);
  }
}

/** Opened by a person's click alone, in a tab of its own that knows nothing of this one; its address can be read before. */
function Link({ to, children }: { readonly to: string; readonly children: ComponentChild }): JSX.Element {
  if (!/^https?:\/\//i.test(to)) return <span title={plain(to)}>{children}</span>;
  return (
    <a href={to} title={plain(to)} target="_blank" rel="noreferrer noopener nofollow">
      {children}
    </a>
  );
}

const choice = rememberChoice('everturn-text');
const chosen = (): Reading => (choice.get() === 'raw' ? 'raw' : 'rendered');

interface ReadingSwitchProps {
  readonly children: (button: JSX.Element) => ComponentChildren;
}

/** Gives its children the switch to show, and the texts in them what was chosen. */
export function WithReading({ children }: ReadingSwitchProps): JSX.Element {
  const [reading, setReading] = useState(chosen);
  const turn = () => {
    choice.set(chosen() === 'raw' ? 'rendered' : 'raw');
    setReading(chosen());
  };
  useLayoutEffect(() => onKey({ r: turn }), []);
  const button = (
    <button
      type="button"
      aria-pressed={reading === 'raw'}
      onClick={turn}
      title="Texts as they were written, without Markdown and formulas (R)"
    >
      raw text
    </button>
  );
  return <ReadingContext.Provider value={reading}>{children(button)}</ReadingContext.Provider>;
}
