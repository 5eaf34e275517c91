/** Host functions of modules `b`, `c` and `i`: bytes, strings and symbols; hashes and signatures; numbers above 56 bits. */
import { scValToBigInt, xdr } from '@stellar/stellar-sdk';
import { isEd25519 } from '../../../src/chains/ed25519.ts';
import { HostError } from '../host/errors.ts';
import { i128, int64, sha256, uint64 } from '../xdr.ts';
import type { Guest, HostFunctions } from './guest.ts';
import { tags, u32Of, u32Val, unsigned, type Val, voidVal } from './values.ts';

export function bytesFunctions(guest: Guest): HostFunctions {
  const { toVal, fromVal, read, write } = guest;
  const bytes = (val: Val) => guest.object(val, tags.bytes).bytes();
  const text = (val: Val) => Buffer.from(guest.object(val, tags.string).str());
  const copy = (from: Buffer, start: Val, position: Val, length: Val) => {
    const end = u32Of(start) + u32Of(length);
    if (end > from.length) throw new HostError('Object', 'IndexBounds', `only ${from.length} bytes, not ${end}`);
    write(position, from.subarray(u32Of(start), end));
    return voidVal;
  };
  return {
    _: (value) => toVal(xdr.ScVal.scvBytes(fromVal(value).toXDR())),
    1: (value, start, position, length) => copy(bytes(value), start, position, length),
    3: (position, length) => toVal(xdr.ScVal.scvBytes(read(position, length))),
    4: () => toVal(xdr.ScVal.scvBytes(Buffer.alloc(0))),
    8: (value) => u32Val(bytes(value).length),
    g: (value, start, position, length) => copy(text(value), start, position, length),
    i: (position, length) => toVal(xdr.ScVal.scvString(read(position, length))),
    j: (position, length) => toVal(symbolFrom(read(position, length))),
    k: (value) => u32Val(text(value).length),
  };
}

const symbolPattern = /^[A-Za-z0-9_]{0,32}$/;

function symbolFrom(bytes: Buffer): xdr.ScVal {
  const text = bytes.toString('latin1');
  if (!symbolPattern.test(text))
    throw new HostError('Value', 'InvalidInput', 'not a symbol: A-Z, a-z, 0-9, _, 32 at most');
  return xdr.ScVal.scvSymbol(text);
}

export function cryptoFunctions({ object, toVal }: Guest): HostFunctions {
  const bytes = (val: Val) => object(val, tags.bytes).bytes();
  return {
    _: (value) => toVal(xdr.ScVal.scvBytes(sha256(bytes(value)))),
    0: (publicKey, message, signature) => {
      if (!isEd25519(bytes(publicKey), bytes(message), bytes(signature))) {
        throw new HostError('Crypto', 'InvalidInput', 'failed ED25519 verification');
      }
      return voidVal;
    },
  };
}

const low = (value: bigint) => unsigned(value);
const high = (value: bigint) => BigInt.asIntN(64, value >> 64n);

export function numberFunctions({ toVal, object }: Guest): HostFunctions {
  const u128 = (hi: bigint, lo: bigint) => new xdr.UInt128Parts({ hi: uint64(unsigned(hi)), lo: uint64(unsigned(lo)) });
  return {
    _: (value) => toVal(xdr.ScVal.scvU64(uint64(unsigned(value)))),
    0: (val) => low(scValToBigInt(object(val, tags.u64))),
    1: (value) => toVal(xdr.ScVal.scvI64(int64(BigInt.asIntN(64, value)))),
    2: (val) => scValToBigInt(object(val, tags.i64)),
    3: (hi, lo) => toVal(xdr.ScVal.scvU128(u128(hi, lo))),
    4: (val) => low(scValToBigInt(object(val, tags.u128))),
    5: (val) => high(scValToBigInt(object(val, tags.u128))),
    6: (hi, lo) => toVal(i128((BigInt.asIntN(64, hi) << 64n) | unsigned(lo))),
    7: (val) => low(scValToBigInt(object(val, tags.i128))),
    8: (val) => high(scValToBigInt(object(val, tags.i128))),
  };
}
