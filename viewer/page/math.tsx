// A formula as MathML, by Temml. Its tree becomes elements one by one: those that are named here, with the attributes and
// styles that are named here, so that no command of TeX reaches anything else. A formula that Temml cannot read, that
// defines macros or grows too large is shown as it was written.

import { h, type ComponentChild, type JSX } from 'preact';
import temml from 'temml';
import { visible } from '../../domain/text/foreign-text.ts';
import { plain } from '../model/visible-bytes.ts';

/** A node of Temml's tree: an element, a fragment, or a text. */
interface Node {
  readonly type?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, unknown>>;
  readonly classes?: readonly string[];
  readonly style?: Readonly<Record<string, unknown>>;
  readonly children?: readonly Node[];
}

/** Its declaration names what a bundler does not find. */
const { __renderToMathMLTree: treeOf } = temml as unknown as {
  readonly __renderToMathMLTree: (tex: string, options: object) => Node;
};

const ELEMENTS = new Set(
  (
    'math mrow mi mn mo ms mtext mspace mfrac msqrt mroot mstyle msub msup msubsup munder mover munderover ' +
    'mmultiscripts mprescripts mtable mtr mtd mpadded mphantom menclose'
  ).split(' '),
);
const ATTRIBUTES = new Set(
  (
    'mathvariant mathcolor mathbackground mathsize stretchy fence form lspace rspace minsize maxsize columnalign rowspacing ' +
    'columnspacing columnlines rowlines displaystyle scriptlevel linethickness width height depth voffset accent accentunder ' +
    'separator largeop movablelimits symmetric notation display'
  ).split(' '),
);
const STYLES = /^(?:color|backgroundColor|(?:padding|border|margin)(?:Left|Right|Top|Bottom)?|width|height|textAlign)$/;
const VALUE = /^[\w .#%(),+-]{0,80}$/;
const MACROS = /\\(?:[gex]?def|let|futurelet|newcommand|renewcommand|providecommand|expandafter)(?![a-zA-Z])/;
const MOST_NODES = 6_000;
const MOST_DEPTH = 80;
const OPTIONS = { trust: false, throwOnError: true, maxExpand: 500, maxSize: [20, 200] as [number, number] };

export function Tex({ tex, display }: { readonly tex: string; readonly display: boolean }): JSX.Element {
  const found = mathOf(tex, display);
  return (
    <span class={display ? 'formula display' : 'formula'} title={plain(tex)}>
      {found ?? <code>{plain(tex)}</code>}
    </span>
  );
}

/** Undefined if it cannot be shown. */
function mathOf(tex: string, display: boolean): ComponentChild | undefined {
  if (MACROS.test(tex)) return undefined;
  try {
    let left = MOST_NODES;
    const elements = (node: Node, depth: number): ComponentChild => {
      if (depth > MOST_DEPTH || left-- <= 0) throw new RangeError('too large');
      const children = node.children?.map((child) => elements(child, depth + 1)) ?? [];
      if (node.text !== undefined) return visible(node.text);
      return node.type !== undefined && ELEMENTS.has(node.type) ? h(node.type, propsOf(node), ...children) : children;
    };
    return elements(treeOf(tex, { ...OPTIONS, displayMode: display }), 0);
  } catch {
    return undefined;
  }
}

function propsOf({ attributes = {}, classes = [], style = {} }: Node): Record<string, unknown> {
  const known = Object.entries(attributes).filter(([name, value]) => ATTRIBUTES.has(name) && VALUE.test(String(value)));
  const styles = Object.entries(style).filter(([name, value]) => STYLES.test(name) && VALUE.test(String(value)));
  return {
    ...Object.fromEntries(known.map(([name, value]) => [name, String(value)])),
    ...(classes.length > 0 && { class: classes.filter((name) => /^[a-z-]+$/.test(name)).join(' ') }),
    ...(styles.length > 0 && { style: Object.fromEntries(styles) }),
  };
}
