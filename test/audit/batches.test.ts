/** Frauds with payouts that share one transaction: each is found, and whose stream it is. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../domain/decider.ts';
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
} from '../support/payments.ts';
import { audit, block, type Ground, type Said, type Shown, told, written } from './world.ts';

const thief = '0x1111111111111111111111111111111111111111';
const contract = '0x2222222222222222222222222222222222222222';
const payments = ['payment-0198f3c2-0000-8000-8000-000000000001', 'payment-0198f3c2-0000-8000-8000-00000000000b'];
const [paymentA = '', paymentB = ''] = payments;
const batchId = `1-${treasuryAccount}-1`;
const stream = `payoutBatch-${batchId}`;
const token = ethereumUsdc.token;
const cost = { payer: treasuryAccount, fee: '21000' };
const both = attempt(1, { nonce: '30' });
const alone = attempt(2, { nonce: '31' });

const on = (of: string, ...events: readonly DomainEvent[]): Said[] => events.map((event) => ({ stream: of, event }));
const withCost = (event: DomainEvent): DomainEvent => ({ ...event, data: { ...event.data, cost } });
const member = (of: string, amount = '10.00') => ({
  paymentId: of.slice('payment-'.length),
  appId: 'wallet_demo',
  receiver: merchantWallet,
  amount: digits(amount),
});
type Member = ReturnType<typeof member>;
const asked = payments.map((of) => member(of));
/** Of whose payment nothing is there. */
const late = member('payment-0198f3c2-0000-8000-8000-00000000000c');

const everyOne = (members: readonly Member[]) => members.map((_, at) => at + 1);
const batchOf = (members: readonly Member[], total: string, joined = everyOne(members)): readonly Said[] =>
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

const batched = (position: number): DomainEvent => ({
  type: 'PayoutBatched',
  data: { batch: batchId, position, batchedAt: minute(1) },
});
const inBatch = [signed(both), withCost(settled(both))];

/** @param paid what its own stream tells of how it was paid */
const paymentOf = (of: string, at: number, paid: readonly DomainEvent[] = [batched(at), ...inBatch]) => {
  const came = payin({ tx: of, block: 100 + at });
  const { data } = created();
  const own = { type: 'PaymentCreated', data: { ...data, paymentId: of.slice('payment-'.length) } };
  return on(of, own, confirmed(came), funded([came]), payoutRequested(), ...paid);
};

