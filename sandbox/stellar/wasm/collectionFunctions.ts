/** Host functions of modules `v` and `m`: lists and maps. They never change; each edit makes a new one. */
import { xdr } from '@stellar/stellar-sdk';
import { HostError } from '../host/errors.ts';
import { same } from '../xdr.ts';
import type { Guest, HostFunctions } from './guest.ts';
import { boolVal, tags, u32Of, u32Val, type Val } from './values.ts';

const valBytes = 8;

export function vecFunctions(guest: Guest): HostFunctions {
  const { toVal, fromVal } = guest;
  const items = (vec: Val) => guest.object(vec, tags.vec).vec() ?? [];
  const make = (values: xdr.ScVal[]) => toVal(xdr.ScVal.scvVec(values));
  return {
    _: () => make([]),
    1: (vec, at) => toVal(element(items(vec), u32Of(at))),
    3: (vec) => u32Val(items(vec).length),
    4: (vec, value) => make([fromVal(value), ...items(vec)]),
    6: (vec, value) => make([...items(vec), fromVal(value)]),
    8: (vec) => toVal(element(items(vec), 0)),
    9: (vec) => toVal(element(items(vec), items(vec).length - 1)),
    g: (position, length) => make(readVals(guest, position, length)),
    h: (vec, position, length) => {
      writeVals(guest, items(vec), position, length);
      return 2n;
    },
  };
}

export function mapFunctions(guest: Guest): HostFunctions {
  const { toVal, fromVal } = guest;
  const entries = (map: Val) => guest.object(map, tags.map).map() ?? [];
  const make = (pairs: readonly xdr.ScMapEntry[]) => toVal(xdr.ScVal.scvMap(sorted(pairs)));
  const find = (map: Val, key: Val) => entries(map).find((entry) => same(entry.key(), fromVal(key)));
  const without = (map: Val, key: Val) => entries(map).filter((entry) => !same(entry.key(), fromVal(key)));
  return {
    _: () => make([]),
    0: (map, key, value) =>
      make([...without(map, key), new xdr.ScMapEntry({ key: fromVal(key), val: fromVal(value) })]),
    1: (map, key) => toVal(present(find(map, key)).val()),
    2: (map, key) => {
      present(find(map, key));
      return make(without(map, key));
    },
    3: (map) => u32Val(entries(map).length),
    4: (map, key) => boolVal(find(map, key) !== undefined),
    9: (keys, values, length) => {
      const names = readSlices(guest, keys, length);
      const vals = readVals(guest, values, length);
      return make(names.map((key, at) => new xdr.ScMapEntry({ key, val: element(vals, at) })));
    },
    a: (map, keys, values, length) => {
      const found = readSlices(guest, keys, length).map((key) =>
        present(entries(map).find((entry) => same(entry.key(), key))).val(),
      );
      writeVals(guest, found, values, length);
      return 2n;
    },
  };
}

function element(values: readonly xdr.ScVal[], at: number): xdr.ScVal {
  const value = values[at];
  if (!value) throw new HostError('Object', 'IndexBounds', `no element ${at} in a list of ${values.length}`);
  return value;
}

function present(entry: xdr.ScMapEntry | undefined): xdr.ScMapEntry {
  if (!entry) throw new HostError('Object', 'MissingValue', 'map key not found');
  return entry;
}

/** Maps are kept in the order of their keys: symbols by their text, others by their bytes. */
function sorted(entries: readonly xdr.ScMapEntry[]): xdr.ScMapEntry[] {
  return [...entries].sort((a, b) => Buffer.compare(orderOf(a.key()), orderOf(b.key())));
}

const orderOf = (key: xdr.ScVal): Buffer =>
  key.switch().name === 'scvSymbol' ? Buffer.from(key.sym().toString()) : key.toXDR();

function readVals({ read, fromVal }: Guest, position: Val, length: Val): xdr.ScVal[] {
  const bytes = read(position, u32Val(u32Of(length) * valBytes));
  return Array.from({ length: u32Of(length) }, (_, at) => fromVal(bytes.readBigUInt64LE(at * valBytes)));
}

function writeVals({ write, toVal }: Guest, values: readonly xdr.ScVal[], position: Val, length: Val): void {
  if (values.length !== u32Of(length)) throw new HostError('Object', 'InvalidInput', 'the list has another length');
  const bytes = Buffer.alloc(values.length * valBytes);
  values.forEach((value, at) => void bytes.writeBigUInt64LE(toVal(value), at * valBytes));
  write(position, bytes);
}

/** Symbols in memory: eight bytes each, with the position and the length of the text. */
function readSlices({ read }: Guest, position: Val, length: Val): xdr.ScVal[] {
  const slices = read(position, u32Val(u32Of(length) * valBytes));
  return Array.from({ length: u32Of(length) }, (_, at) => {
    const [start, size] = [slices.readUInt32LE(at * valBytes), slices.readUInt32LE(at * valBytes + 4)];
    return xdr.ScVal.scvSymbol(read(u32Val(start), u32Val(size)).toString());
  });
}
