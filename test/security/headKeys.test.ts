import assert from 'node:assert/strict';
import { headKeysOf, sealKeyOf } from '../../src/security/masterKey.ts';

const [now, before] = [sealKeyOf(Buffer.alloc(32, 1)), sealKeyOf(Buffer.alloc(32, 2))];
const hex = (byte: number) => Buffer.alloc(32, byte).toString('hex');
const none = { key: null, oldKey: null, lost: null };
const publicKeys = (keys: ReturnType<typeof headKeysOf>) => keys.former.map(({ publicKey }) => publicKey);

describe('the keys of heads', () => {
  it('are derived from the master key unless they are given, and those of earlier master keys still sign for it', () => {
    const old = headKeysOf(none, [before]);
    const changed = headKeysOf(none, [now, before]);
    assert.notEqual(changed.current.publicKey, old.current.publicKey);
    assert.deepEqual(publicKeys(changed), [old.current.publicKey]);
    assert.equal(headKeysOf(none, [now]).current.publicKey, changed.current.publicKey);
  });

  it('are the given ones, for which the derived one and the old one sign', () => {
    const derived = headKeysOf(none, [now]).current.publicKey;
    const given = headKeysOf({ ...none, key: hex(3) }, [now]);
    assert.deepEqual(publicKeys(given), [derived]);
    const again = headKeysOf({ ...none, key: hex(4), oldKey: hex(3) }, [now]);
    assert.deepEqual(publicKeys(again), [given.current.publicKey, derived]);
  });
});
