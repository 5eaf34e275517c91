/** Bytes that callers send as text. The texts of refusals are those of the network's nodes and of their decoders. */
import { getBase58Encoder } from '@solana/kit';
import { invalid, isBase58 } from './method.ts';

const name = 'solana_transaction::versioned::VersionedTransaction';
/** Only version 1 may be larger. No other version has its first byte. */
const usual = { raw: 1_232, base58: 1_683, base64: 1_644 };
const versionOne = { raw: 4_096, base64: 5_464, firstByte: 0x81 };

/** @throws RpcError */
export function bytesOfTransaction(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (encoding === 'base58' && text.length > usual.base58) throw tooLong('base58', text, usual.base58, usual.raw);
  const largest = isVersionOne(text) ? versionOne : usual;
  if (encoding === 'base64' && text.length > largest.base64) throw tooLong('base64', text, largest.base64, largest.raw);
  const bytes = encoding === 'base58' ? bytesOfBase58(text) : bytesOfBase64(text);
  const max = bytes[0] === versionOne.firstByte ? versionOne.raw : usual.raw;
  if (bytes.length <= max) return bytes;
  throw invalid(`decoded ${name} too large: ${bytes.length} bytes (max: ${max} bytes)`);
}

const isVersionOne = (base64: string): boolean => Buffer.from(base64.slice(0, 4), 'base64')[0] === versionOne.firstByte;

const tooLong = (encoding: string, { length }: string, encoded: number, raw: number) =>
  invalid(`${encoding} encoded ${name} too large: ${length} bytes (max: encoded/raw ${encoded}/${raw})`);

export const undecodable = (reason: string) => invalid(`failed to deserialize ${name}: ${reason}`);

function bytesOfBase58(text: string): Uint8Array {
  const at = [...text].findIndex((letter) => !isBase58(letter));
  if (at < 0) return new Uint8Array(getBase58Encoder().encode(text));
  throw invalid(`invalid base58 encoding: ${invalidCharacter(text, at)}`);
}

/** A wrong letter in Rust's debug format. */
export function invalidCharacter(text: string, at: number): string {
  const letter = [...text][at] ?? '';
  const escaped = letter === "'" || letter === '\\' ? `\\${letter}` : letter;
  return `InvalidCharacter { character: '${escaped}', index: ${at} }`;
}

/** @throws RpcError */
export function bytesOfBase64(text: string): Uint8Array {
  const wrong = base64Fault(Buffer.from(text));
  if (wrong) throw invalid(`invalid base64 encoding: ${wrong}`);
  return new Uint8Array(Buffer.from(text, 'base64'));
}

function base64Fault(letters: Buffer): string | undefined {
  const padding = letters.at(-1) !== padding_byte ? 0 : letters.at(-2) !== padding_byte ? 1 : 2;
  const end = letters.length - padding;
  // A quartet has at least two letters: the decoder refuses padding in the place of one.
  const least = padding > 0 ? letters.length - (letters.length % 4 || 4) + 2 : 0;
  const at = letters.findIndex(
    (byte, place) => !(isBase64(byte) || (place >= Math.max(end, least) && byte === padding_byte)),
  );
  if (at >= 0) return `InvalidByte(${at}, ${letters[at]})`;
  if (end % 4 === 1) return `InvalidLength(${letters.length})`;
  return letters.length % 4 === 0 ? undefined : 'InvalidPadding';
}

const padding_byte = 61;
const isBase64 = (byte: number): boolean => /[A-Za-z0-9+/]/.test(String.fromCharCode(byte));
