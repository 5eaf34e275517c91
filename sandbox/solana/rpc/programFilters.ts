/**
 * Filters of a program's accounts as the network's nodes read them.
 * @see https://github.com/anza-xyz/agave/blob/master/rpc-client-types/src/filter.rs
 */
import { getBase58Encoder } from '@solana/kit';
import { getTokenSize } from '@solana-program/token';
import { invalidCharacter } from './bytes.ts';
import { invalid, isBase58 } from './method.ts';
import { optional, type Reader, struct, text, u64, usize, variantOrName } from './params.ts';

/** @returns whether an account with this data fits */
export type ProgramFilter = (data: Uint8Array) => boolean;

const filtersMax = 4;
const bytesMax = 128;
/** Maximum letters for the same number of bytes. */
const lettersMax = { base58: 175, base64: 172 } as const;
/** The place of a token account's state; 0 there means that it is not initialised. */
const stateAt = 108;

const bytes: Reader<string | readonly number[]> = (value) =>
  Array.isArray(value) ? (value as readonly number[]) : text(value);
const memcmp = struct('Memcmp', { offset: usize, bytes, encoding: optional(text) });
const names = ['dataSize', 'memcmp', 'tokenAccountState'] as const;
export const programFilter = variantOrName({ dataSize: u64, memcmp }, names, ['tokenAccountState']);

type Filter = ReturnType<typeof programFilter>;

/** An account must match all of them. @throws RpcError for a filter that a node would not accept */
export function programFilters(all: readonly Filter[] = []): ProgramFilter {
  if (all.length > filtersMax) throw invalid(`Too many filters provided; max ${filtersMax}`);
  const each = all.map(filterOf);
  return (data) => each.every((allows) => allows(data));
}

function filterOf(filter: Filter): ProgramFilter {
  if (filter.name === 'tokenAccountState') return (data) => data.length === getTokenSize() && data[stateAt] !== 0;
  if (filter.name === 'dataSize') return (data) => data.length === filter.content;
  const { offset, bytes: encoded, encoding } = filter.content;
  const wanted = bytesOf(encoded, encoding);
  return (data) => Buffer.compare(data.subarray(offset, offset + wanted.length), wanted) === 0;
}

function bytesOf(encoded: string | readonly number[], encoding = 'base58'): Uint8Array {
  const found = typeof encoded === 'string' ? decoded(encoded, encoding) : Uint8Array.from(encoded);
  if (found.length > bytesMax) throw tooLarge();
  return found;
}

function decoded(encoded: string, encoding: string): Uint8Array {
  if (encoding === 'base64') {
    if (encoded.length > lettersMax.base64) throw tooLarge();
    const found = Buffer.from(encoded, 'base64');
    if (found.toString('base64') !== encoded) throw invalid('Invalid param: Base64DecodeError(InvalidPadding)');
    return found;
  }
  if (encoding !== 'base58' && encoding !== 'bytes')
    throw invalid(`Invalid params: unknown variantOrName \`${encoding}\`.`);
  if (encoded.length > lettersMax.base58) throw tooLarge();
  const at = [...encoded].findIndex((letter) => !isBase58(letter));
  if (at < 0) return new Uint8Array(getBase58Encoder().encode(encoded));
  throw invalid(`Invalid param: Base58DecodeError(${invalidCharacter(encoded, at)})`);
}

const tooLarge = () => invalid('Invalid param: DataTooLarge');
