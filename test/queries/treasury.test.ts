import assert from 'node:assert/strict';
import type { OperationEvent } from '../../domain/treasury/operation.ts';
import { openObligations } from '../../queries/payouts.ts';
import { listOperations, owedCoin } from '../../queries/treasury.ts';
import { append } from '../support/histories.ts';
import { attemptOf, coinOrder, type Order, withdrawal } from '../support/operations.ts';
import * as p from '../support/payments.ts';
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
