/** XDR values as plain JSON, for comparisons and failure messages. */
import { Address, StrKey, xdr } from '@stellar/stellar-sdk';

/** Plain JSON. Numbers of 64 bits are text. */
export type Plain = string | number | boolean | null | readonly Plain[] | { readonly [name: string]: Plain };

/** Returns an XDR value as plain JSON: structures by field, unions by their arm, addresses and small texts readable. */
export function plain(value: unknown): Plain {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (Buffer.isBuffer(value)) return bytes(value);
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof xdr.ScAddress) return Address.fromScAddress(value).toString();
  if (value instanceof xdr.PublicKey) return StrKey.encodeEd25519PublicKey(value.ed25519());
  if (value instanceof xdr.MuxedAccount && value.switch().name === 'keyTypeEd25519')
    return StrKey.encodeEd25519PublicKey(value.ed25519());
  return structure(value);
}

/** Text where all bytes are printable, else hex. */
const bytes = (value: Buffer): string =>
  value.every((byte) => byte >= 32 && byte < 127) ? value.toString('utf8') : value.toString('hex');

interface Inner {
  readonly _attributes?: Readonly<Record<string, unknown>>;
  readonly _switch?: unknown;
  readonly _value?: unknown;
  readonly name?: unknown;
}

/** Reads the SDK's own fields: its classes have no common reader. */
function structure(value: unknown): Plain {
  const { _attributes, _switch, _value, name } = value as Inner;
  if (_attributes)
    return Object.fromEntries(Object.entries(_attributes).map(([field, inner]) => [field, plain(inner)]));
  if (_switch !== undefined) {
    const arm = typeof _switch === 'number' ? String(_switch) : String((_switch as Inner).name);
    return _value === undefined ? arm : { [arm]: plain(_value) };
  }
  if (typeof name === 'string') return name;
  return typeof _value === 'bigint' ? _value.toString() : String(value);
}
