// Qualifiers behind the definition of a function that change nothing: "for all x", "\forall x \in \mathbb{R}", "for some
// constant c". Only of a real variable that is the function's own, or a constant that occurs in its body.

const REAL = String.raw`(?:\s*\\in\s*\\mathbb\s*\{?R\}?)?`;
const ALL = new RegExp(
  String.raw`^(?:(?:for (?:all|every|any|each)|where)\s*(?:real\s*)?(?:numbers?\s*)?|\\forall\s*)([a-z])${REAL}(?:\s*is (?:any )?real)?$`,
);
const SOME =
  /^(?:(?:for (?:some|any|all|every|a|an arbitrary)|where|with)\s*)?(?:(?:arbitrary|real|fixed)\s*)*(?:constants?\s*)?([a-z])(?:\s*\\in\s*\\mathbb\s*\{?R\}?|\s*is (?:an?|any|some)?\s*(?:arbitrary |real |fixed )*constant|\s*constant)?$/i;

/** The definition without a qualifier that says what a definition says anyway. */
export function withoutQualifier(text: string): string {
  if (!/^\W*[A-Za-z]\s*\([a-z]\)\s*=/.test(text)) return text;
  const flat = text
    .replace(/\\(?:text|mathrm|mbox)\s*\{([^{}]*)\}/g, ' $1 ')
    .replace(/\$|\\q?quad|\\[,;:! ()]/g, ' ')
    .replace(/\s+/g, ' ')
    .replace(/[.,;\s]+$/, '');
  const m = /^ ?([A-Za-z] ?\(([a-z])\) ?=(.*?)),? ?((?:for|where|with) .*|\\forall.*|[a-zA-Z] ?\\in.*)$/.exec(flat);
  const [, definition = '', variable = '', body = '', qualifier = ''] = m ?? [];
  if (definition === '' || /[,;]/.test(body)) return text;
  if (ALL.exec(qualifier)?.[1] === variable) return definition;
  const constant = SOME.exec(qualifier)?.[1];
  const named = constant !== undefined && constant !== variable && /constant|\\in/.test(qualifier);
  return named && body.replace(/\\[A-Za-z]+/g, ' ').includes(constant) ? definition : text;
}
