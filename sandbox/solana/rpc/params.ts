/**
 * Reads parameters as the network's nodes do: all types first, their meaning later. The texts of refusals are those of serde and
 * jsonrpc-core, on which the nodes are built.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc/src/rpc.rs
 */
import { RpcError } from '../../rpcError.ts';
import { invalid, type Method, type Params, rpcCodes, type View } from './method.ts';

/** Returns a parameter's value. @throws Misread */
export interface Reader<T> {
  (value: unknown): T;
  /** True if the parameter may be missing. */
  readonly isOptional?: boolean;
}

/** A value has another type than its parameter. */
export class Misread extends Error {
  override readonly name = 'Misread';
}

type Readers<A extends readonly unknown[]> = { readonly [K in keyof A]: Reader<A[K]> };

/** @param required number of required parameters @throws RpcError */
export function readParams<A extends readonly unknown[]>(params: Params, required: number, readers: Readers<A>): A {
  const isTuple = required > 0 && required === readers.length;
  if (readers.length === 0) checkNone(params);
  if (isTuple && !Array.isArray(params)) throw misread(`invalid type: ${named(params)}, expected ${tupleOf(required)}`);
  const given = params ?? [];
  if (!Array.isArray(given)) throw invalid('`params` should be an array');
  if (isTuple) checkTuple(given, required);
  if (given.length < required) throw invalid(`\`params\` should have at least ${required} argument(s)`);
  if (given.length > readers.length) {
    const expected = `Expected from ${required} to ${readers.length} parameters.`;
    throw new RpcError(rpcCodes.invalidParams, `Invalid parameters: ${expected}`, `"Got: ${given.length}"`);
  }
  try {
    return readers.map((read, place) => read(given[place])) as readonly unknown[] as A;
  } catch (error) {
    if (error instanceof Misread) throw misread(error.message);
    throw error;
  }
}

const misread = (message: string): RpcError => invalid(`Invalid params: ${message}.`);

const tupleOf = (size: number): string => `a tuple of size ${size}`;

function checkNone(params: Params): void {
  if (params === undefined || params === null || (Array.isArray(params) && params.length === 0)) return;
  const data = Array.isArray(params) ? `Array(${debugText(params).slice('Array '.length)})` : `Map(${mapText(params)})`;
  throw new RpcError(rpcCodes.invalidParams, 'Invalid parameters: No parameters were expected', data);
}

function checkTuple({ length }: readonly unknown[], size: number): void {
  if (length < size) throw misread(`invalid length ${length}, expected ${tupleOf(size)}`);
  if (length > size) throw misread(`invalid length ${length}, expected fewer elements in array`);
}

/** A value in Rust's debug format. */
function debugText(value: unknown): string {
  if (value === null || value === undefined) return 'Null';
  if (Array.isArray(value)) return `Array [${value.map(debugText).join(', ')}]`;
  if (typeof value === 'object') return `Object ${mapText(value)}`;
  if (typeof value === 'string') return `String(${JSON.stringify(value)})`;
  return typeof value === 'boolean' ? `Bool(${value})` : `Number(${String(value)})`;
}

const mapText = (map: object): string =>
  `{${Object.entries(map)
    .map(([key, value]) => `${JSON.stringify(key)}: ${debugText(value)}`)
    .join(', ')}}`;

/** A value in serde's words for refusals. */
function named(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'sequence';
  if (typeof value === 'object') return 'map';
  if (typeof value === 'string') return `string ${JSON.stringify(value)}`;
  if (typeof value === 'boolean') return `boolean \`${value}\``;
  return isInteger(value) ? `integer \`${value}\`` : `floating point \`${value}\``;
}

const isInteger = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(value as number) < 2 ** 64 && (value as number) >= -(2 ** 63);

const mismatch = (value: unknown, expected: string): Misread =>
  new Misread(`invalid type: ${named(value)}, expected ${expected}`);

export const text: Reader<string> = (value) => {
  if (typeof value === 'string') return value;
  throw mismatch(value, 'a string');
};

/** Only true and false. A missing value is false; null is refused. */
export const flag: Reader<boolean> = (value) => {
  if (typeof value === 'boolean') return value;
  throw mismatch(value, 'a boolean');
};

function unsigned(type: string, max: number): Reader<number> {
  return (value) => {
    if (!isInteger(value)) throw mismatch(value, type);
    if (value >= 0 && value <= max) return value;
    throw new Misread(`invalid value: integer \`${value}\`, expected ${type}`);
  };
}

export const u8 = unsigned('u8', 255);
export const u64 = unsigned('u64', 2 ** 64);
export const usize = unsigned('usize', 2 ** 64);

export const list =
  <T>(read: Reader<T>): Reader<readonly T[]> =>
  (value) => {
    if (Array.isArray(value)) return value.map(read);
    throw mismatch(value, 'a sequence');
  };

