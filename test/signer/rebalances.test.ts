/** A separate signer burns and mints only what its own reading of the log orders. */
import assert from 'node:assert/strict';
import { SigningRefused, type TransferOrder } from '../../commands/transferPorts.ts';
import { fold } from '../../domain/decider.ts';
import type { CctpOrdered, RebalanceEvent } from '../../domain/rebalance/events.ts';
import { rebalance, rebalanceOwed } from '../../domain/rebalance/rebalance.ts';
import { minute } from '../support/payments.ts';
import { attested, burnAttempt, burnConfirmed, move, ordered } from '../support/rebalances.ts';
import { sendOrder } from '../support/usdt0.ts';
import { forgedLog } from './forgedLog.ts';

const notOrdered = (error: unknown): boolean => error instanceof SigningRefused && error.reason === 'notOrdered';

describe('a rebalance, requested from a separate signer', () => {
  const world = forgedLog([]);
  const { account } = world;
  const own = (change: Partial<CctpOrdered> = {}): CctpOrdered =>
    move({ from: { ...move().from, account }, to: { ...move().to, account }, ...change });
  const burned = (order: CctpOrdered): readonly RebalanceEvent[] => [
    ordered(order),
    { type: 'BurnSigned', data: { ...burnAttempt(order), account } },
    burnConfirmed(),
  ];
  let count = 0;

  /** Writes the stream and requests one of its transfers. */
  async function signs(events: readonly RebalanceEvent[], part: 'burn' | 'mint', change: Partial<TransferOrder> = {}) {
    count += 1;
    const id = `r${count}`;
    await world.append(rebalance, id, events);
    const state = fold(rebalance, events);
    assert.ok(state);
    const owed = rebalanceOwed(id, state).find(({ purpose }) => purpose.kind === part);
    assert.ok(owed, `there is no ${part} yet`);
    const { chainId, token, receiver, receiverMemo, amount, form } = owed.leg.order;
    const order = { chainId, token, receiver, receiverMemo, amount, ...(form && { form }), ...change };
    return world.sign(part, `rebalance-${id}/${part}`, order, '');
  }

  it('is signed as the log orders it, first the burn, and the mint once it is attested', async () => {
    await signs([ordered(own())], 'burn');
    await signs([...burned(own()), attested(own())], 'mint');
  });

  it('is signed as a send by USDT0 that the log orders, and as no other', async () => {
    const send = sendOrder({ from: 1, to: 42161, account });
    await signs([ordered(send)], 'burn');
    const form = {
      kind: 'oftSend',
      destinationDomain: 30_109,
      recipient: account,
      messageFee: '250000000000000',
    } as const;
    await assert.rejects(signs([ordered(send)], 'burn', { form }), notOrdered);
    const waiting = { ...send, approvals: 1, by: 'ada' };
    await assert.rejects(signs([ordered(waiting)], 'burn'), notOrdered);
  });

  it('is refused before the approval that it needs', async () => {
    const large = own({ approvals: 1, by: 'ada' });
    await assert.rejects(signs([ordered(large)], 'burn'), notOrdered);
    await signs([ordered(large), { type: 'RebalanceApproved', data: { by: 'grace', approvedAt: minute(2) } }], 'burn');
  });

  it('is refused if the request differs from the log', async () => {
    const form = {
      kind: 'burn',
      destinationDomain: 3,
      mintRecipient: account,
      feeMax: '200000',
      finality: 2_000,
    } as const;
    await assert.rejects(signs([ordered(own())], 'burn', { form }), notOrdered);
    await assert.rejects(signs([ordered(own())], 'burn', { amount: 1_000_000n }), notOrdered);
  });

  it('mints no message that an attacker wrote into the log: of another amount, burner or finality', async () => {
    for (const change of [{ amount: 2_000_000_000n }, { messageSender: '11'.repeat(32) }, { minFinality: 1_000 }]) {
      const event = attested(own(), change);
      await assert.rejects(signs([...burned(own()), event], 'mint'), (error) => error instanceof SigningRefused);
    }
  });

  it('mints nothing while the burn is not settled', async () => {
    await assert.rejects(signs([ordered(own()), attested(own())], 'mint'), notOrdered);
  });
});
