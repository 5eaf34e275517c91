/** Heads that the log calls anchored: the transaction exists on the chain and contains the head's hash. */
import assert from 'node:assert/strict';
import { hashOfHead } from '../../../commands/heads/chain.ts';
import type { HeadsEvent } from '../../../domain/heads/heads.ts';
import { coinOf } from '../../../domain/money.ts';
import { attempt, hashOf, treasuryAccount } from '../../support/payments.ts';
import { at, gas, honest, landedData, moved, on, showing, shown, treasuryStream, withCost } from './honest.ts';
import { anchored, audit, type Ground, head, told, written } from './world.ts';

const first = head(honest);
const whole = [...honest, first];

describe('the audit searches the anchor of a head', () => {
  const headHash = hashOfHead(first.event as HeadsEvent);
  const hash = hashOf('anchor');
  const paysNobody = { account: treasuryAccount, receiver: treasuryAccount, amount: '0', token: coinOf(1) };
  const operation = (says: string) =>
    on(
      'operation-anchor-1',
      {
        type: 'OperationOrdered',
        data: {
          ...{ kind: 'anchor', chainId: 1, ...paysNobody, form: { kind: 'anchor', hash: says } },
          ...{ receiverMemo: null, value_microUsd: '0', approvals: 0, reason: 'due', by: 'worker', orderedAt: at },
        },
      },
      { type: 'OperationSigned', data: { ...attempt(1, { nonce: '11' }), ...paysNobody, hash } },
      withCost({ type: 'OperationConfirmed', data: landedData({ hash }, 230) }),
    );
  const onChain = (hashMemo?: string): readonly [Ground, Ground] => {
    const sent = moved(hash, 230, '0.00', treasuryAccount, { outgoing: true, fee: gas, changes: [] });
    const [ethereum, base] = showing(shown, 1, { ...sent, ...(hashMemo && { hashMemo }) });
    return [{ ...ethereum, holds: { ...ethereum.holds, coin: 1_000_000n - 4n * gas } }, base];
  };
  const log = (said: string = headHash) =>
    written([...whole, anchored(first, { headHash: said, transaction: hash, ledger: '230' }), ...operation(said)]);

  it('and finds nothing wrong if its transaction contains the hash', async () => {
    assert.deepEqual((await audit({ log: log(), grounds: onChain(headHash) })).findings, []);
  });

  it('and reports one with another hash, or none, or without a transaction', async () => {
    for (const memo of ['ab'.repeat(32), undefined])
      assert.deepEqual(told(await audit({ log: log(), grounds: onChain(memo) })), ['anchorWrong heads-log']);
    const found = told(await audit({ log: log(), grounds: shown }));
    assert.ok(found.includes('settlementForged heads-log'), found.join());
  });

  it('and reports one of a head that was not signed', async () => {
    const other = 'ab'.repeat(32);
    assert.deepEqual(told(await audit({ log: log(other), grounds: onChain(other) })), ['headForged heads-log']);
  });

  it('and does not count it as signed: a transaction without an attempt is foreign', async () => {
    const alone = written([...whole, anchored(first, { headHash, transaction: hash, ledger: '230' })]);
    const found = told(await audit({ log: alone, grounds: onChain(headHash) }));
    assert.ok(found.includes(`outflowUnrecorded ${treasuryStream}`), found.join());
  });
});
