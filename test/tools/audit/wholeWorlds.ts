/**
 * Honest worlds of one chain each, with all movements of money there: payins, payouts alone and in one transaction, a
 * refund, a withdrawal of the treasury and one of cashback, and sweeps or shared addresses.
 */
import { cashback, receive, type Withdrawal, withdraw } from '../../../domain/cashback.ts';
import { credit, earn, spend } from '../../../domain/credit.ts';
import { type DomainEvent, fold } from '../../../domain/decider.ts';
import { earningsOf, payOutCashback } from '../../../domain/payment/cashback.ts';
import type { PaymentEvent, Transfer } from '../../../domain/payment/events.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import {
  type Asset,
  attempt,
  bnbUsdc,
  confirmed,
  created,
  customerWallet,
  depositAddress,
  digits,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  settled,
  signed,
  solanaUsdc,
  stellarUsdc,
  terms,
  treasuryAccount,
} from '../../support/payments.ts';
import { at, books, gas, on, vault } from './honest.ts';
import { block, type Ground, type Said, type Shown } from './world.ts';

export interface Town {
  readonly said: readonly Said[];
  readonly grounds: readonly Ground[];
}

type Change = Shown['changes'][number];
type Json = Readonly<Record<string, unknown>>;

const appId = 'wallet_demo';
const idOf = (letter: string) => `0198f3c2-0000-8000-8000-0000000000${letter}`;
const [alone, overpaid, first, second, withdrawn] = ['a1', 'a2', 'a3', 'a4', 'f1'].map(idOf) as [
  string,
  string,
  string,
  string,
  string,
];
const contract = '0x3333333333333333333333333333333333333333';
const rent = 2_039_280n;

