import { X509Certificate } from 'node:crypto';

const pemCertificate = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * Returns the certificates in a PEM file, because TLS ignores text that it cannot read.
 * @throws RangeError if there is none, or one that cannot be read
 */
export function certificatesIn(pem: string): readonly string[] {
  const certificates = pem.match(pemCertificate) ?? [];
  if (certificates.length === 0) throw new RangeError('it contains no certificate in PEM');
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch {
      throw new RangeError(`its certificate ${index + 1} of ${certificates.length} cannot be read`);
    }
  }
  return certificates;
}
