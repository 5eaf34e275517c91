import assert from 'node:assert/strict';
import fc from 'fast-check';
import { currentState } from '../../commands/handle.ts';
import { Unavailable } from '../../commands/ports.ts';
import { type AskedRefund, createRefunds, type RefundsDeps } from '../../commands/refunds.ts';
import { credit, earn, spend } from '../../domain/credit.ts';
import { isRefusal, refuse } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider, takenBy } from '../../domain/payment/state.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { refundOwner } from '../../src/workers/payouts/owners.ts';
import {
  baseUsdc,
  bounced,
  confirmed,
  created,
  customerWallet,
  digits,
  minute,
  of,
  payin,
  refundAddressSet,
  terms,
  unpaid,
} from '../support/payments.ts';
import { accepted, Crashed, crashAt, processes } from '../support/processes.ts';

const { paymentId, appId } = terms();
const ours = { paymentId, appId };
const by = { cause: 'key:k1' } as const;
const short = [...unpaid, confirmed(payin({ amount: '3.00' })), bounced('amountTooLow', '3.00')];
/** Cost of five cents. */
const fiveCents = async () => ({ cost_microUsd: 50_000n, least_microUsd: 0n });

const asked = (order: Partial<AskedRefund> = {}): AskedRefund => ({
  scope: 'all',
  to: { address: customerWallet, memo: null },
  by: 'operator',
  note: null,
  key: null,
  ...order,
});
const part = (amount: string): AskedRefund['scope'] => ({
  chainId: 8453,
  tokenAddress: baseUsdc.token.address,
  amount: of(amount),
});
const byMerchant = { to: 'proven', by: 'key' } as const;
const codeOf = (answer: unknown) => (isRefusal(answer) ? answer.refused : 'ordered');

/** Repeats the work after a refusal that asks to try again. */
async function persistent<T>(work: () => Promise<T> | undefined): Promise<T | undefined> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Unavailable) || tries === 20) throw error;
    }
  }
}

async function world(history: readonly PaymentEvent[] = short, more: Partial<RefundsDeps> = {}) {
  const { start, clock, typesIn } = processes({ now: minute(80) });
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId }));
  const refundsOf = (own = handle) =>
    createRefunds({ handle: own, clock, addresses: familyAddresses, canReceive: {}, payoutCostOf: fiveCents, ...more });
  const payment = async () => {
    const state = await currentState(start(), paymentDecider, paymentId);
    assert.ok(state);
    return state;
  };
  return { start, clock, handle, refundsOf, refunds: refundsOf(), payment, typesIn };
}

