import type { VNode } from 'preact';
import { fold } from '../../../domain/decider.ts';
import { rebalance } from '../../../domain/rebalance/rebalance.ts';
import { type FloatsModel, floatsPage } from '../../../web/operations/floats.ts';
import type { Mode } from '../../../web/parts/frame.ts';
import { minute } from '../../support/payments.ts';
import { burnConfirmed, burnSigned, move, ordered } from '../../support/rebalances.ts';
import { sendOrder, sendSigned } from '../../support/usdt0.ts';
import type { Say } from './payments.ts';

const usd = (dollars: number): bigint => BigInt(Math.round(dollars * 100)) * 10_000n;

/** Pages of the operations port. */
export function operatorPages(mode: Mode, say: Say): Readonly<Record<string, VNode>> {
  const hourly = (from: number, perHour: number) =>
    Array.from({ length: 168 }, (_, hour) => usd(from + perHour * hour + 300 * Math.sin(hour / 4)));
  const line = (chainId: 1 | 8453 | 56, chain: string, held: number, perDay: number): FloatsModel['lines'][number] => ({
    symbol: 'USDC',
    ...{ chainId, chain, held: usd(held), reserved: usd(held / 8), inTransit: 0n, expectedAt: null },
    ...{ outflow_day: usd(perDay), outflow_week: usd(perDay * 7) },
    lastsFor_hours: perDay === 0 ? null : Math.floor((held * 21) / perDay),
    hourly: hourly(held + (perDay * 7) / 2, -perDay / 48),
  });
  const state = (events: readonly ReturnType<typeof ordered>[]) => {
    const folded = fold(rebalance, events);
    if (!folded) throw new Error('it was ordered');
    return folded;
  };
  const proposal = move({
    approvals: 1,
    by: say('worker:floats'),
    reason: say('the float is below its minimum, or will be'),
  });
  const limits = { minimum: usd(1_000), target: usd(5_000), maximum: usd(20_000) };
  const full: FloatsModel = {
    mode,
    policy: {
      USDC: {
        mode: 'propose',
        floats: new Map([
          [1, limits],
          [8453, limits],
        ]),
      },
      USDT: { mode: 'off', floats: new Map([[1, limits]]) },
    },
    lines: [
      { ...line(1, 'Ethereum', 612.5, 4_100), inTransit: usd(1_000), expectedAt: minute(22) },
      line(8453, 'Base', 18_250, 350),
      line(56, 'BNB Chain', 4_020.75, 0),
      { ...line(1, 'Ethereum', 900, 120), symbol: 'USDT' },
    ],
    open: [
      { id: 'usdc-7', state: state([ordered(), burnSigned(), burnConfirmed()]) },
      { id: 'usdt-3', state: state([ordered(sendOrder()), sendSigned(), burnConfirmed()]) },
      { id: say('usdc-8'), state: state([ordered(proposal)]) },
    ],
    alarms: [
      {
        reason: 'floatByHand',
        count: 3,
        message: say(
          'BNB Chain needs 979.25 USDC; it is empty at 2026-11-21T20:30:00.000Z at the present outflow; the protocol does not serve the chain, so move the money by hand; see docs/operate/floats.md',
        ),
      },
    ],
    failed: [
      {
        ...{ worker: say('webhooks'), key: say('0198f3c2-0000-8000-8000-000000000001'), attempts: 10 },
        ...{ since: minute(3), parked: true, error: say('ChainUnavailable: no node of Base answers') },
      },
      { worker: 'rebalances', key: 'usdc-7', attempts: 2, since: minute(9), parked: false, error: say('no answer') },
    ],
  };
  const off = { mode: 'off', floats: new Map() } as const;
  const none = { lines: [], open: [], alarms: [], failed: [] };
  return {
    operatorFloats: floatsPage(full),
    operatorFloatsEmpty: floatsPage({ ...full, ...none, policy: { USDC: off, USDT: off } }),
  };
}
