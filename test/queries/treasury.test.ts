import assert from 'node:assert/strict';
import { referenceOf } from '../../domain/transfer/shapes.ts';
import type { OperationEvent } from '../../domain/treasury/operation.ts';
import { openObligations } from '../../queries/payouts.ts';
import { listOperations, owedCoin, recordedHashes, transfersToAsk } from '../../queries/treasury.ts';
import { append, paymentIdOf } from '../support/histories.ts';
import { attemptOf, coinOrder, type Order, withdrawal } from '../support/operations.ts';
import * as p from '../support/payments.ts';
import * as r from '../support/rebalances.ts';
import { givenReadModels } from './given.ts';

const ordered = (order: Order): OperationEvent => ({ type: 'OperationOrdered', data: order });
const calledOff: OperationEvent = {
  type: 'OperationCalledOff',
  data: { reason: 'a typing error', by: 'ada', calledOffAt: p.minute(3) },
};
const signed: OperationEvent = { type: 'OperationSigned', data: attemptOf(withdrawal()) };
const landed = { attempt: 1, hash: attemptOf(withdrawal()).hash, blockNumber: '9', blockHash: p.hashOf('block') };
const done: OperationEvent = { type: 'OperationConfirmed', data: { ...landed, confirmedAt: p.minute(4) } };

describe('operations of the treasury', () => {
  const given = givenReadModels();
  const operations = async (histories: Readonly<Record<string, readonly OperationEvent[]>>) => {
    for (const [id, events] of Object.entries(histories)) await append(given.world, `operation-${id}`, events);
    await given.project();
  };

  it('are listed with their status and their hashes, active ones first', async () => {
    await operations({
      old: [ordered(withdrawal({ orderedAt: p.minute(0) })), signed],
      off: [ordered(coinOrder()), calledOff],
      gone: [ordered(withdrawal({ orderedAt: p.minute(2) })), signed, done],
    });
    const listed = await listOperations(given.database, 9);
    assert.deepEqual(
      listed.map(({ id, standing, txHash, amount, tokenSymbol }) => [id, standing, txHash, `${amount} ${tokenSymbol}`]),
      [
        ['old', 'signed', landed.hash, '80.00 USDC'],
        ['gone', 'done', landed.hash, '80.00 USDC'],
        ['off', 'calledOff', null, '0.50 ETH'],
      ],
    );
  });

  it('count as owed beside payouts until they are done or called off', async () => {
    await given.payments(p.sent);
    const other = withdrawal({ chainId: 56, token: p.bnbUsdc.token, amount: p.digits('5', p.bnbUsdc) });
    await operations({
      a: [ordered(withdrawal()), signed],
      b: [ordered(withdrawal()), signed, done],
      c: [ordered(withdrawal()), calledOff],
      d: [ordered(other)],
      coin: [ordered(coinOrder())],
    });
    const owed = async (but?: string) =>
      (await openObligations(given.database, but)).map(({ chainId, amount }) => [chainId, amount]).sort();
    assert.deepEqual(await owed(), [
      [1, p.of('90', p.ethereumUsdc)],
      [56, p.of('5', p.bnbUsdc)],
    ]);
    assert.deepEqual((await owed('a'))[0], [1, p.of('10', p.ethereumUsdc)]);
    assert.deepEqual(await owedCoin(given.database, 1), { payouts: 1, withdrawn: '0.50' });
    assert.deepEqual(await owedCoin(given.database, 1, 'coin'), { payouts: 1, withdrawn: '0' });
  });
});

describe('transactions of the treasury that the log knows', () => {
  const given = givenReadModels();

  it('are those of payouts, refunds, operations, burns and mints, pending or settled since a moment', async () => {
    const refund = p.refundAttempt(1, '10.01');
    const bounced = [...p.unpaid, p.detected(), p.confirmed(), p.bounced('amountTooLow', '10.01')];
    const refunding = [...bounced, p.refundRequested('10.01'), p.refundSigned(1, refund)];
    const burned = [r.ordered(), r.burnSigned(), r.burnConfirmed()];
    await append(given.world, 'operation-a', [ordered(withdrawal()), signed, done]);
    await append(given.world, 'rebalance-signed', burned.slice(0, 2));
    await append(given.world, 'rebalance-done', [...burned, r.attested(), r.mintSigned(), r.mintConfirmed()]);
    await given.payments(p.done, [...refunding, p.refundSettled(1, refund)]);

    const payout = p.attempt(1).hash;
    const recorded = { chainId: 1, hashes: [payout, landed.hash, p.hashOf('foreign')], since: p.minute(0) } as const;
    assert.deepEqual(await recordedHashes(given.database, recorded), new Set([payout, landed.hash]));
    const toAsk = async (chainId: 1 | 8453, since = p.minute(0)) =>
      (await transfersToAsk(given.database, { chainId, since })).map(referenceOf).toSorted();
    const pending = 'rebalance-signed/burn';
    const onBase = [`${paymentIdOf(2)}/refund-1`, 'rebalance-done/burn', pending];
    assert.deepEqual(await toAsk(8453), onBase.toSorted());
    assert.deepEqual(await toAsk(1), ['rebalance-done/mint']);
    assert.deepEqual(await toAsk(8453, p.minute(9_999)), [pending]);
  });
});
