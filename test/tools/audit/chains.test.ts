/** Frauds in an honest log, on its chains, or in both: the audit finds each, and names the right stream. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import {
  attempt,
  baseUsdc,
  confirmed,
  customerWallet,
  depositAddress,
  digits,
  funded,
  hashOf,
  merchantWallet,
  payin,
  payoutRequested,
  refundAttempt,
  refundRequested,
  refundSettled,
  refundSigned,
  settled,
  signed,
} from '../../support/payments.ts';
import {
  cost,
  createdAs,
  gas,
  honest,
  instead,
  late,
  moved,
  on,
  onBase,
  paymentA,
  paymentB,
  payout,
  showing,
  shown,
  thief,
  treasuryStream,
  usdc,
  withCost,
  without,
} from './honest.ts';
import { audit, type Ground, pointed, type Said, written } from './world.ts';

describe('the audit finds a fraud by the holder of every key:', () => {
  const tell = async (said: readonly Said[], grounds: readonly Ground[] = shown) =>
    pointed(await audit({ log: written(said), grounds }));

  it('a second payout from the treasury’s key', async () => {
    const second = moved(hashOf('again'), 230, '-10.00', merchantWallet);
    const found = await tell(honest, showing(shown, 1, second));
    assert.ok(found.includes(`outflowUnrecorded ${treasuryStream} -`), found.join());
  });

  it('a payout to another address than in the terms, although both log and chain agree', async () => {
    const elsewhere = attempt(1, { receiver: thief });
    const changes: readonly DomainEvent[] = [
      { ...payoutRequested(), data: { ...payoutRequested().data, receiverAddress: thief } },
      signed(elsewhere),
      withCost(settled(elsewhere)),
    ];
    const said = changes.reduce(
      (log: readonly Said[], { type, data }) => instead(log, paymentA, type, () => data),
      honest,
    );
    const grounds = showing(
      [{ ...shown[0], transactions: shown[0].transactions.slice(1) }, shown[1]],
      1,
      moved(elsewhere.hash, 200, '-10.00', thief),
    );
    assert.deepEqual(await tell(said, grounds), [`payoutWrong ${paymentA} 4`]);
  });

  it('a payout that reached the merchant in the log, and another receiver on the chain', async () => {
    const found = await tell(honest, showing(shown, 1, moved(payout.hash, 200, '-10.00', thief)));
    assert.deepEqual(found, [`outflowElsewhere ${paymentA} 5`]);
  });

  it('an uncredited deposit', async () => {
    const extra = onBase(moved(hashOf('forgotten'), 130, '7.00', customerWallet, { account: depositAddress }));
    assert.deepEqual(await tell(honest, showing(shown, 8453, extra)), [`inflowUnrecorded deposit ${depositAddress} -`]);
  });

  it('held money that vanishes: a payin that allegedly left its chain', async () => {
    const gone = { type: 'PayinOrphaned', data: { transferId: `8453:${late.txHash}:0`, blockHash: late.blockHash } };
    const found = await tell(
      [
        ...without(
          honest,
          paymentB,
          'PaymentFunded',
          'PayoutRequested',
          'PayoutSigned',
          'PayoutConfirmed',
          'RefundRequested',
          'RefundSigned',
          'RefundConfirmed',
        ),
        ...on(paymentB, gone),
      ],
      [
        {
          ...shown[0],
          transactions: shown[0].transactions.filter((_, i) => i !== 1),
          holds: { [usdc.address]: BigInt(digits('940.00')), coin: 1_000_000n - 2n * gas },
        },
        {
          ...shown[1],
          transactions: shown[1].transactions.slice(0, 2),
          holds: { [baseUsdc.token.address]: BigInt(digits('1000.00')), coin: 1_000_000n },
        },
      ],
    );
    assert.deepEqual(found, [`payinDisowned ${paymentB} 1`]);
  });

  it('a fee that is too high by one unit', async () => {
    const said = instead(honest, paymentB, 'PaymentFunded', () => ({
      fee: digits('0.010001'),
      excess: digits('1.999999'),
    }));
    const found = await tell(said);
    assert.ok(found.includes(`feeWrong ${paymentB} 2`), found.join());
    const hidden = instead(
      instead(honest, paymentA, 'PaymentCreated', (data: { fee: object }) => ({
        fee: { ...data.fee, amount: digits('0.010001') },
      })),
      paymentA,
      'PaymentFunded',
      () => ({ fee: digits('0.010001') }),
    );
    assert.deepEqual(
      (await tell(hidden)).filter((each) => each.startsWith('fee')),
      [`feeWrong ${paymentA} 3`],
    );
  });

  it('a refund beyond what came in', async () => {
    const more = refundAttempt(1, '2.50', { nonce: '11' });
    const said = [
      ...honest,
      ...on(
        paymentB,
        refundRequested('2.50', { refund: 2, reason: 'excess' }),
        refundSigned(2, more),
        withCost(refundSettled(2, more)),
      ),
    ];
    const found = await tell(said, showing(shown, 8453, onBase(moved(more.hash, 201, '-2.50', customerWallet))));
    assert.ok(found.includes(`refundBeyondCap ${paymentB} 9`), found.join());
  });

  it('a payin that no transaction of the chain brings', async () => {
    const forged = payin({ tx: 'invented', block: 140 });
    const stream = 'payment-0198f3c2-0000-8000-8000-00000000000c';
    const found = await tell([...honest, ...on(stream, createdAs(stream), confirmed(forged), funded([forged]))]);
    assert.deepEqual(found, [`payinForged ${stream} 1`]);
  });

  it('one transfer that is credited to two payments', async () => {
    const stream = 'payment-0198f3c2-0000-8000-8000-00000000000d';
    const found = await tell([...honest, ...on(stream, createdAs(stream), confirmed(), funded())]);
    assert.deepEqual(found, [`payinTwice ${stream} 1`]);
  });

  it('a payout that is allegedly settled by a transaction that failed', async () => {
    const failed = { ...moved(payout.hash, 200, '-10.00', merchantWallet), succeeded: false, changes: [] };
    const found = await tell(honest, showing(shown, 1, failed));
    assert.ok(found.includes(`settledByFailed ${paymentA} 5`), found.join());
  });

  it('a payout that is allegedly settled by a transaction that does not exist', async () => {
    const [ethereum, base] = shown;
    const found = await tell(honest, [{ ...ethereum, transactions: ethereum.transactions.slice(1) }, base]);
    assert.ok(found.includes(`settlementForged ${paymentA} 5`), found.join());
  });

  it('an attempt that the log calls dead and that paid nevertheless', async () => {
    const other = attempt(2, { nonce: '12' });
    const dead = { type: 'PayoutDied', data: { attempt: 1, proof: { reason: 'declared', detail: 'it was not' } } };
    const said = [
      ...without(honest, paymentA, 'PayoutConfirmed'),
      ...on(paymentA, dead, signed(other), withCost(settled(other, 205))),
    ];
    const found = await tell(said, showing(shown, 1, moved(other.hash, 205, '-10.00', merchantWallet)));
    assert.ok(found.includes(`paidTwice ${paymentA} 5`), found.join());
  });

  it('a deposit whose money went elsewhere than to the treasury', async () => {
    const out = onBase(moved(hashOf('swept'), 300, '-10.01', thief, { account: depositAddress, fee: 0n }));
    assert.deepEqual(await tell(honest, showing(shown, 8453, out)), [`sweptElsewhere deposit ${depositAddress} -`]);
  });

  it('gas that differs from the chain’s charge', async () => {
    const said = instead(honest, paymentA, 'PayoutConfirmed', () => ({ cost: { ...cost, fee: '20999' } }));
    assert.deepEqual(await tell(said), [`costWrong ${paymentA} 5`]);
  });
});
