/** Two payments that one transaction pays, and the chains' data about it. */
import type { DomainEvent } from '../../../domain/decider.ts';
import {
  attempt,
  baseUsdc,
  confirmed,
  created,
  customerWallet,
  depositAddress,
  digits,
  ethereumUsdc,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  settled,
  signed,
  treasuryAccount,
} from '../../support/payments.ts';
import { block, type Ground, type Said, type Shown } from './world.ts';

export const thief = '0x1111111111111111111111111111111111111111';
export const contract = '0x2222222222222222222222222222222222222222';
export const payments = [
  'payment-0198f3c2-0000-8000-8000-000000000001',
  'payment-0198f3c2-0000-8000-8000-00000000000b',
];
export const [paymentA = '', paymentB = ''] = payments;
export const batchId = `1-${treasuryAccount}-1`;
export const stream = `payoutBatch-${batchId}`;
export const token = ethereumUsdc.token;
export const cost = { payer: treasuryAccount, fee: '21000' };
export const both = attempt(1, { nonce: '30' });
export const alone = attempt(2, { nonce: '31' });

export const on = (of: string, ...events: readonly DomainEvent[]): Said[] =>
  events.map((event) => ({ stream: of, event }));
export const withCost = (event: DomainEvent): DomainEvent => ({ ...event, data: { ...event.data, cost } });
export const member = (of: string, amount = '10.00') => ({
  paymentId: of.slice('payment-'.length),
  appId: 'wallet_demo',
  receiver: merchantWallet,
  amount: digits(amount),
});
export type Member = ReturnType<typeof member>;
export const asked = payments.map((of) => member(of));
/** A member whose payment does not exist. */
export const late = member('payment-0198f3c2-0000-8000-8000-00000000000c');

export const everyOne = (members: readonly Member[]) => members.map((_, at) => at + 1);
export const batchOf = (members: readonly Member[], total: string, joined = everyOne(members)): readonly Said[] =>
  on(
    stream,
    {
      type: 'BatchOpened',
      data: { chainId: 1, account: treasuryAccount, token, contract, members, openedAt: minute(1) },
    },
    { type: 'BatchGathered', data: { joined, gatheredAt: minute(1) } },
    { type: 'BatchSigned', data: { ...both, receiver: contract, amount: digits(total), signedAt: minute(2) } },
    withCost({
      type: 'BatchConfirmed',
      data: {
        attempt: 1,
        hash: both.hash,
        blockNumber: '200',
        blockHash: hashOf('block', 200),
        confirmedAt: minute(9),
      },
    }),
  );

export const batched = (position: number): DomainEvent => ({
  type: 'PayoutBatched',
  data: { batch: batchId, position, batchedAt: minute(1) },
});
export const inBatch = [signed(both), withCost(settled(both))];

/** @param paid events of its own stream about its payout */
export const paymentOf = (of: string, at: number, paid: readonly DomainEvent[] = [batched(at), ...inBatch]) => {
  const came = payin({ tx: of, block: 100 + at });
  const { data } = created();
  const own = { type: 'PaymentCreated', data: { ...data, paymentId: of.slice('payment-'.length) } };
  return on(of, own, confirmed(came), funded([came]), payoutRequested(), ...paid);
};

export const opened: readonly Said[] = on(`books-1-${treasuryAccount}`, {
  type: 'BooksOpened',
  data: {
    chainId: 1,
    account: treasuryAccount,
    blockNumber: '10',
    blockHash: hashOf('block', 10),
    balances: { [token.address]: digits('1000.00'), coin: '1000000' },
    openedAt: minute(0),
  },
});
export const theirs = [...paymentOf(paymentA, 1), ...paymentOf(paymentB, 2)];
export const honest = [...opened, ...batchOf(asked, '20.00'), ...theirs];

export type Paid = readonly [receiver: string, amount: string];
export const transaction = (txHash: string, number: number, paid: readonly Paid[]): Shown => ({
  account: treasuryAccount,
  txHash,
  ...block(number),
  outgoing: true,
  succeeded: true,
  nonce: null,
  fee: BigInt(cost.fee),
  changes: paid.map(([counterparty, amount]) => ({
    asset: token.address,
    amount: -BigInt(digits(amount)),
    counterparty,
  })),
});
export const deposits: readonly Shown[] = payments.map((of, n) => ({
  ...transaction(payin({ tx: of }).txHash, 101 + n, []),
  account: depositAddress,
  outgoing: false,
  fee: 0n,
  changes: [{ asset: baseUsdc.token.address, amount: BigInt(digits('10.01')), counterparty: customerWallet }],
}));

export const twice: readonly Paid[] = [
  [merchantWallet, '10.00'],
  [merchantWallet, '10.00'],
];

/** An account whose balance is the sum of its transactions' changes. */
export function grounds(...transactions: readonly Shown[]): readonly Ground[] {
  const left = transactions.flatMap(({ changes }) => changes).reduce((sum, { amount }) => sum + amount, 0n);
  const gas = BigInt(cost.fee) * BigInt(transactions.length);
  const holds = { [token.address]: BigInt(digits('1000.00')) + left, coin: 1_000_000n - gas };
  return [
    { chainId: 1, transactions, holds },
    { chainId: 8453, transactions: deposits, holds: {} },
  ];
}