describe('an order of refunds', () => {
  it('refunds the held money, less the cost of sending it', async () => {
    const { refunds, payment } = await world();
    const ordered = await refunds.order(ours, asked(), by);
    assert.ok(!isRefusal(ordered) && ordered.orderedNow);
    const [refund] = (await payment()).refunds;
    assert.deepEqual([refund?.order.amount, refund?.networkFee], [of('2.95'), of('0.05')]);
  });

  for (const opensAccount of [true, false]) {
    const opens = opensAccount ? 'opens its receiver’s account' : 'opens no account again that its receiver closed';
    it(`${opens}, as its fee was computed`, async () => {
      const payoutCostOf = async () => ({ ...(await fiveCents()), opensAccount });
      const { refunds, handle, clock } = await world(short, { payoutCostOf });
      await accepted(refunds.order(ours, asked(), by));
      const owner = refundOwner({ handle, clock, proveFunding: async () => assert.fail('it is not asked') });
      const owed = await owner.load({ kind: 'refund', id: paymentId, part: 1 });
      assert.equal(owed?.order.opensAccount, opensAccount);
    });
  }

  it('never exceeds the held money, though twenty are requested at once in two processes', async () => {
    const { start, refundsOf, payment } = await world();
    const both = [refundsOf(), refundsOf(start())];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        persistent(() => both[n % 2]?.order(ours, asked({ scope: part('0.31') }), by)),
      ),
    );
    assert.equal(answers.filter((answer) => !isRefusal(answer)).length, 9);
    assert.equal(answers.filter((answer) => codeOf(answer) === 'refundExceedsHeld').length, 11);
    const { refunds } = await payment();
    assert.equal(
      refunds.reduce((sum, refund) => sum + takenBy(refund), 0n),
      of('2.79'),
    );
  });

  it('never exceeds the held money, whatever is requested in any order', async () => {
    const cents = fc.integer({ min: 1, max: 150 });
    const orders = fc.oneof(
      cents.map((amount) => asked({ scope: part((amount / 100).toFixed(2)) })),
      cents.map((amount) => asked({ scope: part((amount / 100).toFixed(2)), ...byMerchant })),
      fc.constantFrom(asked(), asked(byMerchant), asked({ scope: 'excess' })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(orders, { maxLength: 12 }), async (list) => {
        const { refunds, payment } = await world([...short, refundAddressSet()]);
        await Promise.all(list.map((order) => refunds.order(ours, order, by)));
        const taken = (await payment()).refunds.reduce((sum, refund) => sum + takenBy(refund), 0n);
        assert.ok(taken <= of('3.00'));
      }),
      { numRuns: 25 },
    );
  });

  it('is made once by the same key, also when it is sent twice at once, or after a crash', async () => {
    const { refundsOf, start, payment, typesIn } = await world();
    const order = asked({ scope: part('1.00'), key: 'refund-1' });
    const both = [refundsOf(start()), refundsOf(start())];
    const answers = await Promise.all(both.map((refunds) => refunds.order(ours, order, by)));
    assert.deepEqual(
      answers.map((answer) => !isRefusal(answer) && answer.refunds.map(({ refund }) => refund)),
      [[1], [1]],
    );
    assert.equal((await payment()).refunds.length, 1);
    const crashed = refundsOf(start({ crash: crashAt('RefundRequested.afterAppend') }));
    await assert.rejects(crashed.order(ours, asked({ key: 'refund-2' }), by), Crashed);
    const again = await refundsOf(start()).order(ours, asked({ key: 'refund-2' }), by);
    assert.ok(!isRefusal(again) && !again.orderedNow);
    assert.equal((await typesIn(`payment-${paymentId}`)).filter((type) => type === 'RefundRequested').length, 2);
  });

  it('is answered to the key that made it though the cost of sending is unknown by now', async () => {
    const { refundsOf, start } = await world();
    const order = asked({ scope: part('1.00'), key: 'refund-1' });
    const first = await accepted(refundsOf().order(ours, order, by));
    const payoutCostOf = async () => {
      throw new Unavailable('no node answers', 5);
    };
    const away = createRefunds({
      handle: start(),
      clock: { now: () => minute(81) },
      addresses: familyAddresses,
      canReceive: {},
      payoutCostOf,
    });
    const again = await accepted(away.order(ours, order, by));
    assert.deepEqual([again.orderedNow, again.refunds.length], [false, first.refunds.length]);
  });

  it('is refused for an unknown payment, or for another app’s', async () => {
    const { refunds } = await world();
    assert.equal(codeOf(await refunds.order({ paymentId: 'none', appId }, asked(), by)), 'paymentNotFound');
    assert.equal(codeOf(await refunds.order({ paymentId, appId: 'wallet_other' }, asked(), by)), 'paymentNotFound');
    assert.equal(codeOf(await refunds.order({ paymentId, appId: null }, asked(), by)), 'ordered');
  });

  it('is possible only for the operator if the payment was created without a key', async () => {
    const keyless = [created({ keyless: true }), ...short.slice(1), refundAddressSet()];
    const { refunds } = await world(keyless);
    assert.equal(codeOf(await refunds.order(ours, asked(byMerchant), by)), 'forbidden');
    assert.equal(codeOf(await refunds.order(ours, asked({ to: 'proven' }), by)), 'ordered');
  });

  it('goes to addresses of the money’s own chain that can receive it', async () => {
    const { refunds } = await world();
    for (const address of [
      'GA7QYNF7SOWQ3GLR2BGMZEHXAVIRZA4KVWLTJJFC7MGXUA74P7UJVSGZ',
      '0x12',
      customerWallet.toUpperCase(),
    ])
      assert.equal(codeOf(await refunds.order(ours, asked({ to: { address, memo: null } }), by)), 'invalidRequest');
    assert.equal(
      codeOf(await refunds.order(ours, asked({ to: { address: customerWallet, memo: '7' } }), by)),
      'invalidRequest',
    );
    const lower = { address: customerWallet.toLowerCase(), memo: null };
    const ordered = await refunds.order(ours, asked({ to: lower, scope: part('1.00') }), by);
    assert.ok(!isRefusal(ordered));
    assert.equal(ordered.refunds[0]?.order.receiver, customerWallet);
    const closed = await world(short, { canReceive: { evm: async () => refuse('invalidRequest', 'it takes none') } });
    const refused = await closed.refunds.order(ours, asked(), by);
    assert.ok(isRefusal(refused));
    assert.deepEqual([refused.message, refused.pointer], ['it takes none', '/to']);
  });

  it('waits while the cost of sending it is unknown: nothing is guessed', async () => {
    const down = { payoutCostOf: () => Promise.reject(new Unavailable('Base is not served', 5)) };
    const { refunds, payment, typesIn } = await world(short, down);
    const refused = await refunds.order(ours, asked(), by);
    assert.ok(isRefusal(refused));
    assert.deepEqual([refused.refused, refused.retryAfter_s], ['unavailable', 5]);
    const [held] = await refunds.held(await payment());
    assert.equal(held?.networkFee, null);
    assert.ok(!(await typesIn(`payment-${paymentId}`)).includes('RefundRequested'));
  });
});

