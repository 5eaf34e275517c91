/** Queries the imitation of a node and a real node alike, and compares their answers. */
import assert from 'node:assert/strict';

export interface Both<T> {
  readonly imitation: T;
  readonly real: T;
}

export interface HttpAnswer {
  readonly status: number;
  readonly type: string | null;
  /** JSON where the body is JSON, else its text. */
  readonly body: unknown;
}

const timeout_ms = 20_000;

export const onBoth = async <T>(urls: Both<string>, run: (url: string) => Promise<T>): Promise<Both<T>> => {
  const [imitation, real] = await Promise.all([run(urls.imitation), run(urls.real)]);
  return { imitation, real };
};

/** Sends one HTTP request to both nodes. */
export const askBoth = (urls: Both<string>, request: RequestInit): Promise<Both<HttpAnswer>> =>
  onBoth(urls, async (url) => {
    const response = await fetch(url, { ...request, signal: AbortSignal.timeout(timeout_ms) });
    const text = await response.text();
    return { status: response.status, type: response.headers.get('content-type'), body: jsonOr(text) };
  });

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const jsonHeaders = { 'content-type': 'application/json' } as const;

/** Calls a JSON-RPC method on both nodes. @param params undefined: the request has none */
export const callBoth = (urls: Both<string>, method: string, params?: unknown): Promise<Both<HttpAnswer>> =>
  askBoth(urls, {
    method: 'POST',
    headers: jsonHeaders,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) }),
  });

/** Reduces a value to its kind: which fields there are, and of which type. A list is the union of its elements' shapes. */
export function shapeOf(value: unknown): unknown {
  if (value === null) return 'null';
  if (Array.isArray(value)) return [...new Set(value.map((each) => JSON.stringify(shapeOf(each))))].toSorted();
  if (typeof value === 'object') return mapValues(value, shapeOf);
  return typeof value === 'string' ? kindOf(value) : typeof value;
}

/** Short words are part of a protocol ("finalized"), other texts are content. */
function kindOf(text: string): string {
  if (/^[A-Za-z][A-Za-z+-]{0,29}$/.test(text)) return text;
  if (/^\d+$/.test(text)) return 'digits';
  return /^0x[0-9a-fA-F]*$/.test(text) ? 'hex' : 'text';
}

/** Maps the fields of an object, in the order of their names. */
export const mapValues = (object: object, map: (value: unknown, key: string) => unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(object)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, value]) => [key, map(value, key)]),
  );

export interface Difference {
  readonly path: string;
  readonly imitation: unknown;
  readonly real: unknown;
}

/** Lists where two values differ. */
export function differencesIn({ imitation, real }: Both<unknown>, path = ''): readonly Difference[] {
  if (isObject(imitation) && isObject(real) && Array.isArray(imitation) === Array.isArray(real)) {
    const keys = new Set([...Object.keys(imitation), ...Object.keys(real)]);
    return [...keys].flatMap((key) => differencesIn({ imitation: imitation[key], real: real[key] }, `${path}.${key}`));
  }
  return Object.is(imitation, real) ? [] : [{ path, imitation, real }];
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const shownMax = 3_000;
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, shownMax);

/** @param compare reduces an answer to the part that must be equal. @param isMeant whether a difference is listed as meant */
export function assertSameAnswer<T>(
  asked: string,
  answers: Both<T>,
  compare: (answer: T) => unknown,
  isMeant: (difference: Difference) => boolean = () => false,
): void {
  const compared = { imitation: compare(answers.imitation), real: compare(answers.real) };
  const differences = differencesIn(compared).filter((difference) => !isMeant(difference));
  if (differences.length === 0) return;
  const lines = differences.map(
    ({ path, imitation, real }) => `  ${path || 'answer'}: real ${shown(real)}, imitation ${shown(imitation)}`,
  );
  const both = `real node: ${shown(answers.real)}\nimitation: ${shown(answers.imitation)}`;
  assert.fail(`${asked.slice(0, shownMax)} is answered differently:\n${lines.join('\n')}\n${both}`);
}
