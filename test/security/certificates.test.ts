import assert from 'node:assert/strict';
import { certificatesIn } from '../../src/security/certificates.ts';
import { testCertificate } from '../support/tlsServer.ts';

describe('the certificates of a PEM file', () => {
  it('are each found, also after other text', async () => {
    const { cert } = await testCertificate();
    assert.deepEqual(certificatesIn(`for the shop\n${cert}\n${cert}`), [cert.trim(), cert.trim()]);
  });

  it('are refused if one is damaged', async () => {
    const { cert } = await testCertificate();
    const [head = '', ...lines] = cert.trim().split('\n');
    const damaged = [head, ...lines.slice(2), cert].join('\n');
    assert.throws(() => certificatesIn(damaged), new RangeError('its certificate 1 of 2 cannot be read'));
  });

  it('are refused if there is none', async () => {
    const { cert } = await testCertificate();
    for (const empty of ['', 'not a certificate', cert.replace('BEGIN', 'BEGIM')])
      assert.throws(() => certificatesIn(empty), new RangeError('it contains no certificate in PEM'));
  });
});
