/**
 * Which accounts of a program are meant: filters as the network's nodes read them.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc-client-types/src/filter.rs
 */
import { getBase58Encoder } from '@solana/kit';
import { getTokenSize } from '@solana-program/token';
import { invalid } from './method.ts';

/** @returns whether an account with this data is meant */
export type ProgramFilter = (data: Uint8Array) => boolean;

const filtersMax = 4;
const bytesMax = 128;
/** Letters of as many bytes at most. */
const lettersMax = { base58: 175, base64: 172 } as const;
/** Where a token account keeps whether it is initialised. */
const stateAt = 108;

/** An account has to fit them all. @throws RpcError for what a node would not understand */
export function programFilters(asked: unknown): ProgramFilter {
  const all = asked ?? [];
  if (!Array.isArray(all)) throw invalid('invalid type: filters must be a list');
  if (all.length > filtersMax) throw invalid(`Too many filters provided; max ${filtersMax}`);
  const each = all.map(filterOf);
  return (data) => each.every((allows) => allows(data));
}

function filterOf(asked: unknown): ProgramFilter {
  if (asked === 'tokenAccountState') return (data) => data.length === getTokenSize() && data[stateAt] !== 0;
  const [[name, value] = [], ...more] = Object.entries(objectOf(asked));
  if (more.length > 0) throw invalid('invalid type: a filter has one name');
  if (name === 'dataSize') {
    const size = wholeOf(value, 'dataSize');
    return (data) => data.length === size;
  }
  if (name !== 'memcmp')
    throw invalid(`unknown variant \`${name}\`, expected one of dataSize, memcmp, tokenAccountState`);
  const { offset, bytes, encoding } = objectOf(value);
  const [from, wanted] = [wholeOf(offset, 'offset'), bytesOf(bytes, encoding)];
  return (data) => Buffer.compare(data.subarray(from, from + wanted.length), wanted) === 0;
}

function bytesOf(bytes: unknown, encoding: unknown): Uint8Array {
  const found = Array.isArray(bytes) ? Uint8Array.from(bytes as number[]) : decoded(bytes, encoding ?? 'base58');
  if (found.length > bytesMax) throw tooLarge();
  return found;
}

function decoded(text: unknown, encoding: unknown): Uint8Array {
  if (typeof text !== 'string') throw invalid('invalid type: bytes must be a string');
  if (encoding === 'base64') {
    if (text.length > lettersMax.base64) throw tooLarge();
    const bytes = Buffer.from(text, 'base64');
    if (bytes.toString('base64') !== text) throw invalid('base64 decode error');
    return bytes;
  }
  if (encoding !== 'base58' && encoding !== 'bytes') throw invalid(`unknown variant \`${String(encoding)}\``);
  if (text.length > lettersMax.base58) throw tooLarge();
  if (!/^[1-9A-HJ-NP-Za-km-z]*$/.test(text)) throw invalid('base58 decode error');
  return new Uint8Array(getBase58Encoder().encode(text));
}

const tooLarge = () => invalid('encoded binary data should be less than 129 bytes');

function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>;
  throw invalid('invalid type: a filter must be an object');
}

function wholeOf(value: unknown, name: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalid(`invalid type: ${name} must be a whole number`);
}
