import assert from 'node:assert/strict';
import { createPlaceShares } from '../../src/api/news.ts';

describe('HTTP: shares of places', () => {
  const fill = (shares: ReturnType<typeof createPlaceShares>, clients: readonly string[]): number => {
    let taken = 0;
    for (const client of clients) while (shares.take(client)) taken += 1;
    return taken;
  };

  it('are smaller when few places are free: a handful of addresses cannot hold all', () => {
    const shares = createPlaceShares({ placesMax: 10_000, perCallerMax: 2_000 });
    const taken = fill(
      shares,
      Array.from({ length: 20 }, (_, index) => `192.0.2.${index}`),
    );
    assert.ok(taken < 10_000, String(taken));
    assert.ok(shares.take('198.51.100.1'));
  });

  it('are larger for a network of IPv6 than for one address in it, and bounded', () => {
    const shares = createPlaceShares({ placesMax: 10_000, perCallerMax: 20 });
    const networks = Array.from({ length: 1_000 }, (_, index) => `2001:db8:1:${index.toString(16)}::/64`);
    assert.equal(fill(shares, networks), 160);
    assert.ok(shares.take('2001:db8:2:0::/64'));
  });

  it('are released once', () => {
    const shares = createPlaceShares({ placesMax: 100, perCallerMax: 1 });
    const giveBack = shares.take('192.0.2.1');
    assert.equal(shares.take('192.0.2.1'), null);
    giveBack?.();
    giveBack?.();
    assert.ok(shares.take('192.0.2.1'));
    assert.equal(shares.take('192.0.2.1'), null);
  });
});
