/** Reusable links on a log: created once, closed by their owner, and the payments that payers create from them. */
import assert from 'node:assert/strict';
import { eventCodec } from '../../commands/codec.ts';
import {
  type AppSettings,
  type CreatedPayment,
  type CreatePaymentDeps,
  createPayment,
  draftPayment,
} from '../../commands/createPayment.ts';
import { createHandle } from '../../commands/handle.ts';
import { createLinkDrafts, type LinkDraft } from '../../commands/linkDrafts.ts';
import {
  createManageLinks,
  createPayLink,
  type LinkRequest,
  type LinkVisit,
  openLinksMax,
} from '../../commands/links.ts';
import { type DepositScheme, derivedDeposits, Unavailable } from '../../commands/ports.ts';
import { type Chain, chains } from '../../domain/chains.ts';
import { isRefusal, type Refusal } from '../../domain/decider.ts';
import type { Link } from '../../domain/link.ts';
import { merchant } from '../../domain/merchant/state.ts';
import type { Payment } from '../../domain/payment/state.ts';
import { hour_ms } from '../../domain/time.ts';
import { createEvmDeposits } from '../../src/chains/evm/addresses.ts';
import { familyAddresses } from '../../src/chains/families.ts';
import { stellarDepositOf } from '../../src/chains/stellar/deposits/scheme.ts';
import { randomIds } from '../../src/process/system.ts';
import { createPreparedSeals } from '../../src/security/masterKey.ts';
import { stellarDeposits, stellarTreasury } from '../support/contractPayments.ts';
import { createWorld, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freePayouts } from '../support/payoutCosts.ts';

const appId = 'merchant_bakery';
const settlement = { chainId: 8453, tokenSymbol: 'USDC', receiverAddress: p.merchantWallet, receiverMemo: null };
const app = { appId, idSalt: 'ab'.repeat(32), webhookUrl: null, settlement };
const owner = { cause: 'developer:ann' } as const;
const payer = { cause: 'keyless' } as const;
const asked: LinkRequest = { type: 'exactOut', amount: '5.00', title: 'Tea', description: null, source: null };
const onBase = { chainId: '8453', tokenSymbol: 'USDC' };

