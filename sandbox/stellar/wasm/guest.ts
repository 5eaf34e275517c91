/** A running contract as its host functions see it: its objects, its memory, and its requests to the host. */
import type { xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import type { Invocation } from '../host/invocation.ts';
import { majorOf, smallVal, smallValue, tagOf, tags, u32Of, type Val } from './values.ts';

export interface Guest {
  readonly invocation: Invocation;
  toVal(value: xdr.ScVal): Val;
  /** @throws HostError for an invalid value, or an object of another call */
  fromVal(val: Val): xdr.ScVal;
  /** An object with a given tag. @throws HostError for another tag */
  object(val: Val, tag: number): xdr.ScVal;
  /** Bytes of its memory; position and length are u32 values. */
  read(position: Val, length: Val): Buffer;
  write(position: Val, bytes: Uint8Array): void;
}

/** By export name, as contracts import them. Arguments and results are unsigned 64 bits. */
export type HostFunctions = Readonly<Record<string, (...args: Val[]) => Val>>;

const objectsMax = 100_000;

const objectTags: Readonly<Record<string, number>> = {
  scvU64: tags.u64,
  scvI64: tags.i64,
  scvU128: tags.u128,
  scvI128: tags.i128,
  scvBytes: tags.bytes,
  scvString: tags.string,
  scvSymbol: tags.symbol,
  scvVec: tags.vec,
  scvMap: tags.map,
};

export function createGuest(invocation: Invocation, memory: () => WebAssembly.Memory): Guest {
  const objects: xdr.ScVal[] = [];

  const object = (val: Val, tag: number): xdr.ScVal => {
    const value = objects[majorOf(val)];
    if (tagOf(val) !== tag || !value)
      throw new HostError('Value', 'UnexpectedType', `an object of type ${tag} is expected`);
    return value;
  };

  return {
    invocation,
    object,
    toVal(value) {
      const small = smallVal(value);
      if (small !== undefined) return small;
      if (objects.length >= objectsMax) throw new HostError('Budget', 'ExceededLimit', 'too many objects in one call');
      return (BigInt(objects.push(value) - 1) << 32n) | BigInt(objectTag(value));
    },
    fromVal: (val) => smallValue(val) ?? object(val, tagOf(val)),
    read: (position, length) => Buffer.from(within(memory(), u32Of(position), u32Of(length))),
    write: (position, bytes) => within(memory(), u32Of(position), bytes.length).set(bytes),
  };
}

function within({ buffer }: WebAssembly.Memory, position: number, length: number): Uint8Array {
  if (position + length > buffer.byteLength) throw new HostError('WasmVm', 'IndexBounds', 'out of the memory bounds');
  return new Uint8Array(buffer, position, length);
}

function objectTag(value: xdr.ScVal): number {
  const kind = value.switch().name;
  if (kind === 'scvAddress') {
    return value.address().switch().name === 'scAddressTypeMuxedAccount' ? tags.muxedAddress : tags.address;
  }
  const tag = objectTags[kind];
  if (tag === undefined) throw new HostError('Value', 'UnexpectedType', `${kind} is not modelled here`);
  return tag;
}
