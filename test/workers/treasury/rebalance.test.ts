import assert from 'node:assert/strict';
import type { AccountHistory } from '../../../commands/accountHistory.ts';
import { isRefusal } from '../../../domain/decider.ts';
import type { OperationEvent } from '../../../domain/treasury/operation.ts';
import { recordArrival } from '../../../src/workers/treasury/operations.ts';
import { append, createWorld } from '../../support/histories.ts';
import { attemptOf, withdrawal } from '../../support/operations.ts';
import { patience_ms } from '../../support/patience.ts';
import * as p from '../../support/payments.ts';

const ada = { cause: 'operator:ada' } as const;
const hash = p.hashOf('bridge');
const before = p.hashOf('a top-up that came before it was ordered');

describe('a rebalance', () => {
  it('has arrived when our account’s own history contains the named transaction', async () => {
    const world = createWorld();
    const { token } = p.baseUsdc;
    const expects = { chainId: 8453, account: p.treasuryAccount, token } as const;
    const order = withdrawal({ kind: 'rebalance', expects });
    const landed = { attempt: 1, hash: attemptOf(order).hash, blockNumber: '9', blockHash: p.hashOf('block') };
    const events: readonly OperationEvent[] = [
      { type: 'OperationOrdered', data: order },
      { type: 'OperationSigned', data: attemptOf(order) },
      { type: 'OperationConfirmed', data: { ...landed, confirmedAt: p.minute(4) } },
    ];
    await append(world, 'operation-r', events);
    const change = { asset: token.address, amount: 79_000_000n, counterparty: null };
    const history = {
      standing: async () => ({ blockNumber: 100n }),
      transactions: async () => ({
        transactions: [
          { txHash: hash, time: p.minute(9), succeeded: true, changes: [change] },
          { txHash: before, time: p.minute(-1), succeeded: true, changes: [change] },
        ],
        next: null,
      }),
    } as unknown as AccountHistory;
    const deps = { ...world, historyOf: () => history };
    const arriving = (named: string) =>
      recordArrival(deps, { id: 'r', hash: named }, ada, AbortSignal.timeout(patience_ms));
    for (const named of [p.hashOf('another'), before]) {
      const unknown = await arriving(named);
      assert.ok(isRefusal(unknown) && /did not bring USDC/.test(unknown.message), named);
    }
    const arrived = await arriving(hash);
    assert.equal(!isRefusal(arrived) && arrived.state?.arrived?.amount, 79_000_000n);
    const again = await arriving(hash);
    assert.equal(!isRefusal(again) && again.appended, 0);
  });
});
