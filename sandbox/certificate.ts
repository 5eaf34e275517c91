import { createPrivateKey, X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeWhole } from '../src/lib/writeWhole.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

const day_ms = 24 * 3_600_000;
const validity_ms = 365 * day_ms;
const renewBefore_ms = 30 * day_ms;

/** A certificate for this machine's loopback names. It is made once and kept in the directory. */
export async function keepCertificate(directory: string): Promise<CertificateFiles> {
  const files = { certFile: join(directory, 'receiver-cert.pem'), keyFile: join(directory, 'receiver-key.pem') };
  if (isUsable(files)) return files;
  mkdirSync(directory, { recursive: true });
  // Loading this library costs more than a usable certificate.
  const { default: selfsigned } = await import('selfsigned');
  const { cert, private: key } = await selfsigned.generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    algorithm: 'sha256',
    notAfterDate: new Date(Date.now() + validity_ms),
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  });
  writeWhole(files.keyFile, key);
  writeWhole(files.certFile, cert, 0o644);
  return files;
}

/** False after a crash between the writing of the two files: the pair does not match and a new one is made. */
function isUsable({ certFile, keyFile }: CertificateFiles): boolean {
  if (!existsSync(certFile) || !existsSync(keyFile)) return false;
  try {
    const certificate = new X509Certificate(readFileSync(certFile));
    const stays = certificate.validToDate.getTime() - Date.now() > renewBefore_ms;
    return stays && certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)));
  } catch {
    return false;
  }
}
