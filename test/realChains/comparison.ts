/** Sends the same requests to an imitation of a node and to a real node. Each family compares the shapes of its own answers. */
import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { isFull } from '../support/suite.ts';

export interface Both<T> {
  readonly imitation: T;
  readonly real: T;
}

/** URLs of an imitation and of the real node. */
export type Nodes = Both<string>;

export interface HttpAnswer {
  readonly status: number;
  readonly contentType: string | null;
  /** Parsed JSON, or the text if it is not JSON. */
  readonly body: unknown;
}

const timeout_ms = 30_000;
const gateSeed = 39;

export const jsonHeaders = { 'content-type': 'application/json' } as const;

/** Seed of generated calls. The gate repeats one seed, so that only a change can fail it. The full suite takes another one in each run. @param variable repeats a run's seed */
export const seedFrom = (variable: string): number =>
  Number(process.env[variable] || (isFull ? randomInt(2 ** 31) : gateSeed));

/** Runs something on both nodes at the same time. */
export async function onBoth<T, On = string>(nodes: Both<On>, run: (on: On) => Promise<T>): Promise<Both<T>> {
  const [imitation, real] = await Promise.all([run(nodes.imitation), run(nodes.real)]);
  return { imitation, real };
}

/** Sends one HTTP request: by default a POST of JSON. */
export async function post(url: string, body: string | null, init: RequestInit = {}): Promise<HttpAnswer> {
  const signal = AbortSignal.timeout(timeout_ms);
  const response = await fetch(url, { method: 'POST', headers: jsonHeaders, body, signal, ...init });
  const { status, headers } = response;
  return { status, contentType: headers.get('content-type'), body: parsed(await response.text()) };
}

/** Calls a JSON-RPC method. @param params undefined: the request has none */
export const call = (url: string, method: string, params?: unknown): Promise<HttpAnswer> =>
  post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));

/** @returns the text if it is not JSON */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;

/** Maps the fields of an object, in the order of their names. */
export const mapFields = <T>(object: object, map: (value: unknown, field: string) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(
    Object.entries(object)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([field, value]) => [field, map(value, field)]),
  );

/** A type by name, each field's shape, or the shapes that occur in a list. */
export type Shape = string | { readonly [field: string]: Shape } | readonly Shape[];

export interface ShapeOptions {
  /** Names the kind of a text: contents of the same kind are not compared. */
  readonly kindOfText: (text: string) => string;
  /** A separate shape for a field; undefined without one. */
  readonly ofField?: (name: string, value: unknown) => Shape | undefined;
}

/** Reduces hashes, numbers and times to their kind, and a list to the different shapes of its elements. */
export function createShapes({ kindOfText, ofField }: ShapeOptions): (value: unknown) => Shape {
  return function shapeOf(value: unknown): Shape {
    if (value === null || value === undefined) return 'null';
    if (typeof value === 'string') return kindOfText(value);
    if (Array.isArray(value)) {
      const shapes = new Map(value.map(shapeOf).map((shape) => [JSON.stringify(shape), shape]));
      return [...shapes].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, shape]) => shape);
    }
    const fields = asObject(value);
    if (!fields) return typeof value;
    return mapFields(fields, (inner, name) => ofField?.(name, inner) ?? shapeOf(inner));
  };
}

export interface Difference {
  /** Fields and places, such as `.result.value[0].err`; empty for the whole. */
  readonly path: string;
  readonly imitation: unknown;
  readonly real: unknown;
}

/** Lists where two values differ, each by its deepest path. Lists of different lengths differ as a whole. */
export function differencesIn({ imitation, real }: Both<unknown>, path = ''): readonly Difference[] {
  const [ours, theirs] = [asObject(imitation), asObject(real)];
  if (ours && theirs) {
    const fields = new Set([...Object.keys(ours), ...Object.keys(theirs)]);
    return [...fields].flatMap((field) =>
      differencesIn({ imitation: ours[field], real: theirs[field] }, `${path}.${field}`),
    );
  }
  if (Array.isArray(imitation) && Array.isArray(real) && imitation.length === real.length)
    return imitation.flatMap((each, at) => differencesIn({ imitation: each, real: real[at] }, `${path}[${at}]`));
  return Object.is(imitation, real) ? [] : [{ path, imitation, real }];
}

const shownMax = 3_000;
const shown = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, shownMax);

/**
 * @param reduce an answer to the part that must be equal
 * @param isMeant true if a difference is listed as accepted
 * @throws AssertionError with the request, the differences and both answers
 */
export function assertSame<T>(
  asked: string,
  answers: Both<T>,
  reduce: (answer: T) => unknown,
  isMeant: (difference: Difference) => boolean = () => false,
): void {
  const compared = { imitation: reduce(answers.imitation), real: reduce(answers.real) };
  const differences = differencesIn(compared).filter((difference) => !isMeant(difference));
  if (differences.length === 0) return;
  const lines = differences.map(
    ({ path, imitation, real }) => `  ${path || 'answer'}: imitation ${shown(imitation)}, real node ${shown(real)}`,
  );
  const both = `imitation: ${shown(answers.imitation)}\nreal node: ${shown(answers.real)}`;
  assert.fail(`${asked.slice(0, shownMax)} is answered differently:\n${lines.join('\n')}\n${both}`);
}
