// A server's own words on its failure, wherever it puts them: under a status or in a reply of status 200, as an object, a
// text or a list, with its code as a number or as a word. Words that are not known here change nothing.

/** A failure as a server tells it. Some put it into a list of one. */
export interface Complaint {
  readonly words: string;
  /** Its names for the failure: `code`, `type`, `status`, `param`. */
  readonly codes: string;
  /** The HTTP status that it names; null if it names none. */
  readonly status: number | null;
  readonly meaning: Meaning | null;
  /** The model wrote it, and the server could not read a call in it. */
  readonly written?: string | undefined;
}

/**
 * used-up   nothing helps but a payment or another key
 * withheld  a filter withheld the request or the answer
 * key       the key is missing or refused
 * busy      it passes
 * model     no such model is there
 */
export type Meaning = 'used-up' | 'withheld' | 'key' | 'busy' | 'model';

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
  if (!isFields(body)) return { words: asWords(body), codes: '', status: null, meaning: meaningOf([], body) };
  const { error } = body;
  const inner = isFields(error) ? error : {};
  const said = (isFields(error) ? inner['message'] : error) ?? body['message'] ?? body['detail'] ?? body['msg'];
  // A gateway has the words of the server behind it there.
  const more = isFields(inner['metadata']) ? inner['metadata'] : {};
  const behind = more['raw'];
  const words = [asWords(said ?? body), ...(behind === undefined ? [] : [asWords(behind)])].join(': ');
  const named = [inner, body].flatMap((fields) => ['code', 'type', 'status', 'status_code'].map((key) => fields[key]));
  const texts = (all: readonly unknown[]) => [...new Set(all.filter((one) => typeof one === 'string'))].join(' ');
  const number = named.map(Number).find((code) => Number.isInteger(code) && code >= 400 && code < 600);
  const codes = texts([...named, inner['param'], body['param']]);
  const filters = JSON.stringify([body['prompt_filter_results'], body['promptFeedback']]);
  const isFiltered = more['flagged_input'] !== undefined || /"filtered":true|"blockReason":"/.test(filters);
  const meaning = isFiltered
    ? 'withheld'
    : meaningOf([...named, ...listOf(inner['details']).map(reasonOf)], said, behind);
  const { failed_generation: failed = UNREAD_CALL.exec(asWords(said))?.[1] } = inner;
  const written = typeof failed === 'string' ? failed : undefined;
  return { words, codes, status: number ?? statusOf(texts(named)), meaning, written };
}

/** Ollama's. */
const UNREAD_CALL = /error parsing tool call: raw='(.*)',? err=/s;

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

/** Codes and words of OpenAI, Anthropic, Google, Azure, Bedrock, DashScope, DeepSeek, Zhipu, Moonshot, xAI, OpenRouter and others. */
const MEANINGS: readonly (readonly [Meaning, 'codes' | 'words', RegExp])[] = [
  [
    'used-up',
    'codes',
    /insufficient_(?:user_)?(?:quota|balance|credits?|funds)|billing_(?:hard_limit_reached|not_active)|exceeded_current_quota_error|arrearage|payment_required/i,
  ],
  ['used-up', 'words', /credit balance is too low|insufficient (?:account )?balance|insufficient credits/i],
  [
    'withheld',
    'codes',
    /(?:content_?(?:filter|policy|safety)|moderation)(?!_?(?:error|fail|time|unavail))|data_?inspection_?failed|ResponsibleAI|sensitive_?content|censorship|\b1301\b/i,
  ],
  [
    'withheld',
    'words',
    /\b(?:prompt|input|output|content|response|completion|request|message)s?\b.{0,40}\b(?:flagged|filtered|blocked|rejected)\b.{0,60}\b(?:content|moderation|safety) (?:filter|guideline|management|moderation|polic|system)/is,
  ],
  [
    'withheld',
    'words',
    /\b(?:prompt|input|output|content|response|completion)s?\b.{0,40}\bviolat\w+ .{0,20}\b(?:content|safety|usage) (?:guideline|polic)|\b(?:prompt|input|output|content|response)s? (?:was|were|has been|have been) (?:flagged|filtered)\b|content_?policy_?violation/is,
  ],
  [
    'withheld',
    'words',
    /\b[Bb]lock(?:ed|_?[Rr]eason)\b.{0,80}\b(?:PROHIBITED_CONTENT|SAFETY|RECITATION|BLOCKLIST|SPII)\b/s,
  ],
  ['withheld', 'words', /content exists risk|inappropriate content|considered high risk|不安全或敏感内容/i],
  ['key', 'codes', /invalid_?api_?key|api_?key_?invalid/i],
  [
    'key',
    'words',
    /\bapi[ _-]?key\b(?: provided)?(?: is| was)? (?:not valid|invalid|not found|expired|missing)|\b(?:invalid|incorrect|missing|expired|no) (?:api[ _-]?key|auth\w* (?:credentials|token))/i,
  ],
  ['busy', 'codes', /throttl|too_?many_?requests|rate_?limit|model_not_ready|overloaded/i],
  [
    'busy',
    'words',
    /throttlingexception|\btoo many (?:concurrent )?requests|\brate limit (?:exceeded|reached)|\bno (?:instances?|workers?|replicas?|capacity)\b.{0,20} available|\bmodel\b.{0,60} is (?:still |currently |being )*(?:loading|starting|overloaded)/i,
  ],
  ['model', 'codes', /model_?not_?(?:found|exist)/i],
  [
    'model',
    'words',
    /\bmodel:? (?:[`'"][^`'"]+[`'"] |[\w./:@-]+ )?(?:does not exist|doesn't exist|not exist|not found|was not found)|not a valid model|unknown model|invalid model (?:name|id)/i,
  ],
];

/** `said`: what a server repeats of the request, in a list or an object, says nothing. */
function meaningOf(codes: readonly unknown[], ...said: readonly unknown[]): Meaning | null {
  const texts = { codes: codes.join(' '), words: said.filter((one) => typeof one === 'string').join(' ') };
  return MEANINGS.find(([, place, known]) => known.test(texts[place]))?.[0] ?? null;
}

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

/** The reason in a detail as Google writes it. */
const reasonOf = (detail: unknown): unknown => (isFields(detail) ? detail['reason'] : undefined);
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);

function asWords(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
