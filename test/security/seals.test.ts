import assert from 'node:assert/strict';
import { createSeals } from '../../src/security/masterKey.ts';

const link = 'a'.repeat(64);
const seals = createSeals(Buffer.alloc(32, 1));

describe('seals', () => {
  it('are the same for the same previous hash and key, in every process', () => {
    assert.equal(seals.sealOf(link), createSeals(Buffer.alloc(32, 1)).sealOf(link));
    assert.ok(seals.isSealOf(link, seals.sealOf(link)));
  });

  it('hold for no other previous hash, and under no other key', () => {
    assert.ok(!seals.isSealOf('b'.repeat(64), seals.sealOf(link)));
    const other = createSeals(Buffer.alloc(32, 2));
    assert.ok(!other.isSealOf(link, seals.sealOf(link)));
    assert.notEqual(other.keyId, seals.keyId);
  });

  it('are no other text', () => {
    const good = seals.sealOf(link);
    for (const text of ['', good.slice(0, -1), `${good}A`, good.toUpperCase(), `${good.slice(0, -1)}é`, 'é'.repeat(52)])
      assert.ok(!seals.isSealOf(link, text), text);
  });
});
