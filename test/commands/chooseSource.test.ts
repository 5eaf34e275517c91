/** The creation of a payment fixes its possible sources. The choice of a source takes an address from the stock. */
import assert from 'node:assert/strict';
import { chooseSource } from '../../commands/chooseSource.ts';
import type { NewPayment } from '../../commands/createPayment.ts';
import { type DepositScheme, Unavailable } from '../../commands/ports.ts';
import { registerPayin } from '../../commands/recordPayin.ts';
import { isRefusal } from '../../domain/decider.ts';
import type { Deposit } from '../../domain/payment/events.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { canonicalTxHash, familyAddresses } from '../../src/chains/families.ts';
import { minute } from '../support/payments.ts';
import { accepted, Crashed, crashAt } from '../support/processes.ts';
import { order, refusal, sale, merchant as shop, wallet, world as worldOf } from './creating.ts';

const solana = { chainId: 501, tokenSymbol: 'USDC' } as const;
const polygon = { chainId: 137, tokenSymbol: 'USDC' } as const;
const bnb = { chainId: 56, tokenSymbol: 'USDT' } as const;

/** Returns one address after the other, and counts them. */
function stock(): DepositScheme & { taken(): number } {
  let taken = 0;
  return {
    intents: [],
    taken: () => taken,
    async assign() {
      taken += 1;
      const own = { address: `owner-${taken}`, salt: `salt-${taken}` };
      return { scheme: 'test-1', ...own, memo: null, contract: null, contractMemo: null };
    },
  };
}

function world(owners: DepositScheme = stock()) {
  const made = worldOf({ offers: () => true });
  const deposits = { ...made.deposits, solana: owners };
  const create = (request: NewPayment, app = wallet) => made.create(request, app, { deposits });
  const choose = (
    payment: Payment,
    source: { chainId: number; tokenSymbol: string },
    more: object = {},
    derived?: Deposit,
  ) =>
    chooseSource(
      { handle: made.start(), clock: made.clock, deposits, offers: () => true, ...more },
      payment.terms.paymentId,
      source,
      { cause: 'payer' },
      derived,
    );
  return { ...made, deposits, create, choose };
}

const sourcesOf = ({ sources }: Payment) =>
  sources.map(({ chainId, token, amount }) => [chainId, token.symbol, amount]);

describe('the sources that payers may choose', () => {
  it('are those of the request, each once and besides the payment’s own source', async () => {
    const { create } = world();
    const payFrom = [polygon, { chainId: '8453', tokenSymbol: 'usdc' }, solana, { ...polygon, chainId: '137' }];
    const { payment } = await accepted(create(order({ payFrom })));
    assert.deepEqual(sourcesOf(payment), [
      [8453, 'USDC', '10010000'],
      [137, 'USDC', '10010000'],
      [501, 'USDC', '10010000'],
    ]);
  });

  it('are otherwise those of the app’s settings, without unserved ones and those that cannot express the amount', async () => {
    const { create } = world();
    const app = { ...shop, payFrom: [bnb, solana, { chainId: 1500, tokenSymbol: 'USDC' } as const] };
    const sold = await accepted(create(sale(), app));
    assert.deepEqual(sourcesOf(sold.payment), [
      [8453, 'USDC', '10000000'],
      [56, 'USDT', '10000000000000000000'],
      [501, 'USDC', '10000000'],
    ]);
    const none = await accepted(create(sale({ orderId: 'order-2', payFrom: [] }), app));
    assert.equal(none.payment.sources.length, 1);
  });

  it('are refused with the faulty entry', async () => {
    const { deposits } = world();
    const over = { deposits, offers: ({ id }: { id: number }) => id !== 42161 };
    for (const [entry, pointer] of [
      [{ chainId: 7, tokenSymbol: 'USDC' }, '/payFrom/1/chainId'],
      [{ chainId: 42161, tokenSymbol: 'USDC' }, '/payFrom/1/chainId'],
      [{ chainId: 1500, tokenSymbol: 'USDC' }, '/payFrom/1/chainId'],
      [{ chainId: 501, tokenSymbol: 'USDT' }, '/payFrom/1/tokenSymbol'],
      [{ ...polygon, tokenAddress: '0x0' }, '/payFrom/1/tokenAddress'],
    ] as const)
      assert.equal(await refusal(order({ payFrom: [polygon, entry] }), wallet, over), `invalidRequest ${pointer}`);
    const onBnb = { chainId: 56, tokenSymbol: 'USDC' } as const;
    const fine = order({
      source: onBnb,
      destination: { ...order().destination, ...onBnb, amount: '1.0000000001' },
      payFrom: [polygon],
    });
    assert.equal(await refusal(fine, wallet, over), 'invalidRequest /payFrom/0');
  });

  it('are part of an order’s terms if no key created it', async () => {
    const { createKeyless } = worldOf({ offers: () => true });
    const first = await accepted(createKeyless(order({ payFrom: [polygon] })));
    const again = await accepted(createKeyless(order({ payFrom: [polygon] })));
    assert.deepEqual([again.createdNow, again.payment.terms.paymentId], [false, first.payment.terms.paymentId]);
    for (const payFrom of [[bnb], [], null]) {
      const other = await accepted(createKeyless(order({ payFrom })));
      assert.equal(other.createdNow, true);
    }
  });
});

