import assert from 'node:assert/strict';
import type { PayoutRail } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { Arriving } from '../../../domain/rebalance/inTransit.ts';
import { hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import type { Obligation, Promised } from '../../../queries/payouts.ts';
import { createRouteGuard } from '../../../src/workers/payouts/routeGuard.ts';
import { created_at, ethereumUsdc, of } from '../../support/payments.ts';

const { signal } = new AbortController();
const { chain, token } = ethereumUsdc;
const usdc = (amount: string) => of(amount, ethereumUsdc);

describe('the guard of routes', () => {
  it('allows a payment that float and gas can cover besides the owed ones', async () => {
    const { check, refresh, around } = await guarded();
    around.owed = [{ chainId: chain.id, tokenAddress: token.address, amount: usdc('40.00') }];
    await refresh();
    assert.equal(check('60.01'), 'routeUnavailable');
    assert.equal(check(null), 'free');
    assert.equal(check('60.00'), 'free');
  });

  const promise = (appId: string | null, amount: string): Promised => ({
    ...{ chainId: chain.id, tokenAddress: token.address, amount: usdc(amount) },
    appId,
  });

  it('counts the promises of an app’s open payments against the next one, from the read models and before they show it', async () => {
    const { check, refresh, around } = await guarded();
    assert.equal(check('80.00'), 'free');
    assert.equal(check('80.00'), 'routeUnavailable');
    assert.equal(check('20.00'), 'free');
    around.promised = [promise('shop', '100.00')];
    for (const _ of [1, 2]) {
      await refresh();
      assert.equal(check('0.01'), 'routeUnavailable');
    }
    around.promised = [];
    await refresh();
    assert.equal(check('100.00'), 'free');
  });

  it('keeps a half of the float free of the promises of others, who may never pay', async () => {
    const { check, refresh, around } = await guarded();
    around.promised = [promise(null, '900.00'), promise('other', '900.00')];
    await refresh();
    assert.equal(check('50.01'), 'routeUnavailable');
    assert.equal(check('50.01', null), 'routeUnavailable');
    assert.equal(check('50.00'), 'free');
    assert.equal(check('50.00', null), 'free');
    around.owed = [{ chainId: chain.id, tokenAddress: token.address, amount: usdc('40.00') }];
    await refresh();
    assert.equal(check('10.01', null), 'routeUnavailable');
  });

  it('counts money that arrives within the payment’s life, and says when a refused route is open again', async () => {
    const { check, quote, refresh, around } = await guarded();
    const [soon, late] = [plus(created_at, 19 * minute_ms), plus(created_at, 40 * minute_ms)];
    const brings = (amount: string, expectedAt: Instant): Arriving => ({
      ...{ chainId: chain.id, account: '0x00', token: token.address, amount: usdc(amount) },
      expectedAt,
    });
    around.arriving = [brings('500.00', late), brings('50.00', soon)];
    around.now = plus(created_at, 16_000);
    await refresh();
    assert.equal(quote('100.00', hour_ms), null);
    assert.equal(quote('150.00', hour_ms), soon);
    assert.equal(quote('150.01', hour_ms), late);
    assert.equal(quote('650.00', hour_ms), late);
    const refusals = [quote('150.00', 10 * minute_ms), quote('650.00', 30 * minute_ms), quote('650.01', hour_ms)];
    assert.deepEqual(
      refusals.map((each) => isRefusal(each) && [each.refused, each.retryAfter_s, each.message.includes(' at about ')]),
      [
        ['routeUnavailable', 19 * 60 - 16, true],
        ['routeUnavailable', 40 * 60 - 16, true],
        ['routeUnavailable', undefined, false],
      ],
    );
    assert.match(
      isRefusal(refusals[0]) ? refusals[0].message : '',
      new RegExp(`can be paid out again at about ${soon}`),
    );
    // A promise uses arriving money up, and a payment without a life gets none of it.
    assert.equal(check('150.00'), 'routeUnavailable');
    around.promised = [promise('shop', '150.00')];
    await refresh();
    assert.equal(quote('500.00', hour_ms), late);
    assert.ok(isRefusal(quote('500.01', hour_ms)));
    // An attested burn can arrive at once; one that is 10 minutes late is not counted on.
    around.promised = [];
    around.now = plus(soon, 9 * minute_ms);
    await refresh();
    assert.equal(quote('150.00', minute_ms), plus(around.now, 30_000));
    around.now = plus(soon, 10 * minute_ms);
    await refresh();
    assert.equal(quote('150.00', hour_ms), late);
    around.gas = 0n;
    await refresh();
    assert.ok(isRefusal(quote('150.00', hour_ms)));
  });

  it('refuses all payments of a chain without gas, or one that has not been queried for a minute', async () => {
    const { check, refresh, around } = await guarded();
    around.gas = 0n;
    await refresh();
    assert.equal(check('1.00'), 'routeUnavailable');
    around.gas = 1n;
    await refresh();
    assert.equal(check('1.00'), 'free');
    around.answers = false;
    around.now = plus(around.now, 61_000);
    await refresh();
    assert.equal(check('1.00'), 'routeUnavailable');
  });

  it('refuses payments that the signer would not sign, pointing at the amount', async () => {
    const { check } = await guarded();
    assert.equal(check('1000.01'), 'invalidRequest /source/amount');
  });

  it('notifies the operator once a minute, however often too much is requested', async () => {
    const { check, around } = await guarded();
    for (let n = 0; n < 100; n += 1) check('100.01');
    assert.equal(around.alarms, 1);
    around.now = plus(around.now, 60_000);
    check('100.01');
    assert.equal(around.alarms, 2);
  });

  it('queries the chain rarely while nobody creates payments, and soon again when somebody does', async () => {
    const { askedIn, check } = await guarded();
    assert.equal(await askedIn({ rounds: 11 }), 2);
    check('1.00');
    assert.equal(await askedIn({ rounds: 1 }), 1);
    assert.equal(await askedIn({ rounds: 4 }), 0);
  });

  it('queries soon again, too, when owed amounts may have changed, when a chain did not answer, and when Postgres did not', async () => {
    const { askedIn, around } = await guarded();
    around.changes += 1;
    assert.equal(await askedIn({ rounds: 1 }), 1);
    assert.equal(await askedIn({ rounds: 1 }), 0);
    for (const fails of ['answers', 'knows'] as const) {
      around.changes += 1;
      around[fails] = false;
      assert.equal(await askedIn({ rounds: 3 }), 3);
      around[fails] = true;
      assert.equal(await askedIn({ rounds: 1 }), 1);
      assert.equal(await askedIn({ rounds: 1 }), 0);
    }
  });
});

/** A treasury that holds 100 USDC on Ethereum. */
async function guarded() {
  const around = {
    now: created_at,
    gas: 1n,
    answers: true,
    knows: true,
    owed: [] as Obligation[],
    promised: [] as Promised[],
    arriving: [] as Arriving[],
    changes: 0,
    alarms: 0,
    balancesAsked: 0,
    roundsLeft: 0,
    stop: () => {},
  };
  const rail = {
    chainId: chain.id,
    async balances() {
      around.balancesAsked += 1;
      if (!around.answers) throw new Error('away');
      return { gas: around.gas, tokens: { [token.address]: usdc('100.00') } };
    },
  } as Partial<PayoutRail> as PayoutRail;
  const guard = createRouteGuard({
    clock: {
      now: () => around.now,
      async sleep(duration_ms) {
        around.now = plus(around.now, duration_ms);
        around.roundsLeft -= 1;
        if (around.roundsLeft === 0) around.stop();
      },
    },
    rails: [rail],
    perTransfer_usd: 1_000n,
    async obligations() {
      if (!around.knows) throw new Error('Postgres is away');
      return around.owed;
    },
    promised: async () => around.promised,
    arriving: async () => around.arriving,
    changes: () => around.changes,
    alarm: () => {
      around.alarms += 1;
    },
  });
  const refresh = () => guard.refresh(signal);
  await refresh();
  const check = (amount: string | null, by: string | null = 'shop') => {
    const refusal = guard.check(chain, token, amount === null ? null : usdc(amount), '/source/amount', by);
    return isRefusal(refusal) ? [refusal.refused, refusal.pointer].filter(Boolean).join(' ') : 'free';
  };
  /** Number of balance queries in this many rounds of the guard. */
  async function askedIn({ rounds }: { readonly rounds: number }): Promise<number> {
    const before = around.balancesAsked;
    const stop = new AbortController();
    around.roundsLeft = rounds;
    around.stop = () => stop.abort();
    await guard.watch(stop.signal);
    return around.balancesAsked - before;
  }
  /** @returns the refusal, or the time of the expected payout; null for one that need not wait */
  const quote = (amount: string, life_ms: number) =>
    guard.look(chain, token, usdc(amount), '/source/amount', 'shop', life_ms) ??
    guard.expectedAt(chain, token, usdc(amount), 'shop');
  return { check, refresh, around, askedIn, quote };
}
