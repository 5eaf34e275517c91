import { join } from 'node:path';

/**
 * Protocol buffer fields written from the last byte to the first. A message's length is known once its content is written, so nothing is
 * measured before or copied afterwards.
 * @see https://protobuf.dev/programming-guides/encoding/
 */
export interface WireWriter {
  /** Current position; pass it to `message` to close the fields written since. */
  mark(): number;
  bytes(field: number, value: Uint8Array): void;
  text(field: number, value: string): void;
  uint64(field: number, value: number | bigint): void;
  /** Skips this many bytes. */
  room(bytes: number): void;
  /** Wraps everything written since `mark` into one nested message. */
  message(field: number, mark: number): void;
  done(): Buffer;
}

const varintWireType = 0;
const lengthWireType = 2;
/** Bytes of the wire types for 64 and 32 bits, which are skipped: no message here uses them. */
const fixedLength = { 1: 8, 5: 4 } as const;

/** @param capacity at least the size of the message, in bytes */
export function wireWriter(capacity: number): WireWriter {
  const out = Buffer.allocUnsafe(capacity);
  let at = capacity;

  function varint(value: number | bigint): void {
    let size = 1;
    for (let rest = value; rest > 127; size++) rest = typeof rest === 'bigint' ? rest >> 7n : Math.floor(rest / 128);
    at -= size;
    let rest = value;
    for (let i = 0; i < size; i++) {
      const low = Number(typeof rest === 'bigint' ? rest & 127n : rest % 128);
      out[at + i] = i < size - 1 ? low | 128 : low;
      rest = typeof rest === 'bigint' ? rest >> 7n : Math.floor(rest / 128);
    }
  }
  /** Fields up to 15 only: their tag is one byte. */
  function tag(field: number, wireType: number): void {
    out[--at] = (field << 3) | wireType;
  }
  function message(field: number, mark: number): void {
    varint(mark - at);
    tag(field, lengthWireType);
  }

  return {
    mark: () => at,
    bytes(field, value) {
      const mark = at;
      at -= value.length;
      out.set(value, at);
      message(field, mark);
    },
    text(field, value) {
      const mark = at;
      at -= Buffer.byteLength(value);
      out.write(value, at);
      message(field, mark);
    },
    uint64(field, value) {
      varint(value);
      tag(field, varintWireType);
    },
    room(bytes) {
      at -= bytes;
    },
    message,
    done: () => out.subarray(at),
  };
}

/** Walks over the fields of a message in order. */
export interface WireReader {
  /** Enters the next nested message (or text); returns its length. */
  enter(): number;
  skip(bytes: number): void;
  /** Reads the next number, exact up to 2^53. */
  number(): number;
  readonly at: number;
}

/** Reads only the output of `wireWriter`: the caller knows which field is next. */
export function wireReader(bytes: Uint8Array): WireReader {
  let at = 0;
  const byte = (): number => bytes[at++] ?? 0;
  /** Skips the field's tag and returns its number. */
  function number(): number {
    byte();
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = byte();
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
  }
  return {
    get at() {
      return at;
    },
    enter: number,
    number,
    skip(count) {
      at += count;
    },
  };
}

/**
 * Calls back for every field of the message between `from` and `to`: with a number's value (exact up to 2^53), or the start and end of a
 * nested message, a text or bytes.
 * @throws RangeError for an invalid message
 */
export function eachField(
  bytes: Uint8Array,
  from: number,
  to: number,
  take: (field: number, value: number, end: number) => void,
): void {
  let at = from;
  function varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = bytes[at++] ?? 0;
      value += (next & 127) * scale;
      if (next < 128) return value;
    }
  }
  while (at < to) {
    const tag = varint();
    const field = Math.floor(tag / 8);
    const type = tag & 7;
    if (type === varintWireType) take(field, varint(), at);
    else if (type === lengthWireType) {
      const length = varint();
      at += length;
      if (at > to) throw new RangeError(`field ${field} is longer than its message`);
      take(field, at - length, at);
    } else if (type in fixedLength) at += fixedLength[type as keyof typeof fixedLength];
    else throw new RangeError(`field ${field} has the unknown wire type ${type}`);
  }
}

export const textAt = (bytes: Buffer, from: number, to: number): string => bytes.toString('utf8', from, to);

const scheme = 'esdb+unix://';
/** Portable size of `sockaddr_un`, without the zero at its end. */
const pathMost_bytes = 103;

export const socketIn = (dataDir: string): string => join(dataDir, 'socket');

/** Connection string of the embedded node's Unix socket: `esdb+unix:///data/eventstore/socket`. */
export const socketUrl = (path: string): string => `${scheme}${encodeURI(path)}`;

/** Null for a connection string of another kind. */
export const socketOf = (url: string): string | null =>
  url.startsWith(scheme) ? decodeURI(url.slice(scheme.length)) : null;

/** @throws RangeError */
export function mustFit(path: string): void {
  const length = Buffer.byteLength(path);
  if (length <= pathMost_bytes) return;
  throw new RangeError(
    `the event store's socket ${path} has a path of ${length} bytes, the system takes ${pathMost_bytes}: choose a shorter DATA_DIR`,
  );
}