describe('reusable links', () => {
  let world: World;
  let open: number;
  let creating: number;
  /** Addresses that were taken from the stock. */
  let assigned: number;
  /** Further chains that are served. */
  let also: readonly number[];
  /** Derives deposits on Solana; null on an instance that cannot. */
  let derivation: DepositScheme['derive'] | null;
  beforeEach(async () => {
    world = createWorld();
    open = 0;
    creating = 0;
    assigned = 0;
    also = [];
    derivation = null;
    const owned = [{ type: 'OwnerSet', data: { developerId: 'ann' } }] as const;
    await world.handle(merchant, appId, () => owned, { ...owner, appId });
  });

  const reading = { addresses: familyAddresses, offers: ({ id }: Chain) => [8453, 1, ...also].includes(id) };
  const links = () =>
    createManageLinks({
      ...reading,
      handle: world.handle,
      clock: world.clock,
      ids: randomIds,
      countOpen: async () => open,
    });
  const create = async (more: Partial<LinkRequest> = {}): Promise<Link> => {
    const made = await links().create(app, { ...asked, ...more }, owner);
    return isRefusal(made) ? assert.fail(made.message) : made.link;
  };
  const creatingWith = (): CreatePaymentDeps => ({
    ...reading,
    handle: world.handle,
    clock: world.clock,
    ids: randomIds,
    deposits: {
      evm: createEvmDeposits({ treasury: p.treasuryAccount }),
      solana: {
        intents: [],
        async assign() {
          assigned += 1;
          throw new Unavailable('the stock is empty');
        },
        ...(derivation && { derive: derivation }),
      },
      stellar: stellarDeposits(),
    },
    canReceive: {},
    feeOf: () => ({ fixed_microUsd: 10_000n, basisPoints: 0 }),
    payoutCostOf: freePayouts,
    checkRoute: () => undefined,
  });
  const pay = (link: Link, more: Partial<LinkVisit> = {}, at: AppSettings = app) =>
    createPayLink((request, settings, caller) => {
      creating += 1;
      return createPayment(creatingWith(), request, settings, caller);
    }, reading.offers)(at, link, { nonce: 'form-1', source: onBase, ...more }, payer);
  const takesAuthorizations = ({ id }: Chain) => [8453, 1500, ...(derivation ? [501] : [])].includes(id);
  const draftingWith = () => ({ ...creatingWith(), deposits: derivedDeposits(creatingWith().deposits) });
  const drafting = async (link: Link, { quote = null as string | null, at = app as AppSettings } = {}) => {
    const seals = createPreparedSeals(Buffer.alloc(32, 7));
    const drafts = createLinkDrafts({
      ...{ clock: world.clock, ids: randomIds, seals, offers: reading.offers, takesAuthorizations },
      draftPayment: (...asked) => draftPayment(draftingWith(), ...asked),
      createPayment: (...asked) => createPayment(draftingWith(), ...asked),
    });
    return drafts.draft(at, link, { order: null, amount: undefined, quote });
  };
  const draft = async (...asked: Parameters<typeof drafting>): Promise<LinkDraft> => {
    const drafted = await drafting(...asked);
    return isRefusal(drafted) ? assert.fail(drafted.message) : drafted;
  };
  const idOfAnother = async (link: Link) => (await draft(link)).payment.terms.paymentId;
  const elsewhere = { ...app, settlement: { ...settlement, receiverAddress: p.customerWallet } };
  const payment = (answer: CreatedPayment | Refusal) =>
    isRefusal(answer) ? assert.fail(answer.message) : answer.payment;
  const refused = (answer: object): readonly unknown[] =>
    isRefusal(answer) ? [answer.refused, answer.pointer ?? null] : ['none', answer];

  it('have unguessable ids: each a new one, and the same for a repeated request', async () => {
    const ids = await Promise.all([
      create(),
      create(),
      create({ idempotencyKey: 'k' }),
      create({ idempotencyKey: 'k' }),
    ]);
    assert.equal(new Set(ids.map(({ linkId }) => linkId)).size, 3);
    for (const { linkId } of ids) assert.match(linkId, /^[\w-]{36}$/);
    const other = await links().create({ ...app, idSalt: 'cd'.repeat(32) }, { ...asked, idempotencyKey: 'k' }, owner);
    assert.ok(!isRefusal(other) && other.link.linkId !== ids[2]?.linkId, 'another app has other ids');
  });

  it('are created and closed by their app’s owner alone, whatever a read model returned', async () => {
    const { linkId } = await create();
    const stranger = { cause: 'developer:bob' } as const;
    assert.deepEqual(refused(await links().create(app, asked, stranger)), ['forbidden', null]);
    assert.deepEqual(refused(await links().close(appId, linkId, stranger)), ['forbidden', null]);
    assert.deepEqual(refused(await links().close('merchant_other', linkId, payer)), ['notFound', null]);
    for (const none of ['', 'a'.repeat(36), 'a'.repeat(10_000), '../x', 'é'.repeat(36)])
      assert.deepEqual(refused(await links().close(appId, none, owner)), ['notFound', null]);
  });

  it('are refused with a pointer to the faulty field', async () => {
    const cases: readonly (readonly [Partial<LinkRequest>, string | null])[] = [
      [{ amount: 'ten' }, '/amount'],
      [{ amount: '0.0000001' }, '/amount'],
      [{ amount: '-1' }, '/amount'],
      [{ amount: '1e3' }, '/amount'],
      [{ amount: '9'.repeat(61) }, '/amount'],
      [{ amount: '5.00', minAmount: '1.00' }, '/minAmount'],
      [{ amount: undefined, minAmount: 'x' }, '/minAmount'],
      [{ amount: undefined, maxAmount: '20000' }, '/maxAmount'],
      [{ source: { chainId: '5', tokenSymbol: 'USDC' } }, '/source/chainId'],
      [{ source: { chainId: '501', tokenSymbol: 'USDC' } }, '/source/chainId'],
      [{ source: { chainId: '8453', tokenSymbol: 'USDT' } }, '/source/tokenSymbol'],
    ];
    for (const [more, pointer] of cases)
      assert.deepEqual(refused(await links().create(app, { ...asked, ...more }, owner)), ['invalidRequest', pointer]);
    assert.equal(refused(await links().create({ ...app, settlement: null }, asked, owner)).at(0), 'settlementMissing');
    assert.equal(refused(await links().create({ ...app, appId: 'wallet_pocket' }, asked, payer)).at(0), 'forbidden');
  });

  it('are bounded: beyond the maximum of open ones a new one is refused, and a known one is returned nevertheless', async () => {
    const known = await create({ idempotencyKey: 'k' });
    open = openLinksMax;
    assert.deepEqual(refused(await links().create(app, asked, owner)), ['conflict', null]);
    assert.deepEqual((await create({ idempotencyKey: 'k' })).linkId, known.linkId);
  });

  it('create a payment to the wallet in force, recorded as created by a stranger, with its origin', async () => {
    const link = await create({ title: 'Tea', description: 'Two pots' });
    const { terms } = payment(await pay(link));
    assert.partialDeepStrictEqual(terms, {
      appId,
      keyless: true,
      type: 'exactOut',
      display: { title: 'Tea', description: 'Two pots', currency: 'USD' },
      metadata: { linkId: link.linkId },
      source: { chainId: 8453, amount: '5010000' },
      destination: { amount: '5000000', receiverAddress: p.merchantWallet },
    });
    assert.match(terms.orderId ?? '', /^link-[0-9a-f]{20}$/);
    assert.equal(
      payment(await pay(link, { nonce: 'form-2' }, elsewhere)).terms.destination.receiverAddress,
      p.customerWallet,
    );
  });

  it('let the payer choose their amount, or the merchant’s amount, and the source', async () => {
    const link = await create({ type: 'exactIn', amount: undefined, minAmount: '1.00', maxAmount: '9.00' });
    const { source, destination } = payment(
      await pay(link, { amount: '3', source: { chainId: '1', tokenSymbol: 'USDT' } }),
    ).terms;
    assert.deepEqual(
      [source.chainId, source.token.symbol, source.amount, destination.amount],
      [1, 'USDT', '3000000', '2990000'],
    );
    for (const amount of [undefined, '0.99', '9.01', 'x', '-2'])
      assert.deepEqual(refused(await pay(link, { amount })), ['invalidRequest', '/amount']);
    assert.deepEqual(refused(await pay(link, { amount: '3', source: undefined })), ['invalidRequest', '/source']);
    assert.deepEqual(refused(await pay(link, { amount: '3', source: { chainId: '501', tokenSymbol: 'USDC' } })), [
      'invalidRequest',
      '/source/chainId',
    ]);
  });

  it('do not let the payer change fixed fields', async () => {
    const link = await create({ source: onBase });
    const { source, destination } = payment(
      await pay(link, { amount: '0.02', source: { chainId: '1', tokenSymbol: 'USDT' } }),
    ).terms;
    assert.deepEqual([source.chainId, destination.amount], [8453, '5000000']);
  });

  describe('for an app that lets its payers choose', () => {
    const choosing: AppSettings = {
      ...app,
      payFrom: [
        { chainId: 501, tokenSymbol: 'USDC' },
        { chainId: 1, tokenSymbol: 'USDT' },
        { chainId: 8453, tokenSymbol: 'USDC' },
      ],
    };
    const sources = ({ terms }: Payment) =>
      [terms.source, ...(terms.alternatives ?? [])].map(({ chainId, token }) => `${chainId} ${token.symbol}`);

    it('create payments that leave the choice to their page, of sources served here, whatever the form contains', async () => {
      const link = await create();
      for (const source of [undefined, onBase, { chainId: '1', tokenSymbol: 'USDC' }]) {
        const made = payment(await pay(link, { nonce: 'form-1', source }, choosing));
        assert.deepEqual(sources(made), ['1 USDT', '8453 USDC']);
      }
      assert.equal(
        (await world.store.read(`payment-${payment(await pay(link, {}, choosing)).terms.paymentId}`)).length,
        1,
      );
    });

    it('create payments from their own source alone if they have one', async () => {
      const made = payment(await pay(await create({ source: onBase }), {}, choosing));
      assert.deepEqual(sources(made), ['8453 USDC']);
    });

    it('let the payer choose if no source of the list is served here any more', async () => {
      const none: AppSettings = { ...app, payFrom: [{ chainId: 501, tokenSymbol: 'USDC' }] };
      const link = await create();
      assert.deepEqual(refused(await pay(link, { source: undefined }, none)), ['invalidRequest', '/source']);
      assert.deepEqual(sources(payment(await pay(link, {}, none))), ['8453 USDC']);
    });
  });

  it('create one payment per form, however often and however fast it is sent; another form creates another', async () => {
    const link = await create();
    const answers = await Promise.all(Array.from({ length: 20 }, () => pay(link)));
    const ids = new Set(answers.map((answer) => payment(answer).terms.paymentId));
    assert.deepEqual([ids.size, creating], [1, 20]);
    assert.equal(answers.filter((answer) => !isRefusal(answer) && answer.createdNow).length, 1);
    const others = [
      await pay(link, { nonce: 'form-2' }),
      await pay(link, { source: { chainId: '1', tokenSymbol: 'USDC' } }),
      await pay(await create()),
    ];
    assert.equal(new Set([...ids, ...others.map((answer) => payment(answer).terms.paymentId)]).size, 4);
  });

  it('are closed permanently: nothing can be created with them, and existing payments remain', async () => {
    const link = await create();
    const { terms } = payment(await pay(link));
    const closed = await links().close(appId, link.linkId, owner);
    assert.ok(!isRefusal(closed) && closed.link.closedAt !== null);
    assert.deepEqual(refused(await pay(closed.link, { nonce: 'form-2' })), ['conflict', null]);
    assert.deepEqual(refused(await pay(closed.link)), ['conflict', null]);
    assert.equal((await world.store.read(`payment-${terms.paymentId}`)).length, 1);
  });

  it('give a program the payment of money that moved before they were closed, and sell nothing more', async () => {
    const link = await create();
    const quoted = await draft(link);
    assert.equal(quoted.isFresh, true);
    const closed = await links().close(appId, link.linkId, owner);
    assert.ok(!isRefusal(closed));
    const late = await draft(closed.link, { quote: quoted.quote });
    assert.deepEqual([late.isFresh, late.exists], [false, false], 'only moved money is accepted');
    const made = await late.create(payer);
    assert.ok(!isRefusal(made));
    assert.equal(made.terms.paymentId, quoted.payment.terms.paymentId);
  });

  it('take no address of the stock for the terms of a program, whatever the link’s sources are', async () => {
    also = [p.solanaUsdc.chain.id];
    const solana = { chainId: p.solanaUsdc.chain.id, tokenSymbol: 'USDC' } as const;
    const at = { ...app, payFrom: [solana, { chainId: 8453, tokenSymbol: 'USDC' } as const] };
    const mixed = await draft(await create(), { at });
    assert.equal(mixed.payment.terms.source.chainId, 8453);
    assert.deepEqual(
      mixed.payment.terms.alternatives?.map(({ chainId }) => chainId),
      [solana.chainId],
    );
    const source = { ...solana, chainId: String(solana.chainId) };
    assert.deepEqual(refused(await drafting(await create({ source }), { at })), ['paymentNotUpdatable', null]);
    assert.equal(assigned, 0);
  });

  it('give a program on Solana the payment’s own deposit, which each draft and the payment derive alike', async () => {
    also = [p.solanaUsdc.chain.id];
    const derived = async (paymentId: string) => ({ ...p.terms().deposit, address: `deposit of ${paymentId}` });
    derivation = derived;
    const link = await create({ source: { chainId: '501', tokenSymbol: 'USDC' } });
    const [first, other] = [await draft(link), await draft(link)];
    const depositOf = ({ deposits }: Payment) => deposits.solana?.address;
    const { paymentId } = first.payment.terms;
    assert.equal(depositOf(first.payment), `deposit of ${paymentId}`);
    assert.notEqual(depositOf(other.payment), depositOf(first.payment));
    const again = await draft(link, { quote: first.quote });
    assert.equal(depositOf(again.payment), depositOf(first.payment));
    derivation = async () => {
      throw new Unavailable('the signer does not answer', 2);
    };
    assert.deepEqual(refused(await drafting(link)), ['unavailable', null]);
    assert.deepEqual(refused(await again.create(payer)), ['unavailable', null]);
    derivation = derived;
    const made = await Promise.all([again.create(payer), (await draft(link, { quote: first.quote })).create(payer)]);
    for (const each of made) {
      const created = isRefusal(each) ? assert.fail(each.message) : each;
      assert.deepEqual([created.terms.paymentId, depositOf(created)], [paymentId, depositOf(first.payment)]);
    }
    assert.equal(assigned, 0);
  });

  it('give a program on Stellar the treasury with the payment’s own memo, also beside a payin contract, and the payment has it too', async () => {
    also = [1500];
    const link = await create({ source: { chainId: '1500', tokenSymbol: 'USDC' } });
    const [first, other] = [await draft(link), await draft(link)];
    const { paymentId } = first.payment.terms;
    const own = stellarDepositOf({ treasury: stellarTreasury, payinContract: null }, paymentId, false);
    assert.deepEqual(first.payment.deposits.stellar, own);
    assert.notEqual(other.payment.deposits.stellar?.memo, own.memo);
    assert.equal((await world.store.read(`payment-${paymentId}`)).length, 0);
    const again = await draft(link, { quote: first.quote });
    assert.deepEqual(again.payment.deposits.stellar, own);
    const made = await Promise.all([again.create(payer), (await draft(link, { quote: first.quote })).create(payer)]);
    for (const each of made) {
      const created = isRefusal(each) ? assert.fail(each.message) : each;
      assert.deepEqual([created.terms.paymentId, created.deposits.stellar], [paymentId, own]);
    }
    assert.equal((await world.store.read(`payment-${paymentId}`)).length, 1);
  });

  it('refuse a quote that is altered, of another link, older than a day, or of terms that have changed, and name the quote', async () => {
    also = [1500];
    const source = { chainId: '1500', tokenSymbol: 'USDC' };
    const link = await create({ source });
    const { quote, payment: quoted } = await draft(link);
    const [words = '', seal = ''] = quote.split('|');
    const dearer = `${words.replace(quoted.terms.paymentId, await idOfAnother(link))}|${seal}`;
    const refusals = [
      drafting(link, { quote: dearer }),
      drafting(link, { quote: `${words}|${seal.slice(0, -2)}aa` }),
      drafting(link, { quote: words }),
      drafting(await create({ source }), { quote }),
      drafting(link, { quote, at: elsewhere }),
    ];
    for (const answer of await Promise.all(refusals)) assert.deepEqual(refused(answer), ['invalidRequest', '/quote']);
    world.clock.advance(24 * hour_ms - 1_000);
    assert.equal((await draft(link, { quote })).isFresh, false, 'only moved money is accepted');
    world.clock.advance(2_000);
    assert.deepEqual(refused(await drafting(link, { quote })), ['invalidRequest', '/quote']);
  });

  it('survive a crash at the append: sent again, the form finds the payment or creates it', async () => {
    const link = await create();
    for (const lost of ['beforeAppend', 'afterAppend']) {
      const crash = (point: string) => {
        if (point === `PaymentCreated.${lost}`) throw new Error('crash');
      };
      const whole = world;
      const { store, clock } = whole;
      world = { ...whole, handle: createHandle({ store, clock, ids: randomIds, codec: eventCodec, crash }) };
      await assert.rejects(pay(link, { nonce: lost }), /crash/);
      world = whole;
      const answer = await pay(link, { nonce: lost });
      assert.equal(!isRefusal(answer) && answer.createdNow, lost === 'beforeAppend');
    }
  });

  it('accept any token that the installation knows', () => {
    for (const { tokens } of chains) for (const { decimals } of tokens) assert.ok(decimals >= 6);
  });
});
