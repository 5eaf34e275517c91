/** Compares answers of Stellar nodes: status, error code, kind of error, and every field's presence and type. */
import { asObject, assertSame, type Both, createShapes, type HttpAnswer, type Shape } from './comparison.ts';

/** A difference that stays. The docs have a table of them. */
export interface MeantDifference {
  readonly method: string;
  readonly real: string;
  readonly imitation: string;
  readonly reason: string;
  /** Field of the method's result that the comparison leaves out. */
  readonly field?: string;
}

/** Fields whose values are compared, not only their kinds. */
const exactFields = new Set(['status', 'type', 'code', 'jsonrpc']);

function ofField(name: string, value: unknown): Shape | undefined {
  if (exactFields.has(name) && (typeof value === 'string' || typeof value === 'number')) return `= ${value}`;
  if (name === 'message') return `= ${String(value).replaceAll(/\d+/g, '#')}`;
  // An error's first line names it; a log may follow.
  return name === 'error' && typeof value === 'string' ? `= ${value.split('\n')[0]}` : undefined;
}

const textKinds: readonly (readonly [string, RegExp])[] = [
  ['digits', /^-?\d+$/],
  ['hash', /^(0x)?[0-9a-f]{64}$/i],
  ['address', /^(0x[0-9a-f]{40}|[GCM][A-Z2-7]{55,})$/i],
  ['time', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/],
  ['base64', /^(?=.{4,}$)([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/],
];

const kindOfText = (text: string): string => textKinds.find(([, pattern]) => pattern.test(text))?.[0] ?? 'text';

const shapeOf = createShapes({ kindOfText, ofField });

/** @param asked names the request in a failure @param meant differences of its method */
export function assertSameAnswer(
  asked: string,
  answers: Both<HttpAnswer>,
  meant: readonly MeantDifference[] = [],
): void {
  assertSame(asked, answers, ({ status, body }) =>
    shapeOf({ status, body: without(typeof body === 'string' ? body.trim() : body, meant) }),
  );
}

/** The answer, or the answers of a batch, without fields whose difference is meant. */
function without(body: unknown, meant: readonly MeantDifference[]): unknown {
  if (Array.isArray(body)) return body.map((each) => without(each, meant));
  const answer = asObject(body);
  const result = asObject(answer?.['result']);
  if (!answer || !result) return body;
  const left = new Set(meant.flatMap(({ field }) => (field === undefined ? [] : [field])));
  const kept = Object.entries(result).filter(([name]) => !left.has(name));
  return { ...answer, result: Object.fromEntries(kept) };
}
