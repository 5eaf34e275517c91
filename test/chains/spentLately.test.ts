import assert from 'node:assert/strict';
import fc from 'fast-check';
import { hour_ms } from '../../domain/time.ts';
import { createSpentLately, type Spent } from '../../src/chains/money/spending.ts';

const spent: fc.Arbitrary<Spent> = fc.record({
  chainId: fc.constantFrom(1 as const, 501 as const),
  reference: fc.constantFrom('one', 'two', 'three'),
  appId: fc.constantFrom(null, 'wallet_demo', 'merchant_shop'),
  amount: fc.bigInt(0n, 9n),
  coin: fc.bigInt(0n, 9n),
  at_ms: fc.integer({ min: 0, max: 2 * hour_ms }),
});
const keys = fc.constantFrom('a', 'b', 'c', 'recalled one');
const step = fc.oneof(
  fc.record({ do: fc.constant('put' as const), key: keys, spent }),
  fc.record({ do: fc.constant('forget' as const), key: keys }),
  fc.record({ do: fc.constant('recall' as const), spent }),
  fc.record({ do: fc.constant('expire' as const), now_ms: fc.integer({ min: hour_ms, max: 3 * hour_ms }) }),
);

describe('the signatures of the last hour', () => {
  it('have the sums of their entries, whatever was added and removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.uniqueArray(keys), (steps, but) => {
        const lately = createSpentLately();
        for (const each of steps) {
          if (each.do === 'put') lately.put(each.key, each.spent);
          else if (each.do === 'forget') lately.forget(each.key);
          else if (each.do === 'recall') lately.recall([each.spent]);
          else lately.expire(each.now_ms);
        }
        const others = [...lately.entries]
          .filter(([key]) => !but.some((each) => each === key))
          .map(([, entry]) => entry);
        const sum = (of: readonly Spent[], what: 'amount' | 'coin') => of.reduce((all, each) => all + each[what], 0n);
        const sums = lately.besides(but);
        assert.equal(sums.count, others.length);
        assert.equal(sums.usd(), sum(others, 'amount'));
        for (const appId of [null, 'wallet_demo', 'nobody']) {
          const own = others.filter((each) => each.appId === appId);
          assert.equal(sums.usd({ appId }), sum(own, 'amount'));
          const there = own.filter(({ chainId }) => chainId === 501);
          assert.equal(sums.coin(501, { appId }), sum(there, 'coin'));
        }
      }),
    );
  });

  it('omit entries that are an hour old', () => {
    const lately = createSpentLately();
    const entry = { chainId: 1, reference: 'one', appId: null, amount: 5n, coin: 1n, at_ms: 0 } as const;
    lately.put('a', entry);
    lately.put('b', { ...entry, at_ms: 1 });
    lately.expire(hour_ms);
    assert.deepEqual([...lately.entries.keys()], ['b']);
  });
});