const opened: readonly Said[] = on(`books-1-${treasuryAccount}`, {
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
const theirs = [...paymentOf(paymentA, 1), ...paymentOf(paymentB, 2)];
const honest = [...opened, ...batchOf(asked, '20.00'), ...theirs];

type Paid = readonly [receiver: string, amount: string];
const transaction = (txHash: string, number: number, paid: readonly Paid[]): Shown => ({
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
const deposits: readonly Shown[] = payments.map((of, n) => ({
  ...transaction(payin({ tx: of }).txHash, 101 + n, []),
  account: depositAddress,
  outgoing: false,
  fee: 0n,
  changes: [{ asset: baseUsdc.token.address, amount: BigInt(digits('10.01')), counterparty: customerWallet }],
}));

const twice: readonly Paid[] = [
  [merchantWallet, '10.00'],
  [merchantWallet, '10.00'],
];

/** An account that holds what its transactions leave of what it had. */
function grounds(...transactions: readonly Shown[]): readonly Ground[] {
  const left = transactions.flatMap(({ changes }) => changes).reduce((sum, { amount }) => sum + amount, 0n);
  const gas = BigInt(cost.fee) * BigInt(transactions.length);
  const holds = { [token.address]: BigInt(digits('1000.00')) + left, coin: 1_000_000n - gas };
  return [
    { chainId: 1, transactions, holds },
    { chainId: 8453, transactions: deposits, holds: {} },
  ];
}
const tell = async (said: readonly Said[], ...transactions: readonly Shown[]): Promise<readonly string[]> =>
  told(await audit({ log: written(said), grounds: grounds(...transactions) }));

describe('the audit, of payouts that share one transaction', () => {
  const paidOnce = transaction(both.hash, 200, twice);

  it('finds nothing where each receiver got his part', async () => {
    assert.deepEqual(await tell(honest, paidOnce), []);
  });

  it('finds nothing where one who was asked did not join', async () => {
    const said = [...opened, ...batchOf([...asked, late], '20.00', [1, 2]), ...theirs];
    assert.deepEqual(await tell(said, paidOnce), []);
  });

  it('finds a part that went to somebody else', async () => {
    const other = transaction(both.hash, 200, [
      [merchantWallet, '10.00'],
      [thief, '10.00'],
    ]);
    assert.deepEqual(await tell(honest, other), [`outflowElsewhere ${paymentB}`]);
  });

  it('finds a part that is one unit too much', async () => {
    const more = transaction(both.hash, 200, [
      [merchantWallet, '10.00'],
      [merchantWallet, '10.000001'],
    ]);
    assert.deepEqual(await tell(honest, more), [`outflowElsewhere ${paymentB}`]);
  });

  it('finds a part that its batch says is one unit more than the payment says', async () => {
    const members = [member(paymentA), member(paymentB, '10.000001')];
    const said = [...opened, ...batchOf(members, '20.000001'), ...theirs];
    assert.ok((await tell(said, paidOnce)).includes(`payoutWrong ${stream}`));
  });

  it('finds a batch that signs one unit more than its members make', async () => {
    const said = [...opened, ...batchOf(asked, '20.000001'), ...theirs];
    assert.deepEqual(await tell(said, paidOnce), [`payoutWrong ${stream}`]);
  });

  it('finds a transfer of the batch to somebody who is no member', async () => {
    const more = transaction(both.hash, 200, [...twice, [thief, '10.00']]);
    assert.deepEqual(await tell(honest, more), [`outflowElsewhere ${stream}`]);
  });

  it('finds a member that is no payment, or whose payment says nothing of it', async () => {
    const members = [...asked, { ...late, receiver: thief }];
    const said = [...opened, ...batchOf(members, '30.00'), ...theirs];
    assert.deepEqual(await tell(said, transaction(both.hash, 200, [...twice, [thief, '10.00']])), [
      `payoutWrong ${stream}`,
    ]);
  });

  it('finds a payment that is paid with others though no batch has it', async () => {
    const said = [...opened, ...batchOf([member(paymentA), late], '10.00', [1]), ...theirs];
    assert.deepEqual(await tell(said, paidOnce), [`payoutWrong ${paymentB}`]);
    const without = honest.filter((each) => each.stream !== stream);
    assert.deepEqual(await tell(without, paidOnce), [`payoutWrong ${paymentB}`]);
  });

  it('finds a member that is paid in the batch and alone, whether or not its own stream tells of both', async () => {
    const second = transaction(alone.hash, 210, [[merchantWallet, '10.00']]);
    const paid = [signed(alone), withCost(settled(alone, 210))];
    const open = [...opened, ...batchOf(asked, '20.00'), ...paymentOf(paymentA, 1)];
    const knows = await tell([...open, ...paymentOf(paymentB, 2, [batched(2), ...inBatch, ...paid])], paidOnce, second);
    assert.ok(knows.includes(`signedTwice ${paymentB}`) && knows.includes(`paidTwice ${paymentB}`), knows.join());
    const first = { ...alone, attempt: 1 };
    const hides = [signed(first), withCost(settled(first, 210))];
    assert.deepEqual(await tell([...open, ...paymentOf(paymentB, 2, hides)], paidOnce, second), [
      `payoutWrong ${stream}`,
    ]);
  });

  it('finds two signatures of a batch that could both land', async () => {
    const again = { ...attempt(2, { nonce: '32' }), receiver: contract, amount: digits('20.00'), signedAt: minute(3) };
    const more = on(stream, { type: 'BatchSigned', data: again });
    assert.ok((await tell([...honest, ...more], paidOnce)).includes(`signedTwice ${stream}`));
  });
});
