/** Asks an imitation and a real node the same, and compares status, error code, kind of error, and every field's presence and type. */
import assert from 'node:assert/strict';

/** URLs of an imitation and of the real node. */
export interface Nodes {
  readonly imitation: string;
  readonly real: string;
}

/** One answer of each node. */
export interface Both<T> {
  readonly imitation: T;
  readonly real: T;
}

export interface HttpAnswer {
  readonly status: number;
  /** Parsed JSON; text where it is none. */
  readonly body: unknown;
}

/** A difference that stays. The docs have a table of them. */
export interface MeantDifference {
  readonly method: string;
  readonly real: string;
  readonly imitation: string;
  readonly reason: string;
  /** Field of the method's result that the comparison leaves out. */
  readonly field?: string;
}

const timeout_ms = 30_000;
const jsonHeaders = { 'content-type': 'application/json' };

/** Sends a body as it is, by default with POST and as JSON. */
export async function send(url: string, body: string, init: RequestInit = {}): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(timeout_ms);
  const response = await fetch(url, { method: 'POST', headers: jsonHeaders, body, signal, ...init });
  return { status: response.status, body: parsed(await response.text()) };
}

/** Calls a method. Omitted params are not sent. */
export const call = (url: string, method: string, params?: unknown): Promise<HttpAnswer> =>
  send(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, ...(params !== undefined && { params }) }));

/** Asks both nodes at once. */
export async function askBoth<T>(nodes: Nodes, ask: (url: string) => Promise<T>): Promise<Both<T>> {
  const [imitation, real] = await Promise.all([ask(nodes.imitation), ask(nodes.real)]);
  return { imitation, real };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text.trim();
  }
}

/** What a value looks like: fields by name, the shapes of a list's elements, and a kind for each text and number. */
export type Shape = string | readonly Shape[] | { readonly [field: string]: Shape };

/** Fields whose values are compared, not only their kinds. */
const exactFields = new Set(['status', 'type', 'code', 'jsonrpc']);

export function shapeOf(value: unknown): Shape {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'string') return kindOfText(value);
  if (typeof value !== 'object') return typeof value;
  if (Array.isArray(value)) return union(value.map(shapeOf));
  const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(fields.map(([name, inner]) => [name, shapeOfField(name, inner)]));
}

function shapeOfField(name: string, value: unknown): Shape {
  if (exactFields.has(name) && (typeof value === 'string' || typeof value === 'number')) return `= ${value}`;
  if (name === 'message') return `= ${String(value).replaceAll(/\d+/g, '#')}`;
  // An error's first line names it; a log may follow.
  if (name === 'error' && typeof value === 'string') return `= ${value.split('\n')[0]}`;
  return shapeOf(value);
}

function union(shapes: readonly Shape[]): readonly Shape[] {
  const byText = new Map(shapes.map((shape) => [JSON.stringify(shape), shape]));
  return [...byText].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, shape]) => shape);
}

const textKinds: readonly (readonly [string, RegExp])[] = [
  ['digits', /^-?\d+$/],
  ['hash', /^(0x)?[0-9a-f]{64}$/i],
  ['address', /^(0x[0-9a-f]{40}|[GCM][A-Z2-7]{55,})$/i],
  ['time', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/],
  ['base64', /^(?=.{4,}$)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/],
];

const kindOfText = (text: string): string => textKinds.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';

/** @param asked names the request in a failure @param meant differences of its method */
export function assertSameAnswer(
  asked: string,
  { imitation, real }: Both<HttpAnswer>,
  meant: readonly MeantDifference[] = [],
): void {
  const shape = ({ status, body }: HttpAnswer) => shapeOf({ status, body: without(body, meant) });
  try {
    assert.deepEqual(shape(imitation), shape(real));
  } catch (error) {
    const difference = error instanceof Error ? error.message : String(error);
    assert.fail(`${asked}\nreal node: ${brief(real)}\nimitation: ${brief(imitation)}\n${difference}`);
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The answer, or the answers of a batch, without fields whose difference is meant. */
function without(body: unknown, meant: readonly MeantDifference[]): unknown {
  if (Array.isArray(body)) return body.map((each) => without(each, meant));
  if (!isObject(body) || !isObject(body['result'])) return body;
  const left = new Set(meant.flatMap(({ field }) => (field === undefined ? [] : [field])));
  const kept = Object.entries(body['result']).filter(([name]) => !left.has(name));
  return { ...body, result: Object.fromEntries(kept) };
}

const briefLength = 1_500;
const brief = ({ status, body }: HttpAnswer): string => `HTTP ${status} ${JSON.stringify(body)}`.slice(0, briefLength);
