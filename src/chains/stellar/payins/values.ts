import { scValToNative, type xdr } from '@stellar/stellar-sdk';

/** Plain JavaScript for what the chain's values hold; undefined for what cannot be read. */
export function nativeOf(value: xdr.ScVal): unknown {
  try {
    return scValToNative(value);
  } catch {
    return undefined;
  }
}

/** As long as events and rows keep. */
const memoMax = 128;
/** Letters, digits, signs and inner spaces: nothing that a database, a log or a terminal could stumble over. */
const printable = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]*$/u;

/**
 * A memo as text: an id in decimal, a text as it is. Bytes, and texts that are not printable UTF-8, as hexadecimal behind `0x`, cut
 * to fit: whatever a payer writes can be kept and shown, and no payment's memo looks like that.
 */
export function memoOf(value: xdr.ScVal): string {
  switch (value.switch().name) {
    case 'scvU64':
      return value.u64().toString();
    case 'scvString':
      return textOf(Buffer.from(value.str()));
    case 'scvBytes':
      return hex(value.bytes());
    default:
      return hex(value.toXDR());
  }
}

function textOf(bytes: Buffer): string {
  const text = bytes.toString('utf8');
  const faithful = Buffer.from(text, 'utf8').equals(bytes);
  return faithful && text.length <= memoMax && printable.test(text) ? text : hex(bytes);
}

const hex = (bytes: Buffer): string => `0x${bytes.toString('hex')}`.slice(0, memoMax);