const mayBeMissing = <T>(read: (value: unknown) => T): Reader<T> => Object.assign(read, { isOptional: true });

/** Null counts as missing. */
export const optional = <T>(read: Reader<T>): Reader<T | undefined> =>
  mayBeMissing((value) => (value === null || value === undefined ? undefined : read(value)));

export const withDefault = <T>(read: Reader<T>, usual: T): Reader<T> =>
  mayBeMissing((value) => (value === undefined ? usual : read(value)));

/** A wrong value counts as missing, as in optional structures that serde flattens into another one. */
export const lenient = <T>(read: Reader<T>): Reader<T | undefined> =>
  mayBeMissing((value) => {
    try {
      return value === undefined ? undefined : read(value);
    } catch (error) {
      if (error instanceof Misread) return undefined;
      throw error;
    }
  });

/** One of a few names. */
export const oneOf =
  <const N extends string>(...names: readonly N[]): Reader<N> =>
  (value) => {
    const name = typeof value === 'string' ? value : onlyKey(value);
    const known = names.find((each) => each === name);
    if (known !== undefined) return known;
    throw unknownVariant(name, names);
  };

const unknownVariant = (name: string, names: readonly string[]): Misread => {
  const quoted = names.map((each) => `\`${each}\``);
  const expected = quoted.length === 2 ? quoted.join(' or ') : `one of ${quoted.join(', ')}`;
  return new Misread(`unknown variant \`${name}\`, expected ${expected}`);
};

/** The key of an object that has just one. */
function onlyKey(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, 'string or map');
  const [key, ...more] = Object.keys(value);
  if (key === undefined || more.length > 0) throw new Misread('invalid value: map, expected map with a single key');
  return key;
}

type Contents = Readonly<Record<string, Reader<unknown>>>;
type Variant<V extends Contents> = {
  [K in keyof V]: { readonly name: K; readonly content: ReturnType<V[K]> };
}[keyof V];

/** `{ name: content }`, with one of a few names. */
export const variant = <const V extends Contents>(contents: V): Reader<Variant<V>> =>
  variantOrName(contents, Object.keys(contents), []) as Reader<Variant<V>>;

/** `{ name: content }`, or only a name that needs no content. @param names all of them, in the order of refusals */
export const variantOrName =
  <const V extends Contents, const U extends string>(
    contents: V,
    names: readonly string[],
    units: readonly U[],
  ): Reader<Variant<V> | { readonly name: U }> =>
  (value) => {
    const name = typeof value === 'string' ? value : onlyKey(value);
    const unit = units.find((each) => each === name);
    if (unit !== undefined) return { name: unit };
    const read = Object.hasOwn(contents, name) ? contents[name] : undefined;
    if (!read) throw unknownVariant(name, names);
    if (typeof value === 'string') throw new Misread('invalid type: unit variant, expected newtype variant');
    return { name, content: read((value as Record<string, unknown>)[name]) } as Variant<V>;
  };

type Fields<F extends Readonly<Record<string, Reader<unknown>>>> = { readonly [K in keyof F]: ReturnType<F[K]> };

/** An object with known fields; others are ignored. @param name of the object in refusals */
export const struct =
  <const F extends Readonly<Record<string, Reader<unknown>>>>(name: string, fields: F): Reader<Fields<F>> =>
  (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) throw mismatch(value, `struct ${name}`);
    const given = value as Readonly<Record<string, unknown>>;
    const isGiven = (key: string) => Object.hasOwn(given, key) && given[key] !== undefined;
    // Nodes keep an object's fields sorted, and refuse a wrong one before they miss another.
    const known = Object.entries(fields).toSorted(([one], [other]) => (one < other ? -1 : 1));
    const read = known.filter(([key]) => isGiven(key)).map(([key, readField]) => [key, readField(given[key])]);
    const missing = Object.entries(fields).filter(([key]) => !isGiven(key));
    const required = missing.find(([, { isOptional }]) => !isOptional);
    if (required) throw new Misread(`missing field \`${required[0]}\``);
    const usual = missing.map(([key, readField]) => [key, readField(undefined)]);
    return Object.fromEntries([...read, ...usual]) as Fields<F>;
  };

/** The first reader that accepts a value reads it. @param name of the choice in refusals */
export const firstOf =
  <T>(name: string, ...readers: readonly Reader<T>[]): Reader<T> =>
  (value) => {
    for (const read of readers) {
      try {
        return read(value);
      } catch (error) {
        if (!(error instanceof Misread)) throw error;
      }
    }
    throw new Misread(`data did not match any variant of untagged enum ${name}`);
  };

/** A method with its parameters; those after the first `required` ones may be missing. */
export const defineMethod =
  <A extends readonly unknown[]>(
    readers: Readers<A>,
    required: number,
    run: (view: View, ...read: A) => unknown,
  ): Method =>
  (view, params) =>
    run(view, ...readParams(params, required, readers));
