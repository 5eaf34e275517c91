// What a Soroban contract in AssemblyScript needs: host functions by their export names (env.json of rs-soroban-env)
// and the 64-bit values that pass between contract and host. The low eight bits of a value are its tag.

export type Val = i64;

export const VOID: Val = 2;
const TAG_ERROR: u8 = 3;
const TAG_U32: u8 = 4;
const TAG_I128_SMALL: u8 = 11;
const TAG_SYMBOL_SMALL: u8 = 14;
const TAG_I128: u8 = 69;
const TAG_BYTES: u8 = 72;
const TAG_STRING: u8 = 73;
const TAG_ADDRESS: u8 = 77;
/** Storage kept with the contract's own instance. */
const INSTANCE: i64 = 2;
const SYMBOL_SMALL_MAX = 9;
const SYMBOL_MAX = 32;
/** Fixed, because a heap would need a start function, which hosts refuse. */
const scratch = memory.data(32);

@external("a", "0") export declare function requireAuth(address: Val): Val;
@external("b", "j") declare function symbolFromMemory(position: Val, length: Val): Val;
@external("c", "0") export declare function verifyEd25519(publicKey: Val, message: Val, signature: Val): Val;
@external("d", "_") export declare function call(contract: Val, name: Val, args: Val): Val;
@external("i", "7") declare function i128Low(value: Val): i64;
@external("i", "8") declare function i128High(value: Val): i64;
@external("l", "_") declare function putStored(key: Val, value: Val, storage: i64): Val;
@external("l", "1") declare function getStored(key: Val, storage: i64): Val;
@external("l", "8") declare function extendInstance(threshold: Val, extendTo: Val): Val;
@external("m", "_") export declare function map(): Val;
@external("m", "0") export declare function put(map: Val, key: Val, value: Val): Val;
@external("v", "_") export declare function vec(): Val;
@external("v", "6") export declare function push(vec: Val, value: Val): Val;
@external("x", "1") export declare function publish(topics: Val, data: Val): Val;

function tagOf(value: Val): u8 {
  return <u8>value;
}

function u32Val(value: u32): Val {
  return (<i64>value << 32) | TAG_U32;
}

/** The value of `Error(Contract, #code)`: returned by a function, it undoes the whole call. */
export function contractError(code: u32): Val {
  return (<i64>code << 32) | TAG_ERROR;
}

export function isAddress(value: Val): bool {
  return tagOf(value) == TAG_ADDRESS;
}

export function isString(value: Val): bool {
  return tagOf(value) == TAG_STRING;
}

export function isBytes(value: Val): bool {
  return tagOf(value) == TAG_BYTES;
}

export function isI128(value: Val): bool {
  return tagOf(value) == TAG_I128_SMALL || tagOf(value) == TAG_I128;
}

export function isPositive(i128: Val): bool {
  if (tagOf(i128) == TAG_I128_SMALL) return i128 >> 8 > 0;
  const high = i128High(i128);
  return high > 0 || (high == 0 && i128Low(i128) != 0);
}

/** A symbol of A–Z, a–z, 0–9 and _: packed into the value itself when short, as hosts expect it. */
export function symbol(text: string): Val {
  const length = text.length;
  if (length > SYMBOL_SMALL_MAX) {
    if (length > SYMBOL_MAX) unreachable();
    for (let at = 0; at < length; at++) store<u8>(scratch + at, <u8>text.charCodeAt(at));
    return symbolFromMemory(u32Val(<u32>scratch), u32Val(length));
  }
  let packed: i64 = 0;
  for (let at = 0; at < length; at++) packed = (packed << 6) | sixBits(text.charCodeAt(at));
  return (packed << 8) | TAG_SYMBOL_SMALL;
}

/** 1 is _, then digits, capitals, small letters. */
function sixBits(char: i32): i64 {
  if (char == 0x5f) return 1;
  if (char <= 0x39) return char - 0x30 + 2;
  if (char <= 0x5a) return char - 0x41 + 12;
  return char - 0x61 + 38;
}

export function remember(name: string, value: Val): void {
  putStored(symbol(name), value, INSTANCE);
}

export function recall(name: string): Val {
  return getStored(symbol(name), INSTANCE);
}

/** Keeps instance and code alive for `extendTo` more ledgers once fewer than `threshold` are left. */
export function keepAlive(threshold: u32, extendTo: u32): void {
  extendInstance(u32Val(threshold), u32Val(extendTo));
}
