/** A batch whose stream an attacker writes pays its members only the owed amounts. */
import assert from 'node:assert/strict';
import { nothingToProve, PayoutBlocked } from '../../../commands/transferPorts.ts';
import { type BatchOpened, type Member, type PayoutBatchEvent, payoutBatch } from '../../../domain/batch/batch.ts';
import type { PaymentEvent } from '../../../domain/payment/events.ts';
import { asMember } from '../../../domain/payment/payout.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { batchOwner } from '../../../src/workers/payouts/owners.ts';
import * as p from '../../support/payments.ts';
import { accepted, processes } from '../../support/processes.ts';

const { signal } = new AbortController();
const facts = { cause: 'worker:test', appId: null } as const;
const batch = '1-treasury-1';
const ids = ['first', 'second'] as const;

const paymentOf = (id: string, position: number, joins = batch): readonly PaymentEvent[] => {
  const [created, ...rest] = p.ordered;
  assert.ok(created?.type === 'PaymentCreated');
  const data = { ...created.data, paymentId: id };
  return [{ ...created, data }, ...rest, p.event('PayoutBatched', { batch: joins, position, batchedAt: p.minute(8) })];
};

async function proves(
  change: (member: Member, at: number) => Partial<Member>,
  more: Partial<BatchOpened> = {},
  joins = batch,
) {
  const { start, clock } = processes({ now: p.minute(9) });
  const handle = start();
  for (const [at, id] of ids.entries())
    await accepted(handle(paymentDecider, id, () => paymentOf(id, at + 1, joins), facts));
  const members = ids.map((id, at) => {
    const member = asMember(p.paymentAfter(paymentOf(id, at + 1)));
    return { ...member, ...change(member, at) };
  });
  const { token } = p.ethereumUsdc;
  const opened = {
    chainId: 1,
    account: p.treasuryAccount,
    token,
    contract: p.treasuryAccount,
    openedAt: p.minute(8),
  } as const;
  const events: readonly PayoutBatchEvent[] = [
    { type: 'BatchOpened', data: { ...opened, members, ...more } },
    { type: 'BatchGathered', data: { joined: [1, 2], gatheredAt: p.minute(8) } },
  ];
  await accepted(handle(payoutBatch, batch, () => events, facts));
  const owner = batchOwner({ handle, clock, proveFunding: async () => nothingToProve });
  return owner.proveFunding?.({ kind: 'batch', id: batch, part: 1 }, signal);
}

const isUnproven = (error: unknown): boolean => error instanceof PayoutBlocked && error.reason === 'fundingUnproven';

describe('a batch that the log orders', () => {
  it('is proven if each member gets the amount that its payment owes', async () => {
    await (await proves(() => ({})))?.();
  });

  it('is refused if it pays a member more, another receiver, in another token, or a member of another batch', async () => {
    const second = (change: Partial<Member>) => (_: Member, at: number) => (at === 1 ? change : {});
    for (const change of [{ amount: '909990000' }, { amount: '1' }, { receiver: p.customerWallet }, { appId: 'other' }])
      await assert.rejects(proves(second(change)), isUnproven, JSON.stringify(change));
    await assert.rejects(proves(second({ paymentId: 'first' })), isUnproven);
    await assert.rejects(
      proves(() => ({}), { token: p.ethereumUsdt.token }),
      isUnproven,
    );
    await assert.rejects(
      proves(() => ({}), { token: { ...p.ethereumUsdc.token, decimals: 5 } }),
      isUnproven,
    );
    await assert.rejects(
      proves(() => ({}), { chainId: 137 }),
      isUnproven,
    );
    await assert.rejects(
      proves(() => ({}), {}, '1-treasury-2'),
      isUnproven,
    );
  });
});
