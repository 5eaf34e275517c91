/** Certificates of a temporary authority for one test: it signs for both ends of a signer's connection. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import type { TlsFiles } from '../../src/signer/settings.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

export interface Authority {
  /** A certificate for a name, with the files that the configuration needs. */
  end(name: string): Promise<TlsFiles>;
}

const names = [{ type: 2, value: 'localhost' } as const, { type: 7, ip: '127.0.0.1' } as const];

export async function testAuthority(): Promise<Authority> {
  const directory = temporaryDirectory();
  const file = (name: string, text: string): string => {
    const path = join(directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const common = { keyType: 'ec', algorithm: 'sha256' } as const;
  const ca = await generate([{ name: 'commonName', value: 'signers of a test' }], {
    ...common,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, critical: true },
    ],
  });
  const caFile = file('ca.pem', ca.cert);
  return {
    async end(name) {
      const own = await generate([{ name: 'commonName', value: name }], {
        ...common,
        ca: { key: ca.private, cert: ca.cert },
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          { name: 'subjectAltName', altNames: names },
        ],
      });
      return { caFile, certFile: file(`${name}.pem`, own.cert), keyFile: file(`${name}.key`, own.private) };
    },
  };
}
