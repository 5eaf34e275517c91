/** Compares answers of anvil and geth: HTTP status, error and the shape of the result. */
import assert from 'node:assert/strict';
import {
  asObject,
  type Both,
  createShapes,
  differencesIn,
  type HttpAnswer,
  mapFields,
  type Nodes,
  onBoth,
  post,
  type Shape,
} from './comparison.ts';

export interface Asked {
  readonly method: string;
  /** The circumstances or the kind of parameters, in words. */
  readonly about: string;
  /** Omitted: the request has no params. */
  readonly params?: unknown;
}

export interface Answers extends Both<HttpAnswer> {
  readonly asked: Asked;
}

/** A difference that stays, with its reason. It is a row of docs/contribute/real-chains.md. */
export interface MeantDifference {
  readonly methods: readonly string[];
  /** Affected cases. Default: all. */
  readonly about?: readonly string[];
  /** Each must match a difference that the spec finds, so that no row outlives its difference. */
  readonly differences: readonly RegExp[];
  readonly real: string;
  readonly imitation: string;
  readonly reason: string;
}

/** Asks both nodes at the same time. */
export async function askBoth(nodes: Nodes, asked: Asked): Promise<Answers> {
  const { method, params } = asked;
  return postBoth(nodes, asked, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
}

/** Sends both nodes the same body, which need not be JSON-RPC. */
export async function postBoth(nodes: Nodes, asked: Asked, body: string, init?: RequestInit): Promise<Answers> {
  return { asked, ...(await onBoth(nodes, (url) => post(url, body, init))) };
}

/** Returns the result of an answer. @throws AssertionError when the answer is an error */
export function resultOf({ asked }: Pick<Answers, 'asked'>, { body }: HttpAnswer): unknown {
  const { result, error } = asObject(body) ?? {};
  assert.ok(error === undefined && result !== undefined, `${asked.method}, ${asked.about}: ${JSON.stringify(body)}`);
  return result;
}

function kindOfText(text: string): string {
  if (text === '') return 'empty text';
  if (/^0x[\da-f]{64}$/i.test(text)) return '32 bytes in hex';
  if (/^0x[\da-f]{40}$/i.test(text)) return '20 bytes in hex';
  if (/^0x[\da-f]*$/i.test(text)) return 'hex';
  if (/^-?\d+$/.test(text)) return 'digits';
  if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(text)) return 'time';
  return 'text';
}

export const shapeOf = createShapes({ kindOfText });

/** Classifies an error by its meaning for the reader, in a word. */
export type KindOfError = (
  asked: Asked,
  error: { readonly code: number | undefined; readonly message: string },
) => string;

/** Returns each difference as `where: of the imitation | of the real node`. */
export function differencesOf(answers: Answers, kindOfError: KindOfError): readonly string[] {
  const { asked, imitation, real } = answers;
  const [ours, theirs] = [imitation, real].map(({ body }) => envelopeOf(asked, body, kindOfError)) as [Fields, Fields];
  const status = between('HTTP status', `${imitation.status}`, `${real.status}`);
  const outcomes = [ours, theirs].map(outcomeOf);
  if (outcomes[0] === outcomes[1]) return [...status, ...between('', ours, theirs)];
  return [...status, `outcome: ${[ours, theirs].map(outcomeInFull).join(' | ')}`];
}

type Fields = { readonly [field: string]: Shape };

const outcomeOf = (fields: Fields): string =>
  ['error', 'result', 'batch'].find((name) => fields[name] !== undefined) ?? 'no JSON-RPC';

function outcomeInFull(fields: Fields): string {
  const { code, kind } = (asObject(fields['error']) ?? {}) as Record<string, unknown>;
  return code === undefined ? outcomeOf(fields) : `error ${code} (${kind})`;
}

/** For a batch, the envelope of each answer. For anything else, the shape with the error's code and kind instead of its message. */
function envelopeOf(asked: Asked, body: unknown, kindOfError: KindOfError): Fields {
  if (Array.isArray(body)) {
    const shapes = body.map((each) => JSON.stringify(envelopeOf(asked, each, kindOfError)));
    return { batch: [...new Set(shapes)].map((shape): Shape => JSON.parse(shape)) };
  }
  const { error, result, ...envelope } = asObject(body) ?? { body };
  const failure = asObject(error);
  if (!failure) return { ...(shapeOf(envelope) as object), ...(result !== undefined && { result: shapeOf(result) }) };
  const { code, message, ...more } = failure;
  const read = { code: typeof code === 'number' ? code : undefined, message: String(message) };
  const shape = { code: String(code), kind: kindOfError(asked, read), ...(shapeOf(more) as object) };
  return { ...(shapeOf(envelope) as object), error: shape };
}

/** Lists of shapes have no order: a list of one shape is compared by that shape, `[]` in a path, others as a whole. */
function between(where: string, imitation: unknown, real: unknown): readonly string[] {
  return differencesIn({ imitation: withoutLists(imitation), real: withoutLists(real) }).map((each) => {
    const path = `${where}${each.path}`.replace(/^\./, '').replaceAll('[0]', '[]');
    return `${path}: ${textOf(each.imitation)} | ${textOf(each.real)}`;
  });
}

/** Lists as text, unless they hold one shape. */
function withoutLists(shape: unknown): unknown {
  if (Array.isArray(shape)) return shape.length === 1 ? shape.map(withoutLists) : JSON.stringify(shape);
  const fields = asObject(shape);
  return fields ? mapFields(fields, withoutLists) : shape;
}

const textOf = (shape: unknown): string =>
  shape === undefined ? 'absent' : typeof shape === 'string' ? shape : JSON.stringify(shape);

/** Compares answers, and remembers which of the meant differences were found. */
export function createComparison(meant: readonly MeantDifference[], kindOfError: KindOfError) {
  const found = new Set<RegExp>();

  const isMeant = ({ method, about }: Asked, difference: string): boolean =>
    meant
      .filter((row) => row.methods.includes(method) && (row.about?.includes(about) ?? true))
      .flatMap(({ differences }) => differences.filter((each) => each.test(difference)))
      .map((each) => found.add(each)).length > 0;

  return {
    /** @throws AssertionError with the request and both answers */
    assertSameAnswer(answers: Answers): void {
      const { asked, imitation, real } = answers;
      const differences = differencesOf(answers, kindOfError).filter((each) => !isMeant(asked, each));
      if (differences.length === 0) return;
      const text = (answer: HttpAnswer) => JSON.stringify(answer).slice(0, 1_500);
      assert.fail(
        [
          `${asked.method}, ${asked.about}: ${JSON.stringify(asked.params)?.slice(0, 500)}`,
          ...differences.map((each) => `  ${each}`),
          `imitation ${text(imitation)}`,
          `real node ${text(real)}`,
        ].join('\n'),
      );
    },

    /** Returns the meant differences that no compared answer has shown. */
    unseen: (): readonly RegExp[] =>
      meant.flatMap(({ differences }) => differences).filter((difference) => !found.has(difference)),
  };
}

/** Returns the rows in the form of docs/contribute/real-chains.md. */
export const rowsOf = (meant: readonly MeantDifference[]): readonly string[] =>
  meant.map(
    ({ methods, real, imitation, reason }) =>
      `| ${methods.map((method) => `\`${method}\``).join(', ')} | ${real} | ${imitation} | ${reason} |`,
  );
