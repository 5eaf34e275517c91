/** Money that the log credits to another party than the chain: another payment, another sender, another memo. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import {
  attempt,
  confirmed,
  created,
  customerWallet,
  digits,
  funded,
  hashOf,
  merchantWallet,
  minute,
  payin,
  payoutRequested,
  settled,
  signed,
  stellarUsdc,
  treasuryAccount,
} from '../../support/payments.ts';
import { books, honest, instead, on, paymentA, shown, thief, vault, withCost } from './honest.ts';
import { audit, block, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
  pointed(await audit({ log: written(said), grounds }));

describe('the audit finds a payin', () => {
  it('at an address that is not one of the payment’s deposits', async () => {
    const said = instead(honest, paymentA, 'PaymentCreated', ({ deposit }: { deposit: object }) => ({
      deposit: { ...deposit, address: vault },
    }));
    assert.deepEqual(await tell(said), [`payinForged ${paymentA} 2`]);
  });

  it('with another sender than the one on the chain', async () => {
    const said = ['PayinDetected', 'PayinConfirmed'].reduce(
      (log: readonly Said[], type) =>
        instead(log, paymentA, type, ({ transfer }: { transfer: object }) => ({
          transfer: { ...transfer, from: thief },
        })),
      honest,
    );
    assert.deepEqual(await tell(said), [`payinForged ${paymentA} 2`]);
  });

  it('in a block behind the end of its chain', async () => {
    const far = { transfer: { ...payin({ tx: 'far', block: 5_000 }) } };
    const said = ['PayinDetected', 'PayinConfirmed'].reduce(
      (log: readonly Said[], type) => instead(log, paymentA, type, () => far),
      honest,
    );
    const funds = instead(said, paymentA, 'PaymentFunded', () => ({ transferIds: [`8453:${far.transfer.txHash}:0`] }));
    assert.ok((await tell(funds)).includes(`payinForged ${paymentA} 2`));
  });
});

const asset = stellarUsdc.token.address;
const units = (amount: string) => BigInt(digits(amount, stellarUsdc));
const stellarBooks = (usdc: bigint): Said[] => books(1500, { [asset]: usdc.toString(), coin: '1000000' });
const came = {
  ...payin({ in: stellarUsdc, tx: 'stellar' }),
  txHash: hashOf('stellar').slice(2),
  to: treasuryAccount,
  memo: '17',
};
const paid = { ...attempt(1, { to: stellarUsdc, nonce: '3' }), receiverMemo: '99', chainId: 1500 as const };
const own: readonly DomainEvent[] = (() => {
  const { data } = created({ from: stellarUsdc, to: stellarUsdc });
  const { deposit, destination } = data as never as { deposit: object; destination: object };
  const order = payoutRequested('10.00', stellarUsdc);
  return [
    {
      type: 'PaymentCreated',
      data: {
        ...data,
        deposit: { ...deposit, address: treasuryAccount, memo: '17' },
        destination: { ...destination, receiverMemo: '99' },
      },
    },
    confirmed(came),
    funded([came], { source: stellarUsdc, destination: stellarUsdc }),
    { ...order, data: { ...order.data, receiverMemo: '99' } },
    signed(paid),
    withCost(settled(paid)),
  ];
})();
const onStellar = [...stellarBooks(units('100.00')), ...on(paymentA, ...own)];

const movedThere = (txHash: string, number: number, amount: bigint, counterparty: string, memo?: string): Shown => ({
  account: treasuryAccount,
  txHash,
  ...block(number),
  nonce: null,
  outgoing: amount < 0n,
  succeeded: true,
  fee: amount < 0n ? 21_000n : 0n,
  changes: [{ asset, amount, counterparty, ...(memo !== undefined && { memo }) }],
});
const stellar = (inMemo?: string, outMemo?: string): Ground[] => [
  {
    chainId: 1500,
    transactions: [
      movedThere(came.txHash, 100, units('10.01'), customerWallet, inMemo),
      movedThere(paid.hash, 200, -units('10.00'), merchantWallet, outMemo),
    ],
    holds: { [asset]: units('100.01'), coin: 1_000_000n - 21_000n },
  },
];

describe('the audit of an address that payments share, with memos,', () => {
  it('finds nothing where memos are the payment’s own', async () => {
    assert.deepEqual(await tell(onStellar, stellar('17', '99')), []);
  });

  it('finds a payin with another payment’s memo, whether the log states so or hides it', async () => {
    const said = instead(onStellar, paymentA, 'PayinConfirmed', ({ transfer }: { transfer: object }) => ({
      transfer: { ...transfer, memo: '18' },
    }));
    assert.deepEqual(await tell(said, stellar('18', '99')), [`payinForged ${paymentA} 1`]);
    assert.deepEqual(await tell(onStellar, stellar('18', '99')), [`payinForged ${paymentA} 1`]);
    assert.deepEqual(await tell(onStellar, stellar(undefined, '99')), [`payinForged ${paymentA} 1`]);
  });

  it('finds a payin that its transaction did not bring because it failed', async () => {
    const [ground] = stellar('17', '99');
    assert.ok(ground);
    const failed = ground.transactions.map((each, n) => (n === 0 ? { ...each, succeeded: false, changes: [] } : each));
    const holds = { ...ground.holds, [asset]: units('90.00') };
    assert.deepEqual(await tell(onStellar, [{ ...ground, transactions: failed, holds }]), [
      `payinForged ${paymentA} 1`,
    ]);
  });

  it('finds a payout with another memo: it pays another customer of the same exchange', async () => {
    assert.deepEqual(await tell(onStellar, stellar('17', '98')), [`outflowElsewhere ${paymentA} 4`]);
    assert.deepEqual(await tell(onStellar, stellar('17')), [`outflowElsewhere ${paymentA} 4`]);
  });

  it('finds a payment’s money that the log calls a top-up, or unmatched', async () => {
    const topUp = (hash: string) => ({
      type: 'TopUpSeen',
      data: {
        ...{ asset, amount: came.amount, from: customerWallet },
        transaction: { hash, blockNumber: '100', blockHash: hashOf('block', 100) },
        ...{ upTo: '900', seenAt: minute(20) },
      },
    });
    const only = on(paymentA, own[0] as DomainEvent);
    const [ground] = stellar('17');
    const grounds = ground
      ? [
          {
            ...ground,
            transactions: ground.transactions.slice(0, 1),
            holds: { [asset]: units('110.01'), coin: 1_000_000n },
          },
        ]
      : [];
    const opened = stellarBooks(units('100.00'));
    const books1500 = `books-1500-${treasuryAccount}`;
    assert.deepEqual(await tell([...opened, ...on(books1500, topUp(came.txHash)), ...only], grounds), [
      `inflowUnrecorded ${books1500} 1`,
    ]);
    const stream = `unmatched-1500:${came.txHash}:0`;
    const seen = { type: 'UnmatchedPayinSeen', data: { transfer: came, seenAt: minute(20) } };
    assert.deepEqual(await tell([...opened, ...only, ...on(stream, seen)], grounds), [`payinForged ${stream} 0`]);
    const foreign = { ...seen, data: { ...seen.data, transfer: { ...came, memo: '4711' } } };
    const [there] = grounds;
    assert.ok(there);
    const others = [{ ...there, transactions: [movedThere(came.txHash, 100, units('10.01'), customerWallet, '4711')] }];
    assert.deepEqual(await tell([...opened, ...only, ...on(stream, foreign)], others), []);
  });

  it('finds a payout to another id of the same account', async () => {
    const [ground] = stellar('17', '5');
    assert.ok(ground);
    const said = ['PayoutRequested', 'PayoutSigned'].reduce(
      (log: readonly Said[], type) =>
        instead(log, paymentA, type, () => ({
          receiverMemo: null,
          ...(type === 'PayoutSigned' ? { receiver: 'M merchant' } : { receiverAddress: 'M merchant' }),
        })),
      instead(onStellar, paymentA, 'PaymentCreated', ({ destination }: { destination: object }) => ({
        destination: { ...destination, receiverAddress: 'M merchant', receiverMemo: null },
      })),
    );
    const holders = { 'M merchant': merchantWallet };
    assert.deepEqual(await tell(said, [{ ...ground, holders, memos: { 'M merchant': '5' } }]), []);
    assert.deepEqual(await tell(said, [{ ...ground, holders, memos: { 'M merchant': '6' } }]), [
      `outflowElsewhere ${paymentA} 4`,
    ]);
  });
});
