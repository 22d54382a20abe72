// A formula as MathML, by Temml. Its tree becomes elements one by one: those that are named here, with the attributes and
// styles that are named here, so that no command of TeX reaches anything else. A formula that Temml cannot read, or that is
// beyond the limits of formula-tree.ts, is shown as it was written.

import { h, type ComponentChild, type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { visible } from '../../domain/text/foreign-text.ts';
import { plain } from '../model/visible-bytes.ts';
import { formulaTree, type Node, openBudget } from './formula-tree.ts';

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

const AGAIN_MS = 500;

export function Tex({ tex, display }: { readonly tex: string; readonly display: boolean }): JSX.Element {
  const [tries, setTries] = useState(0);
  const found = useMemo(() => mathOf(tex, display), [tex, display, tries]);
  useEffect(() => {
    if (found !== LATER) return undefined;
    const timer = setTimeout(() => setTries(tries + 1), AGAIN_MS);
    return () => clearTimeout(timer);
  }, [found, tries]);
  return (
    <span class={display ? 'formula display' : 'formula'} title={plain(tex)}>
      {found === undefined || found === LATER ? <code>{plain(tex)}</code> : found}
    </span>
  );
}

const budget = openBudget(() => performance.now());
const LATER = Symbol('no time is left for formulas now');

/** Undefined if it cannot be shown. */
function mathOf(tex: string, display: boolean): ComponentChild | typeof LATER {
  if (!budget.isLeft()) return LATER;
  const began = performance.now();
  const found = formulaTree(tex, display);
  const elements = found && elementsOf(found.tree);
  budget.spend(performance.now() - began, found?.elements ?? 0);
  return elements;
}

function elementsOf(node: Node): ComponentChild {
  const children = node.children?.map(elementsOf) ?? [];
  if (node.text !== undefined) return visible(node.text);
  return node.type !== undefined && ELEMENTS.has(node.type) ? h(node.type, propsOf(node), ...children) : children;
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
