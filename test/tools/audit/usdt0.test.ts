/** Rebalances by USDT0: the audit compares both chains and the coin sent along with the log. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { oftOn } from '../../../domain/rebalance/usdt0.ts';
import { ethereumUsdt, hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import { attested, burnConfirmed, mintSigned, move, ordered } from '../../support/rebalances.ts';
import { arrived, messageFee_wei, sendOrder, sendSigned } from '../../support/usdt0.ts';
import { gas, honest, instead, on, shown, thief, without } from './honest.ts';
import { audit, block, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const stream = 'rebalance-u1';
/** 100 USDT from Ethereum, where the adapter locks them, to Arbitrum. */
const order = { ...sendOrder({ from: 1, to: 42161 }), orderedAt: minute(60) };
const sent = sendSigned(order);
assert.ok(sent.type === 'BurnSigned');
const send = { ...sent.data, nonce: '21' };
const cost = { payer: treasuryAccount, fee: gas.toString(), rent: messageFee_wei.toString() };
const confirmed = burnConfirmed();
const life: readonly DomainEvent[] = [
  ordered(order),
  { type: 'BurnSigned', data: send },
  { ...confirmed, data: { ...confirmed.data, cost } } as RebalanceEvent,
];
const inTransit: readonly Said[] = [...honest, ...on(stream, ...life)];

/** The send as Ethereum has it: tokens to the adapter, coin along. */
const sendShown = (over: Partial<Shown> = {}, to: string = oftOn(1)): Shown => ({
  ...shownBase,
  changes: [
    { asset: 'coin', amount: -messageFee_wei, counterparty: oftOn(1) },
    { asset: ethereumUsdt.token.address, amount: -100_000_000n, counterparty: to },
  ],
  ...over,
});
const shownBase: Shown = {
  account: treasuryAccount,
  txHash: send.hash,
  ...block(300),
  nonce: 21n,
  outgoing: true,
  succeeded: true,
  fee: gas,
  changes: [],
} as unknown as Shown;

function chains(extra: readonly Shown[]): readonly Ground[] {
  const [ethereum, base] = shown;
  const sums: Record<string, bigint> = { ...ethereum.holds };
  for (const { changes, fee } of extra) {
    sums['coin'] = (sums['coin'] ?? 0n) - fee;
    for (const { asset, amount } of changes) sums[asset] = (sums[asset] ?? 0n) + amount;
  }
  return [{ ...ethereum, transactions: [...ethereum.transactions, ...extra], holds: sums }, base];
}

const at = (events: readonly Said[]): readonly Said[] =>
  events.map((each) => {
    const data = { ...each.event.data } as Record<string, unknown>;
    if (each.stream === stream && 'blockNumber' in data)
      Object.assign(data, { blockNumber: '300', blockHash: hashOf('block', 300) });
    return { ...each, event: { ...each.event, data } };
  });

const tell = async (events: readonly Said[], grounds: readonly Ground[] = chains([sendShown()])) =>
  pointed(await audit({ log: written(at(events)), grounds })).filter((each) => each.includes(stream));

describe('the audit of rebalances by USDT0', () => {
  it('finds nothing while the money is in transit, the coin sent along included', async () => {
    assert.deepEqual(await tell(inTransit), []);
  });

  it('finds a message fee that the chain does not have, or that is above the order', async () => {
    const less = instead(inTransit, stream, 'BurnConfirmed', () => ({ cost: { ...cost, rent: '1' } }));
    assert.ok((await tell(less)).some((each) => each.startsWith('costWrong')));
    const more = messageFee_wei + 1n;
    const above = instead(inTransit, stream, 'BurnConfirmed', () => ({ cost: { ...cost, rent: more.toString() } }));
    const paid = sendShown({
      changes: [
        { asset: 'coin', amount: -more, counterparty: oftOn(1) },
        { asset: ethereumUsdt.token.address, amount: -100_000_000n, counterparty: oftOn(1) },
      ],
    } as Partial<Shown>);
    assert.ok((await tell(above, chains([paid]))).some((each) => each.startsWith('costWrong')));
  });

  it('finds a send that paid somebody instead of the contract', async () => {
    const found = await tell(inTransit, chains([sendShown({}, thief)]));
    assert.ok(
      found.some((each) => each.startsWith('outflowElsewhere')),
      found.join(),
    );
  });

  it('finds a route through other contracts, and to another account', async () => {
    const other = instead(inTransit, stream, 'RebalanceOrdered', () => ({
      route: { ...order.route, transmitter: thief },
    }));
    assert.ok((await tell(other)).some((each) => each.startsWith('outflowElsewhere')));
    const away = instead(inTransit, stream, 'RebalanceOrdered', () => ({ to: { ...order.to, account: thief } }));
    assert.ok((await tell(away)).some((each) => each.startsWith('illegalEvent')));
  });

  it('finds less than was sent', async () => {
    const found = await tell([...inTransit, ...on(stream, arrived({ received: '99000000' }))]);
    assert.ok(
      found.some((each) => each.startsWith('transitOpen')),
      found.join(),
    );
  });

  it('finds an arrival before its send, twice, or with the events of the other protocol', async () => {
    const early = [...without(inTransit, stream, 'BurnConfirmed'), ...on(stream, arrived())];
    assert.ok((await tell(early)).some((each) => each.startsWith('illegalEvent')));
    const twice = [...inTransit, ...on(stream, arrived(), arrived({ hash: hashOf('other') }))];
    assert.ok((await tell(twice)).some((each) => each.startsWith('transitOpen')));
    for (const event of [attested(move()), mintSigned()])
      assert.ok((await tell([...inTransit, ...on(stream, event)])).some((each) => each.startsWith('illegalEvent')));
  });
});
