/**
 * The 64-bit values that pass between a contract and its host. The low eight bits are a tag; small values follow in the
 * upper bits, larger ones are objects that the host keeps: their number is in the upper 32 bits.
 */
import { scValToBigInt, xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import { bigintOf, i128, int64, uint64 } from '../xdr.ts';

/** Unsigned 64 bits. */
export type Val = bigint;

export const tags = {
  false: 0,
  true: 1,
  void: 2,
  error: 3,
  u32: 4,
  i32: 5,
  u64Small: 6,
  i64Small: 7,
  u128Small: 10,
  i128Small: 11,
  symbolSmall: 14,
  u64: 64,
  i64: 65,
  u128: 68,
  i128: 69,
  bytes: 72,
  string: 73,
  symbol: 74,
  vec: 75,
  map: 76,
  address: 77,
  muxedAddress: 78,
} as const;

export const voidVal: Val = 2n;
const symbolSmallMax = 9;
const symbolChars = '_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const tagOf = (val: Val): number => Number(val & 0xffn);
export const unsigned = (value: bigint): Val => BigInt.asUintN(64, value);
const signedBody = (val: Val) => BigInt.asIntN(64, val) >> 8n;
const withTag = (body: bigint, tag: number): Val => unsigned((body << 8n) | BigInt(tag));
const inMajor = (value: number, tag: number): Val => (BigInt(value >>> 0) << 32n) | BigInt(tag);
export const majorOf = (val: Val): number => Number(val >> 32n);
export const fitsSigned = (value: bigint): boolean => BigInt.asIntN(56, value) === value;
const fitsUnsigned = (value: bigint) => BigInt.asUintN(56, value) === value;

export const u32Val = (value: number): Val => inMajor(value, tags.u32);
export const boolVal = (value: boolean): Val => (value ? 1n : 0n);

/** A number that must be a u32 value. */
export function u32Of(val: Val): number {
  if (tagOf(val) !== tags.u32) throw new HostError('Value', 'UnexpectedType', 'a u32 is expected');
  return majorOf(val);
}

/** The 64 bits of a value that needs no object; undefined for others. */
export function smallVal(value: xdr.ScVal): Val | undefined {
  switch (value.switch().name) {
    case 'scvBool':
      return boolVal(value.b());
    case 'scvVoid':
      return voidVal;
    case 'scvU32':
      return u32Val(value.u32());
    case 'scvI32':
      return inMajor(value.i32(), tags.i32);
    case 'scvU64':
      return smallUnsigned(bigintOf(value.u64()), tags.u64Small);
    case 'scvI64':
      return smallSigned(bigintOf(value.i64()), tags.i64Small);
    case 'scvU128':
      return smallUnsigned(scValToBigInt(value), tags.u128Small);
    case 'scvI128':
      return smallSigned(scValToBigInt(value), tags.i128Small);
    case 'scvSymbol':
      return smallSymbol(value.sym().toString());
    default:
      return undefined;
  }
}

const smallUnsigned = (value: bigint, tag: number) => (fitsUnsigned(value) ? withTag(value, tag) : undefined);
const smallSigned = (value: bigint, tag: number) => (fitsSigned(value) ? withTag(value, tag) : undefined);

function smallSymbol(text: string): Val | undefined {
  if (text.length > symbolSmallMax) return undefined;
  let packed = 0n;
  for (const char of text) packed = (packed << 6n) | BigInt(symbolChars.indexOf(char) + 1);
  return withTag(packed, tags.symbolSmall);
}

/** The value of 64 bits that name no object; undefined for objects. @throws HostError for an unknown tag */
export function smallValue(val: Val): xdr.ScVal | undefined {
  const body = val >> 8n;
  switch (tagOf(val)) {
    case tags.false:
    case tags.true:
      return xdr.ScVal.scvBool(val === 1n);
    case tags.void:
      return xdr.ScVal.scvVoid();
    case tags.error:
      return errorValue(val);
    case tags.u32:
      return xdr.ScVal.scvU32(majorOf(val));
    case tags.i32:
      return xdr.ScVal.scvI32(majorOf(val) | 0);
    case tags.u64Small:
      return xdr.ScVal.scvU64(uint64(body));
    case tags.i64Small:
      return xdr.ScVal.scvI64(int64(signedBody(val)));
    case tags.u128Small:
      return xdr.ScVal.scvU128(new xdr.UInt128Parts({ hi: uint64(0n), lo: uint64(body) }));
    case tags.i128Small:
      return i128(signedBody(val));
    case tags.symbolSmall:
      return xdr.ScVal.scvSymbol(symbolText(body));
    default:
      if (tagOf(val) >= tags.u64 && tagOf(val) <= tags.muxedAddress) return undefined;
      throw new HostError('Value', 'InvalidInput', `no value has the tag ${tagOf(val)}`);
  }
}

/** Contracts return only errors of their own; others become an unspecific one. */
function errorValue(val: Val): xdr.ScVal {
  const isContract = ((val >> 8n) & 0xffffffn) === 0n;
  return xdr.ScVal.scvError(
    isContract ? xdr.ScError.sceContract(majorOf(val)) : xdr.ScError.sceContext(xdr.ScErrorCode.scecInvalidAction()),
  );
}

function symbolText(packed: bigint): string {
  let text = '';
  for (let rest = packed; rest > 0n; rest >>= 6n) text = (symbolChars[Number(rest & 63n) - 1] ?? '') + text;
  return text;
}
