// A reply in pieces, as some endpoints send one that was not asked for in pieces, or send no other: put together to the whole
// that readCompletion takes. Pieces of a kind that is not known are left out.

type Fields = Record<string, unknown>;

/** An end that nobody says is a connection that broke. */
const CUT = { error: { message: 'its stream ended before its answer did', code: 502 } };

/** `events`: the data of each event. The last error in them stands for the whole reply; `isEnded`: a mark of the end follows. */
export function joinStream(events: readonly unknown[], isEnded: boolean): unknown {
  const whole: Fields = {};
  const message: Fields = {};
  const logprobs: unknown[] = [];
  const calls: Call[] = [];
  let finish: unknown = null;
  let isBegun = false;
  for (const event of events) {
    if (!isFields(event)) continue;
    for (const key of ['id', 'model', 'usage', 'error', 'object', 'type', 'prompt_filter_results'])
      if (event[key] != null) whole[key] = event[key];
    const [choice] = listOf(event['choices']);
    // An error of some servers has its words at the top.
    if (!choice && typeof event['message'] === 'string') whole['error'] ??= event;
    if (!isFields(choice)) continue;
    isBegun = true;
    finish = choice['finish_reason'] || finish;
    if (choice['error'] != null) whole['error'] ??= choice['error'];
    if (isFields(choice['logprobs'])) logprobs.push(...listOf(choice['logprobs']['content']));
    const delta = isFields(choice['delta']) ? choice['delta'] : isFields(choice['message']) ? choice['message'] : {};
    for (const [key, value] of Object.entries(delta)) {
      if (key === 'tool_calls') for (const part of listOf(value)) addCall(calls, part);
      else if (key !== 'role') message[key] = added(message[key], value);
    }
  }
  if (!isBegun) return { ...whole, choices: [] };
  if (!finish && !isEnded && !whole['error']) return CUT;
  const tool_calls = calls.map(({ id, name, arguments: text, more }) => ({
    ...more,
    ...{ id, function: { name, arguments: text } },
  }));
  const said = { ...message, ...(tool_calls.length > 0 && { tool_calls }) };
  const choice = {
    message: said,
    finish_reason: finish,
    ...(logprobs.length > 0 && { logprobs: { content: logprobs } }),
  };
  return { ...whole, choices: [choice] };
}

interface Call {
  readonly index: unknown;
  id?: unknown;
  name: string;
  arguments: string;
  readonly more: Fields;
}

function addCall(calls: Call[], part: unknown): void {
  if (!isFields(part)) return;
  const given = isFields(part['function']) ? part['function'] : {};
  const index = part['index'] ?? calls.length;
  let call = calls.find((one) => one.index === index);
  if (!call) calls.push((call = { index, name: '', arguments: '', more: {} }));
  call.id ??= part['id'];
  call.name += asText(given['name']);
  call.arguments += asText(given['arguments']);
  for (const [key, value] of Object.entries(part)) if (!OWN.has(key) && value != null) call.more[key] = value;
}

const OWN: ReadonlySet<string> = new Set(['index', 'id', 'type', 'function']);

function added(before: unknown, more: unknown): unknown {
  if (more == null || before == null) return more ?? before;
  if (Array.isArray(before) || Array.isArray(more)) return [before, more].flat();
  return typeof before === 'string' && typeof more === 'string' ? before + more : more;
}

function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value == null ? '' : JSON.stringify(value);
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