/** The whole world of a chain. */
export function worldOn(asset: Asset): Town {
  const { id: chainId, family } = asset.chain;
  const [shares, pays] = [family === 'stellar', family === 'solana'];
  const token = asset.token.address;
  const units = (amount: string) =>
    BigInt(digits(amount.replace('-', ''), asset)) * (amount.startsWith('-') ? -1n : 1n);
  const cost = { payer: treasuryAccount, fee: gas.toString() };
  const withCost = (event: DomainEvent, more: object = {}): DomainEvent => ({
    ...event,
    data: { ...event.data, cost: { ...cost, ...more } },
  });
  const opened = pays ? { rent: rent.toString() } : {};
  const shown: Shown[] = [];
  const said: Said[] = [];
  let nonce = 10;
  const next = () => (pays ? null : String(nonce++));

  /** @param number of the block */
  const show = (account: string, txHash: string, number: number, changes: readonly Change[], isOwn = false) =>
    shown.push({
      ...{ account, txHash, ...block(number), nonce: null, outgoing: isOwn, succeeded: true },
      ...{ fee: isOwn ? gas : 0n, changes },
    });
  const change = (amount: bigint, counterparty: string, memo?: string): Change => ({
    ...{ asset: token, amount, counterparty },
    ...(memo !== undefined && { memo }),
  });
  const rentTo = (accounts: bigint): readonly Change[] =>
    pays ? [{ asset: 'coin', amount: -rent * accounts, counterparty: 'an account of a token' }] : [];

  const memoOf = (paymentId: string): string | null =>
    shares ? String(Number.parseInt(paymentId.slice(-2), 16)) : null;

  function cameTo(paymentId: string, amount: string, number: number): Transfer {
    const transfer = payin({ in: asset, tx: paymentId, amount, block: number });
    const memo = memoOf(paymentId);
    const to = shares ? treasuryAccount : depositAddress;
    // Hashes on Stellar have no prefix.
    const own = { ...transfer, to, ...(shares && { txHash: transfer.txHash.slice(2), memo: memo ?? undefined }) };
    show(to, own.txHash, number, [change(units(amount), customerWallet, memo ?? undefined)]);
    return own as Transfer;
  }

  function createdAs(paymentId: string, more: object = {}): DomainEvent {
    const { data } = created({ from: asset, to: asset });
    const { deposit } = data as never as { deposit: Json };
    const address = shares ? treasuryAccount : depositAddress;
    return {
      type: 'PaymentCreated',
      data: {
        ...data,
        paymentId,
        webhookUrl: null,
        deposit: { ...deposit, address, memo: memoOf(paymentId) },
        ...more,
      },
    };
  }
  const fund = (transfer: Transfer, amounts: object = {}) =>
    funded([transfer], { source: asset, destination: asset, ...amounts });

  /** A payout with a separate transaction. */
  function paidOut(number: number, amount = '10.00', n = 1): readonly DomainEvent[] {
    const signing = attempt(n, { to: asset, nonce: next(), amount });
    const own = { ...signing, hash: hashOf('paid', chainId, number) };
    show(treasuryAccount, own.hash, number, [change(-units(amount), merchantWallet), ...rentTo(1n)], true);
    return [payoutRequested(amount, asset), signed(own), withCost(settled(own, number), opened)];
  }

  said.push(...books(chainId, { [token]: units('1000.00').toString(), coin: '10000000000' }));
  said.push(
    ...on('addressBook-treasury', {
      type: 'AddressAdded',
      data: {
        chainId,
        address: vault,
        memo: null,
        by: 'ada',
        label: 'vault',
        usableFrom: minute(0),
        addedAt: minute(0),
      },
    }),
  );

  const plain = cameTo(alone, '10.01', 100);
  const ownEvents = [createdAs(alone, { cashback_basisPoints: 500 }), confirmed(plain), fund(plain), ...paidOut(200)];
  said.push(...on(`payment-${alone}`, ...ownEvents));

  const much = cameTo(overpaid, '12.01', 110);
  const back = { ...refundAttempt(1, '2.00', { to: asset, nonce: next() }), hash: hashOf('back', chainId) };
  said.push(
    ...on(
      `payment-${overpaid}`,
      createdAs(overpaid),
      confirmed(much),
      fund(much, { received: '12.01', excess: '2.00', rule: 'overpaid' }),
      ...paidOut(210),
      refundRequested('2.00', { reason: 'excess', in: asset }),
      refundSigned(1, back),
      withCost(refundSettled(1, back), opened),
    ),
  );
  show(treasuryAccount, back.hash, 200, [change(-units('2.00'), customerWallet), ...rentTo(1n)], true);

  said.push(...operation('w1', 'withdrawal', vault, '50.00', 220));
  if (!shares) {
    const [amount, deposits] = ['42.04', [{ address: depositAddress, salt: '0x01' }]];
    said.push(...operation('s1', 'sweep', treasuryAccount, amount, 300, { form: { kind: 'flush', deposits } }));
  }
  said.push(...together());
  said.push(...ofCashback(ownEvents as readonly PaymentEvent[]));
  if (shares) said.push(...unmatchedMoney());

  function operation(name: string, kind: string, receiver: string, amount: string, number: number, more: object = {}) {
    const isSweep = kind === 'sweep';
    const own = { ...attempt(1, { to: asset, nonce: next(), amount, receiver }), hash: hashOf(name, chainId) };
    const landing = {
      ...{ attempt: 1, hash: own.hash, blockNumber: String(number), blockHash: hashOf('block', number) },
      confirmedAt: minute(9),
    };
    const brought = change(units(amount), depositAddress);
    if (isSweep) {
      show(depositAddress, own.hash, number, [change(-units(amount), treasuryAccount)]);
      const closed = pays ? [{ asset: 'coin', amount: rent, counterparty: depositAddress }] : [];
      show(treasuryAccount, own.hash, number, [brought, ...closed], true);
    } else show(treasuryAccount, own.hash, number, [change(-units(amount), receiver), ...rentTo(1n)], true);
    const rented = isSweep && pays ? { rent: (-rent).toString() } : opened;
    return on(
      `operation-${name}`,
      {
        type: 'OperationOrdered',
        data: {
          ...{ kind, chainId, account: treasuryAccount, token: asset.token, receiver, receiverMemo: null },
          ...{ amount: own.amount, value_microUsd: isSweep ? '0' : '50000000', approvals: 0, reason: kind },
          ...{ by: isSweep ? 'worker:sweeps' : 'ada', orderedAt: minute(1), ...more },
        },
      },
      { type: 'OperationSigned', data: { ...own, signedAt: minute(8) } },
      withCost({ type: 'OperationConfirmed', data: landing }, rented),
    );
  }

  /** Two payments that one transaction pays. */
  function together(): readonly Said[] {
    const stream = `${chainId}-${treasuryAccount}-1`;
    const both = { ...attempt(1, { to: asset, nonce: next() }), hash: hashOf('both', chainId) };
    const members = [first, second].map((paymentId) => ({
      ...{ paymentId, appId, receiver: merchantWallet, amount: units('10.00').toString() },
    }));
    show(
      treasuryAccount,
      both.hash,
      230,
      [change(-units('10.00'), merchantWallet), change(-units('10.00'), merchantWallet), ...rentTo(2n)],
      true,
    );
    const rented = pays ? { rent: (2n * rent).toString() } : {};
    const landing = { ...{ attempt: 1, hash: both.hash, blockNumber: '230', blockHash: hashOf('block', 230) } };
    return [
      ...on(
        `payoutBatch-${stream}`,
        {
          type: 'BatchOpened',
          data: { chainId, account: treasuryAccount, token: asset.token, contract, members, openedAt: minute(1) },
        },
        { type: 'BatchGathered', data: { joined: [1, 2], gatheredAt: minute(1) } },
        {
          type: 'BatchSigned',
          data: { ...both, receiver: contract, amount: units('20.00').toString(), signedAt: minute(2) },
        },
        withCost({ type: 'BatchConfirmed', data: { ...landing, confirmedAt: minute(9) } }, rented),
      ),
      ...[first, second].flatMap((paymentId, n) => {
        const came = cameTo(paymentId, '10.01', 120 + n);
        return on(
          `payment-${paymentId}`,
          createdAs(paymentId),
          confirmed(came),
          fund(came),
          payoutRequested('10.00', asset),
          { type: 'PayoutBatched', data: { batch: stream, position: n + 1, batchedAt: minute(1) } },
          signed(both),
          withCost(settled(both, 230), rented),
        );
      }),
    ];
  }

  /** Credit that the first payment earned its payer, who spends a part; the merchant withdraws it. */
  function ofCashback(events: readonly PaymentEvent[]): readonly Said[] {
    const payment = fold(paymentDecider, events);
    const [earning] = payment ? earningsOf(payment) : [];
    if (!earning) throw new Error('the payment promises credit');
    const digest = hashOf('message').slice(2);
    const order = {
      ...{ account: customerWallet, appId, digest, orderId: null, cents: 30n, amountLocal: null },
      ...{ currencyLocal: null, about: null, signedAt: at },
    };
    const held = { ...credit.initial, balance_cents: earning.cents, earnedOn: [chainId] };
    const spending = { ordinal: 1, account: customerWallet, digest, orderId: null, cents: 30n };
    const received = receive(cashback.initial, spending, at) as readonly (DomainEvent & {
      readonly data: { readonly after: typeof cashback.initial };
    })[];
    const asked: Withdrawal = {
      ...{ paymentId: withdrawn, cents: '30', chainId, token: asset.token },
      ...{ receiverAddress: merchantWallet, receiverMemo: null },
      fee: { fixed: units('0.01').toString(), basisPoints: 0 },
    };
    const after = received[0]?.data.after ?? cashback.initial;
    const paying = payOutCashback(null, {
      ...terms({ type: 'exactIn', amount: '0.30', from: asset, to: asset }),
      paymentId: withdrawn,
    }) as readonly DomainEvent[];
    return [
      ...on(
        `credit-${customerWallet}`,
        ...(earn(credit.initial, earning, at) as readonly DomainEvent[]),
        ...(spend(held, order, 'key', at).events as readonly DomainEvent[]),
      ),
      ...on(
        `cashback-${appId}`,
        ...received,
        ...(withdraw(after, asked, { seen: after, now: at }) as readonly DomainEvent[]),
      ),
      ...on(`payment-${withdrawn}`, ...paying, ...paidOut(240, '0.29')),
    ];
  }

  /** Refunded money with the memo of no payment. */
  function unmatchedMoney(): readonly Said[] {
    const transfer = { ...cameTo(idOf('ee'), '3.00', 130) };
    const returned = { ...refundAttempt(1, '3.00', { to: asset, nonce: next() }), hash: hashOf('returned', chainId) };
    show(treasuryAccount, returned.hash, 200, [change(-units('3.00'), customerWallet)], true);
    return on(
      `unmatched-${chainId}:${transfer.txHash}:0`,
      { type: 'UnmatchedPayinSeen', data: { transfer, seenAt: minute(2) } },
      {
        type: 'UnmatchedPayinRefundRequested',
        data: {
          ...{ receiverAddress: customerWallet, receiverMemo: null, reason: 'asked', networkFee: '0' },
          requestedAt: minute(4),
        },
      },
      { type: 'UnmatchedRefundSigned', data: returned },
      withCost({
        type: 'UnmatchedRefundConfirmed',
        data: {
          ...{ attempt: 1, hash: returned.hash, blockNumber: '200', blockHash: hashOf('block', 200) },
          confirmedAt: minute(9),
        },
      }),
    );
  }

  const own = shown.filter(({ account }) => account === treasuryAccount);
  const sum = (of: string) =>
    own.flatMap(({ changes }) => changes).reduce((all, each) => (each.asset === of ? all + each.amount : all), 0n);
  const fees = own.reduce((all, { fee }) => all + fee, 0n);
  const holds = { [token]: units('1000.00') + sum(token), coin: 10_000_000_000n + sum('coin') - fees };
  return { said, grounds: [{ chainId, transactions: shown, holds }] };
}

export const wholeWorlds = { EVM: worldOn(bnbUsdc), Solana: worldOn(solanaUsdc), Stellar: worldOn(stellarUsdc) };
