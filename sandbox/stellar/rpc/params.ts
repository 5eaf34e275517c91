/** Reads parameters as stellar-rpc does: null is the zero value, unknown fields are ignored, names match in any case. */
import { RpcError } from '../../rpcError.ts';
import { type Params, rpcCodes } from './method.ts';

/** Returns a JSON value as a field's value. @throws WrongType */
type Read<T> = (value: unknown) => T;

class WrongType extends Error {
  override readonly name = 'WrongType';
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

const wrong = (value: unknown, wanted: string): WrongType =>
  new WrongType(`json: cannot unmarshal ${kindOf(value)} into a value of type ${wanted}`);

export const text: Read<string> = (value) => {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  throw wrong(value, 'string');
};

const uint32Max = 2 ** 32 - 1;
/** The largest number of JavaScript below 2^64. */
const uint64Max = 2 ** 64 - 2 ** 11;

/** Whole numbers from 0 to a maximum. */
const whole =
  (wanted: string, max: number): Read<number> =>
  (value) => {
    if (value === null || value === undefined) return 0;
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
    throw wrong(value, wanted);
  };

export const uint32 = whole('uint32', uint32Max);
export const uint = whole('uint', uint64Max);

export const listOf =
  <T>(read: Read<T>): Read<readonly T[]> =>
  (value) => {
    if (value === null || value === undefined) return [];
    if (!Array.isArray(value)) throw wrong(value, 'list');
    return value.map(read);
  };

export const optional =
  <T>(read: Read<T>): Read<T | undefined> =>
  (value) =>
    value === null || value === undefined ? undefined : read(value);

type Fields = Readonly<Record<string, Read<unknown>>>;
type Structure<F extends Fields> = { readonly [Name in keyof F]: ReturnType<F[Name]> };

export const structure =
  <F extends Fields>(fields: F): Read<Structure<F>> =>
  (value) => {
    if (value !== null && value !== undefined && kindOf(value) !== 'object') throw wrong(value, 'structure');
    const given = new Map(Object.entries(value ?? {}).map(([name, inner]) => [name.toLowerCase(), inner]));
    const read = Object.entries(fields).map(([name, field]) => [name, field(given.get(name.toLowerCase()))]);
    return Object.fromEntries(read) as Structure<F>;
  };

/** A value with a valid JSON type whose own rules may refuse it. @throws Error with the reason, which the caller receives */
export const parsedBy =
  <T, U>(read: Read<T>, parse: (value: T) => U): Read<U> =>
  (value) => {
    const inner = read(value);
    try {
      return parse(inner);
    } catch (error) {
      throw new WrongType(error instanceof Error ? error.message : 'unreadable');
    }
  };

/** @throws RpcError in the nodes' form for parameters of another type */
export function readParams<T>(read: Read<T>, params: Params): T {
  try {
    return read(params);
  } catch (error) {
    if (!(error instanceof WrongType)) throw error;
    throw new RpcError(rpcCodes.invalidParams, 'invalid parameters', error.message);
  }
}

/** Reason why an `xdrFormat` is refused; undefined for accepted ones. */
export function formatProblem(format: string): string | undefined {
  if (format === '' || format === 'base64') return undefined;
  if (format === 'json') return "the sandbox's chain answers no xdrFormat json: use base64";
  return `got '${format}': expected base64, json for optional 'xdrFormat'`;
}