describe('a merchant’s order of refunds', () => {
  it('is refused if no key has signed a refund address', async () => {
    const { refunds, payment } = await world();
    assert.equal(codeOf(await refunds.order(ours, asked(byMerchant), by)), 'refundAddressUnproven');
    assert.deepEqual(
      (await refunds.held(await payment())).map(({ amount, proven }) => [amount, proven]),
      [[of('3.00'), 0n]],
    );
  });

  it('goes to the address that the payer has signed', async () => {
    const { refunds, payment } = await world([...short, refundAddressSet()]);
    const [held] = await refunds.held(await payment());
    assert.deepEqual([held?.proven, held?.networkFee], [of('3.00'), of('0.05')]);
    assert.equal(codeOf(await refunds.order(ours, asked(byMerchant), by)), 'ordered');
  });

  it('goes to a sender who has paid by credit with a signed message, not to one who has only earned', async () => {
    const { refunds, handle } = await world();
    const facts = { cause: 'worker:test', appId: null } as const;
    const earning = {
      account: customerWallet,
      paymentId: 'p',
      appId,
      chainId: 8453,
      basisPoints: 100,
      cents: 9n,
    } as const;
    await accepted(handle(credit, customerWallet, (state) => earn(state, earning, minute(70)), facts));
    assert.equal(codeOf(await refunds.order(ours, asked(byMerchant), by)), 'refundAddressUnproven');
    const spending = {
      account: customerWallet,
      appId,
      digest: '0'.repeat(64),
      orderId: null,
      cents: 5n,
      amountLocal: null,
      currencyLocal: null,
      about: null,
      signedAt: minute(80),
    };
    await accepted(handle(credit, customerWallet, (state) => spend(state, spending, 'key', minute(80)).events, facts));
    const ordered = await refunds.order(ours, asked(byMerchant), by);
    assert.ok(!isRefusal(ordered));
    const { order, request } = ordered.refunds[0] ?? assert.fail('nothing was ordered');
    assert.deepEqual([order.receiver, order.amount.toString()], [customerWallet, digits('2.95')]);
    assert.deepEqual(request.proof, { sender: customerWallet, by: 'credit' });
  });
});
