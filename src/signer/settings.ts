import type { Reader } from '../environment/reader.ts';
import { readTlsFiles, type TlsFiles } from './tls.ts';

/** Who signs for the treasury, as configuration says it. */
export interface SignerSettings {
  /** Another process that holds the keys; null: this instance holds them, or does not sign. */
  readonly remote: { readonly url: string; readonly tls: TlsFiles } | null;
  /** Of the role `signer`: where those that may ask reach it. */
  readonly server: { readonly host: string; readonly port: number; readonly tls: TlsFiles } | null;
}

/** @param isSigner whether this instance is the one that signs for others */
export function readSigner(read: Reader, isSigner: boolean): SignerSettings {
  const url = read.url('SIGNER_URL', /^https:$/)?.replace(/\/+$/, '') ?? null;
  const host = read.text('SIGNER_HOST', '127.0.0.1');
  const port = read.integer('SIGNER_PORT', 3003, 0, 65_535);
  const because = isSigner ? 'with the role signer' : 'beside SIGNER_URL';
  const tls = readTlsFiles(read, isSigner || url !== null ? because : null);
  if (isSigner) return { remote: null, server: { host, port, tls } };
  return { remote: url === null ? null : { url, tls }, server: null };
}
