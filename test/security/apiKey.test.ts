import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { newApiKey, parseKey } from '../../src/security/apiKey.ts';

const base62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('API keys', () => {
  it('have one prefix, 32 random characters and a checksum', () => {
    const { key, hash, hint } = newApiKey();
    assert.match(key, /^pi_live_[0-9A-Za-z]{38}$/);
    assert.equal(hash, createHash('sha256').update(key).digest('hex'));
    assert.equal(hint, `pi_live_…${key.slice(-4)}`);
  });

  it('state whether they are for main networks, and are accepted with either prefix', () => {
    const { key, hash, hint } = newApiKey('test');
    assert.match(key, /^pi_test_[0-9A-Za-z]{38}$/);
    assert.equal(hint, `pi_test_…${key.slice(-4)}`);
    assert.equal(parseKey(key), hash);
    assert.equal(parseKey(key.replace('test', 'live')), undefined);
  });

  it('are found by their hash', () => {
    const { key, hash } = newApiKey();
    assert.equal(parseKey(key), hash);
  });

  it('are distinguished from typos without a lookup: any one wrong character', () =>
    fc.assert(
      fc.property(fc.nat({ max: 37 }), fc.constantFrom(...base62), (place, character) => {
        const { key } = newApiKey();
        const at = 'pi_live_'.length + place;
        fc.pre(key.charAt(at) !== character);
        assert.equal(parseKey(key.slice(0, at) + character + key.slice(at + 1)), undefined);
      }),
    ));

  it('are distinguished from everything else', () => {
    const { key } = newApiKey();
    for (const text of ['', 'pi_live_', key.slice(1), `${key}x`, `${key}\n`, ` ${key}`, key.replace('live', 'test')]) {
      assert.equal(parseKey(text), undefined, JSON.stringify(text));
    }
  });

  it('use every character equally often: bytes that would favour some are discarded', () => {
    const bytes = (values: readonly number[]) => () => Uint8Array.from(values);
    const { key } = newApiKey('live', bytes([255, 248, 0, 61, 62, 247]));
    assert(key.startsWith('pi_live_0z0z0z0z'));
  });
});
