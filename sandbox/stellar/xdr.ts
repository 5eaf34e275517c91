/** Small helpers over the SDK's XDR classes. All casts that their loose types need are here. */
import { createHash } from 'node:crypto';
import { Address, type Asset, Keypair, StrKey, xdr } from '@stellar/stellar-sdk';

interface Encodable {
  toXDR(format?: 'raw'): Buffer;
  toXDR(format: 'base64'): string;
}

export const base64 = (value: Encodable): string => value.toXDR('base64');

/** Returns the bytes of a base64 text in its one spelling. @throws Error for any other text */
export function strictBase64(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (text === '' || bytes.toString('base64') !== text) throw new Error('illegal base64 data');
  return bytes;
}

export const same = (a: Encodable, b: Encodable): boolean => a.toXDR().equals(b.toXDR());
export const sha256 = (bytes: Uint8Array | string): Buffer => createHash('sha256').update(bytes).digest();

export const int64 = (value: bigint): xdr.Int64 => xdr.Int64.fromString(value.toString()) as xdr.Int64;
export const uint64 = (value: bigint): xdr.Uint64 => xdr.Uint64.fromString(value.toString()) as xdr.Uint64;
export const bigintOf = (value: { toString(): string }): bigint => BigInt(value.toString());

/** Hashes are Buffers of 32 bytes; the SDK declares another type. */
export const hash = (bytes: Buffer): xdr.Hash => bytes as unknown as xdr.Hash;
export const bytesOf = (hash: xdr.Hash | Buffer): Buffer => hash as unknown as Buffer;

export const accountId = (account: string): xdr.AccountId => Keypair.fromPublicKey(account).xdrAccountId();
export const accountText = (id: xdr.AccountId): string => StrKey.encodeEd25519PublicKey(id.ed25519());
export const contractHash = (contract: string): xdr.Hash => hash(StrKey.decodeContract(contract));
export const contractText = (id: xdr.Hash | Buffer): string => StrKey.encodeContract(bytesOf(id));

export const symbol = (text: string): xdr.ScVal => xdr.ScVal.scvSymbol(text);
export const addressVal = (address: string): xdr.ScVal => new Address(address).toScVal();
/** The address in an argument. A muxed one keeps its id: `M…`. @throws when it is none */
export const addressOf = (value: xdr.ScVal): string => Address.fromScVal(value).toString();

export function i128(value: bigint): xdr.ScVal {
  const hi = int64(BigInt.asIntN(64, value >> 64n));
  return xdr.ScVal.scvI128(new xdr.Int128Parts({ hi, lo: uint64(BigInt.asUintN(64, value)) }));
}

export const i128Of = (parts: xdr.Int128Parts): bigint => (bigintOf(parts.hi()) << 64n) | bigintOf(parts.lo());

/** A map as contracts build it: keys are symbols, in order. */
export function symbolMap(entries: Readonly<Record<string, xdr.ScVal>>): xdr.ScVal {
  const keys = Object.keys(entries).sort();
  return xdr.ScVal.scvMap(keys.map((key) => new xdr.ScMapEntry({ key: symbol(key), val: entries[key] as xdr.ScVal })));
}

/** The value under a symbol in a map, if it is a map and has it. */
export function inMap(map: xdr.ScVal, key: string): xdr.ScVal | undefined {
  if (map.switch().name !== 'scvMap') return undefined;
  return map
    .map()
    ?.find((entry) => same(entry.key(), symbol(key)))
    ?.val();
}

/** Empty for lumens, which have no issuer. */
export const issuerOf = (asset: Asset): string => asset.getIssuer() ?? '';

export const noExtension = (): xdr.ExtensionPoint => new xdr.ExtensionPoint(0);

/** No sponsors: one null for each signer, which the SDK's types leave out. */
export const noSponsors = (signers: number): xdr.SponsorshipDescriptor[] =>
  Array<unknown>(signers).fill(null) as xdr.SponsorshipDescriptor[];
