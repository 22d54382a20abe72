// A server's own words on its failure, wherever it puts them: under a status or in a reply of status 200, as an object, a
// text or a list, with its code as a number or as a word. Words that are not known here change nothing.

/** A failure as a server tells it. Some put it into a list of one. */
export interface Complaint {
  readonly words: string;
  /** Its names for the failure: `code`, `type`, `status`, `param`. */
  readonly codes: string;
  /** The HTTP status that it names; null if it names none. */
  readonly status: number | null;
}

type Fields = Readonly<Record<string, unknown>>;

/** The failure in a reply that came with a good status; null if it is none. An empty error beside an answer says nothing. */
export function failureIn(reply: unknown): Complaint | null {
  if (Array.isArray(reply) && reply.length === 1) return failureIn((reply as unknown[])[0]);
  if (!isFields(reply)) return null;
  const [choice] = Array.isArray(reply['choices']) ? (reply['choices'] as unknown[]) : [];
  const inChoice = isFields(choice) && saysMore(choice['error']) ? { error: choice['error'] } : null;
  const isError = reply['object'] === 'error' || reply['type'] === 'error' || saysMore(reply['error']);
  return isError ? complaintIn(reply) : inChoice && complaintIn(inChoice);
}

/** `body`: parsed JSON, or the text as it is. */
export function complaintIn(body: unknown): Complaint {
  if (Array.isArray(body) && body.length === 1) return complaintIn((body as unknown[])[0]);
  if (!isFields(body)) return { words: asWords(body), codes: '', status: null };
  const { error } = body;
  const inner = isFields(error) ? error : {};
  const said = (isFields(error) ? inner['message'] : error) ?? body['message'] ?? body['detail'] ?? body['msg'];
  // A gateway has the words of the server behind it there.
  const behind = isFields(inner['metadata']) ? inner['metadata']['raw'] : undefined;
  const words = [asWords(said ?? body), ...(behind === undefined ? [] : [asWords(behind)])].join(': ');
  const named = [inner, body].flatMap((fields) => ['code', 'type', 'status', 'status_code'].map((key) => fields[key]));
  const texts = (all: readonly unknown[]) => [...new Set(all.filter((one) => typeof one === 'string'))].join(' ');
  const number = named.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  const codes = texts([...named, inner['param'], body['param']]);
  return { words, codes, status: number ?? statusOf(texts(named)) };
}

/** Names of failures, of several providers; the first that fits counts. */
const STATUSES: readonly (readonly [RegExp, number])[] = [
  [/rate_?limit|too_?many_?requests|resource_?exhausted|throttl/i, 429],
  [/context_?length|context_?size/i, 400],
  [/overloaded|unavailable|busy/i, 503],
  [/time_?out|deadline/i, 504],
  [/authentication|invalid_?api_?key|unauthenticated|unauthorized/i, 401],
  [/permission|forbidden/i, 403],
  [/not_?found/i, 404],
  [/invalid_?(?:request|argument|parameter)|bad_?request/i, 400],
  [/server_?error|internal/i, 500],
];

const statusOf = (codes: string): number | null => STATUSES.find(([names]) => names.test(codes))?.[1] ?? null;

/** Nothing helps but a payment or another key: codes of OpenAI, Moonshot, DashScope, one-api and others, and words of two more. */
const USED_UP =
  /insufficient_(?:user_)?(?:quota|balance|credits?|funds)|billing_(?:hard_limit_reached|not_active)|exceeded_current_quota_error|arrearage|payment_required/i;
const USED_UP_WORDS = /credit balance is too low|insufficient (?:account )?balance|insufficient credits/i;

export const isUsedUp = ({ words, codes }: Complaint): boolean => USED_UP.test(codes) || USED_UP_WORDS.test(words);

/** The request or the answer was withheld by a filter: codes of OpenAI, Azure, DashScope, Zhipu and others. */
export const isWithheld = ({ codes }: Complaint): boolean =>
  /content_?(?:filter|policy|safety)|DataInspectionFailed|ResponsibleAI|data_inspection|moderation/i.test(codes);

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LONGEST_WAIT_MS = 10 * 60_000;

/** The pause that a server asks for: in milliseconds, in seconds or until a date; undefined if it names none that is ahead. */
export function pauseIn(headers: Headers, now = Date.now()): number | undefined {
  const [inMs, wait] = ['retry-after-ms', 'retry-after'].map((name) => textOf(headers[name]));
  const pauses = [isNumber(inMs) ? Number(inMs) : NaN, isNumber(wait) ? Number(wait) * 1000 : Date.parse(wait!) - now];
  const pause = pauses.find((ms) => ms > 0);
  return pause === undefined ? undefined : Math.ceil(Math.min(pause, LONGEST_WAIT_MS));
}

const textOf = (header: string | string[] | undefined): string =>
  ((Array.isArray(header) ? header[0] : header) ?? '').trim();
const isNumber = (text: string | undefined): boolean => text !== undefined && /^\d+(?:\.\d+)?$/.test(text);

/** True for an error with words or a code in it; false for `null`, `""`, `{}`, `{"message": "", "code": null}` and `false`. */
function saysMore(error: unknown): boolean {
  if (isFields(error)) return Object.values(error).some(saysMore);
  return Array.isArray(error) ? error.some(saysMore) : Boolean(error);
}

function asWords(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
