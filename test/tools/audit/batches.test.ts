/** Frauds with payouts that share one transaction: the audit finds each, and names the stream. */
import assert from 'node:assert/strict';
import { attempt, digits, merchantWallet, minute, settled, signed } from '../../support/payments.ts';
import {
  alone,
  asked,
  batched,
  batchOf,
  both,
  contract,
  grounds,
  honest,
  inBatch,
  late,
  member,
  on,
  opened,
  paymentA,
  paymentB,
  paymentOf,
  stream,
  theirs,
  thief,
  transaction,
  twice,
  withCost,
} from './paidTogether.ts';
import { audit, type Said, type Shown, told, written } from './world.ts';

const tell = async (said: readonly Said[], ...transactions: readonly Shown[]): Promise<readonly string[]> =>
  told(await audit({ log: written(said), grounds: grounds(...transactions) }));

describe('the audit of payouts that share one transaction', () => {
  const paidOnce = transaction(both.hash, 200, twice);

  it('finds nothing if each receiver got their part', async () => {
    assert.deepEqual(await tell(honest, paidOnce), []);
  });

  it('finds nothing if an invited payment did not join', async () => {
    const said = [...opened, ...batchOf([...asked, late], '20.00', [1, 2]), ...theirs];
    assert.deepEqual(await tell(said, paidOnce), []);
  });

  it('finds a part that went to another receiver', async () => {
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

  it('finds a part that is one unit more in its batch than in the payment', async () => {
    const members = [member(paymentA), member(paymentB, '10.000001')];
    const said = [...opened, ...batchOf(members, '20.000001'), ...theirs];
    assert.ok((await tell(said, paidOnce)).includes(`payoutWrong ${stream}`));
  });

  it('finds a batch that signs one unit more than the sum of its members', async () => {
    const said = [...opened, ...batchOf(asked, '20.000001'), ...theirs];
    assert.deepEqual(await tell(said, paidOnce), [`payoutWrong ${stream}`]);
  });

  it('finds a transfer of the batch to a receiver who is no member', async () => {
    const more = transaction(both.hash, 200, [...twice, [thief, '10.00']]);
    assert.deepEqual(await tell(honest, more), [`outflowElsewhere ${stream}`]);
  });

  it('finds a member that is no payment, or whose payment has no record of it', async () => {
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

  it('finds a member that is paid in the batch and alone, whether or not its own stream has both', async () => {
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
