/** Host functions of module `i`: numbers that do not fit into 56 bits. */
import { scValToBigInt, xdr } from '@stellar/stellar-sdk';
import { i128, int64, uint64 } from '../xdr.ts';
import type { Guest, HostFunctions } from './guest.ts';
import { tags, unsigned } from './values.ts';

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
