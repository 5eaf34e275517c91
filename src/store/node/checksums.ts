/** Checksums of what is stored: read again, it is what was written, or it is damaged. */
import { crc32 } from 'node:zlib';

export const checksum_bytes = 4;

const seedOf = (position: number): number => position % 2 ** 32;

/** Writes a record's checksum into the last bytes of its buffer. Its place in the log is part of it. */
export function sealRecord(sealed: Buffer, position: number): Buffer {
  const end = sealed.length - checksum_bytes;
  sealed.writeUInt32LE(crc32(sealed.subarray(0, end), seedOf(position)), end);
  return sealed;
}

/** The record without its checksum; null when this is not what was written there. */
export function openRecord(sealed: Buffer, position: number): Buffer | null {
  const end = sealed.length - checksum_bytes;
  if (end < 0) return null;
  const record = sealed.subarray(0, end);
  return crc32(record, seedOf(position)) === sealed.readUInt32LE(end) ? record : null;
}

const sumKey = ',"sum":';

/** A value as JSON with its checksum as one more key. */
export function sealJson(value: object): string {
  const text = JSON.stringify(value).slice(0, -1);
  return `${text}${sumKey}${crc32(text)}}`;
}

/**
 * The value again, without its checksum; null when it is not what was written.
 * @param known keys of a value of the older format, which had no checksum
 */
export function openJson(text: string, known: readonly string[]): object | null {
  const end = text.lastIndexOf(sumKey);
  if (end >= 0 && text.slice(end) !== `${sumKey}${crc32(text.slice(0, end))}}`) return null;
  const value = parsed(end < 0 ? text : `${text.slice(0, end)}}`);
  if (value === null || (end < 0 && !Object.keys(value).every((key) => known.includes(key)))) return null;
  return value;
}

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
