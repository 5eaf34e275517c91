/** Certificates of both ends. Each shows its own, and takes nobody whose certificate the one authority has not signed. */
import { readFileSync } from 'node:fs';
import type { Reader } from '../environment/reader.ts';

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
 * SIGNER_CA_FILE, SIGNER_CERT_FILE, SIGNER_KEY_FILE: an authority made for this alone, and what it has signed for this end.
 * @param because when they are needed; null while they are not
 */
export function readTlsFiles(read: Reader, because: string | null): TlsFiles {
  const file = (name: string): string => {
    const path = read.text(name, '');
    read.check(path !== '' || because === null, `${name} is required ${because}: both ends show a certificate`);
    return path;
  };
  return { caFile: file('SIGNER_CA_FILE'), certFile: file('SIGNER_CERT_FILE'), keyFile: file('SIGNER_KEY_FILE') };
}

/** @throws Error that names the file which cannot be read */
export const loadTls = ({ caFile, certFile, keyFile }: TlsFiles): Tls => ({
  ca: readFileSync(caFile, 'utf8'),
  cert: readFileSync(certFile, 'utf8'),
  key: readFileSync(keyFile, 'utf8'),
});
