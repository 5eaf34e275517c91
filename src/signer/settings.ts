import { readFileSync } from 'node:fs';
import type { Reader } from '../environment/reader.ts';

// Certificates of both sides. Each presents its own, and accepts only certificates of the one authority.

export interface TlsFiles {
  readonly caFile: string;
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Tls {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * SIGNER_CA_FILE, SIGNER_CERT_FILE, SIGNER_KEY_FILE: a dedicated authority, and this side's certificate from it.
 * @param because reason why they are required; null if they are optional
 */
export function readTlsFiles(read: Reader, because: string | null): TlsFiles {
  const file = (name: string): string => {
    const path = read.text(name, '');
    read.check(path !== '' || because === null, `${name} is required ${because}: both ends present a certificate`);
    return path;
  };
  return { caFile: file('SIGNER_CA_FILE'), certFile: file('SIGNER_CERT_FILE'), keyFile: file('SIGNER_KEY_FILE') };
}

/** @throws Error that names an unreadable file */
export const loadTls = ({ caFile, certFile, keyFile }: TlsFiles): Tls => ({
  ca: readFileSync(caFile, 'utf8'),
  cert: readFileSync(certFile, 'utf8'),
  key: readFileSync(keyFile, 'utf8'),
});

/** Signing for the treasury, from configuration. */
export interface SignerSettings {
  /** Process that holds the keys; null: this instance holds them, or does not sign. */
  readonly remote: { readonly url: string; readonly tls: TlsFiles } | null;
  /** For the role `signer`: its address for callers. */
  readonly server: { readonly host: string; readonly port: number; readonly tls: TlsFiles } | null;
}

/** @param isSigner true if this instance signs for others */
export function readSigner(read: Reader, isSigner: boolean): SignerSettings {
  const url = read.url('SIGNER_URL', /^https:$/)?.replace(/\/+$/, '') ?? null;
  const host = read.text('SIGNER_HOST', '127.0.0.1');
  const port = read.integer('SIGNER_PORT', 3003, 0, 65_535);
  const because = isSigner ? 'with the role signer' : 'with SIGNER_URL';
  const tls = readTlsFiles(read, isSigner || url !== null ? because : null);
  if (isSigner) return { remote: null, server: { host, port, tls } };
  return { remote: url === null ? null : { url, tls }, server: null };
}