describe('the choice of a source', () => {
  const given = async (owners?: DepositScheme) => {
    const made = world(owners);
    const { payment } = await accepted(made.create(order({ payFrom: [polygon, solana] })));
    return { ...made, payment, stream: `payment-${payment.terms.paymentId}` };
  };

  it('discloses the deposit that was derived for the payer, and takes no address; an address that was disclosed before remains', async () => {
    const owners = stock();
    const { choose, payment } = await given(owners);
    const derived = { ...payment.terms.deposit, address: 'derived' };
    const chosen = await accepted(choose(payment, solana, {}, derived));
    assert.deepEqual([chosen.deposits.solana?.address, owners.taken()], ['derived', 0]);
    const again = await accepted(choose(payment, solana, {}, { ...derived, address: 'other' }));
    assert.equal(again.deposits.solana?.address, 'derived');
  });

  it('takes an address for the first choice of a family, and no other after it', async () => {
    const owners = stock();
    const { choose, payment, store, stream } = await given(owners);
    const chosen = await accepted(choose(payment, solana));
    assert.deepEqual([chosen.terms.source.chainId, chosen.terms.deposit.address], [501, 'owner-1']);
    await accepted(choose(payment, polygon));
    const again = await accepted(choose(payment, solana));
    assert.equal(again.terms.deposit.address, 'owner-1');
    assert.equal(owners.taken(), 1);
    const [, event] = await store.read(stream);
    assert.deepEqual([event?.type, event?.metadata.cause], ['SourceChosen', 'payer']);
  });

  it('gives all who choose at once the same address', async () => {
    const { choose, payment, typesIn, stream } = await given();
    const all = await Promise.all(Array.from({ length: 5 }, () => accepted(choose(payment, solana))));
    assert.equal(new Set(all.map(({ terms }) => terms.deposit.address)).size, 1);
    assert.deepEqual(await typesIn(stream), ['PaymentCreated', 'SourceChosen']);
  });

  it('loses nothing when it crashes with an address in hand: the next choice takes another', async () => {
    const owners = stock();
    const { choose, payment, typesIn, stream } = await given(owners);
    await assert.rejects(choose(payment, solana, { crash: crashAt('choice.afterDeposit') }), Crashed);
    assert.deepEqual(await typesIn(stream), ['PaymentCreated']);
    const chosen = await accepted(choose(payment, solana));
    assert.equal(chosen.terms.deposit.address, 'owner-2');
  });

  it('states that no address is ready, or that the chain is no longer served', async () => {
    const empty = { intents: [], assign: () => Promise.reject(new Unavailable('none')) };
    const { choose, payment, typesIn, stream } = await given(empty);
    for (const more of [{}, { offers: () => false }]) {
      const answer = await choose(payment, solana, more);
      assert.equal(isRefusal(answer) && answer.refused, 'unavailable');
    }
    assert.deepEqual(await typesIn(stream), ['PaymentCreated']);
  });

  it('takes no address for a refusal: another source, a payment that is over, or an unknown one', async () => {
    const owners = stock();
    const { choose, payment, time } = await given(owners);
    const code = async (answer: ReturnType<typeof choose>) => {
      const refused = await answer;
      return isRefusal(refused) && refused.refused;
    };
    assert.equal(await code(choose(payment, bnb)), 'invalidRequest');
    assert.equal(await code(choose(payment, { chainId: Number.NaN, tokenSymbol: '' })), 'invalidRequest');
    time.now = minute(61);
    assert.equal(await code(choose(payment, solana)), 'paymentNotUpdatable');
    assert.equal(owners.taken(), 0);
  });

  it('lets a payin be registered by a transaction of the chosen chain', async () => {
    const { choose, payment, start, clock } = await given();
    await accepted(choose(payment, solana));
    const looked: unknown[] = [];
    const deps = { handle: start(), clock, addresses: familyAddresses, canonicalTxHash };
    const lookUp = ({ terms }: Payment, txHash: string) => void looked.push([terms.source.chainId, txHash]);
    const signature = '5'.repeat(87);
    const hint = { txHash: signature, fromAddress: '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU' };
    const registered = await registerPayin({ ...deps, lookUp }, payment.terms, hint, { cause: 'key:k1' });
    if (!isRefusal(registered)) assert.deepEqual(looked, [[501, signature]]);
    const evm = { txHash: `0x${'ab'.repeat(32)}`, fromAddress: hint.fromAddress };
    const refused = await registerPayin({ ...deps, lookUp }, payment.terms, evm, { cause: 'key:k1' });
    assert.ok(isRefusal(refused) && refused.pointer === '/txHash');
  });
});
