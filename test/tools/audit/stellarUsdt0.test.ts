/** Rebalances by USDT0 with Stellar: the audit compares both chains with the log, in their own decimals, and the lumens of the message. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { sendableOn, stellarUsdt0 } from '../../../domain/rebalance/usdt0.ts';
import { ethereumUsdt, hashOf, treasuryAccount } from '../../support/payments.ts';
import { burnAttempt, burnConfirmed, ordered } from '../../support/rebalances.ts';
import { arrived, sendOrder } from '../../support/usdt0.ts';
import { books, gas, honest, instead, on, shown } from './honest.ts';
import { audit, block, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const stream = 'rebalance-s1';
const account = 'GCX2EQXSPCHMBSEGYZRVTZWOIDRXWRWYEFRTCNVOZPYXE4QEFPKNUF3V';
const usdt = sendableOn(1500)?.address ?? assert.fail();
const [units, unitsThere] = [100_000_000n, 1_000_000_000n];
const [fee_stroops, kept] = [8_000_000n, 5_000_000n];
const opening = 5_000_000_000n;
const landedAt = { blockNumber: '300', blockHash: block(300).blockHash };

const own = (chainId: 1 | 1500) => (chainId === 1500 ? account : treasuryAccount);
const orderOf = (from: 1 | 1500, to: 1 | 1500) => {
  const order = sendOrder(
    { from, to, amount: from === 1500 ? unitsThere : units },
    { messageFee: fee_stroops.toString() },
  );
  return { ...order, from: { ...order.from, account: own(from) }, to: { ...order.to, account: own(to) } };
};
const outOf = orderOf(1500, 1);
const into = orderOf(1, 1500);
const arrivalHash = hashOf('arrival');

function lifeOf(order: typeof outOf): readonly DomainEvent[] {
  const isOut = order.from.chainId === 1500;
  const cost = isOut
    ? { payer: account, fee: '300', rent: kept.toString() }
    : { payer: treasuryAccount, fee: gas.toString(), rent: fee_stroops.toString() };
  const attempt = { ...burnAttempt(order), account: order.from.account, nonce: isOut ? '429496729601' : '21' };
  const confirmed = burnConfirmed();
  return [
    ordered(order),
    { type: 'BurnSigned', data: attempt } as RebalanceEvent,
    { ...confirmed, data: { ...confirmed.data, ...landedAt, cost } } as RebalanceEvent,
    { ...arrived({ received: String(isOut ? units : unitsThere) }) },
  ].map((event) => ({ ...event, data: 'blockNumber' in event.data ? { ...event.data, ...landedAt } : event.data }));
}

const seen = (over: Partial<Shown>): Shown =>
  ({ ...block(300), account, nonce: null, outgoing: false, succeeded: true, fee: 0n, changes: [], ...over }) as Shown;
const coinTo = (amount: bigint, counterparty: string = stellarUsdt0.endpoint) => ({
  asset: 'coin',
  amount,
  counterparty,
});
/** The send as Stellar has it: tokens burned, lumens to the Endpoint and the excess back. */
const sendThere = (changes: Shown['changes']): Shown =>
  seen({ txHash: burnAttempt(outOf).hash, nonce: 429_496_729_601n, outgoing: true, fee: 300n, changes });
const honestSend = [
  { asset: usdt, amount: -unitsThere, counterparty: null },
  coinTo(-fee_stroops),
  coinTo(fee_stroops - kept),
];
const arrivalThere = (amount = unitsThere): Shown =>
  seen({ txHash: arrivalHash, changes: [{ asset: usdt, amount, counterparty: null }] });
const adapter = outOf.route.transmitter;
const onEthereum = (over: Partial<Shown>): Shown => seen({ account: treasuryAccount, ...over });
const arrivalHere = onEthereum({
  txHash: arrivalHash,
  changes: [{ asset: ethereumUsdt.token.address, amount: units, counterparty: adapter }],
});
const sendHere = onEthereum({
  ...{ txHash: burnAttempt(into).hash, nonce: 21n, outgoing: true, fee: gas },
  changes: [
    { asset: 'coin', amount: -fee_stroops, counterparty: adapter },
    { asset: ethereumUsdt.token.address, amount: -units, counterparty: adapter },
  ],
});

function grounds(here: Shown, there: Shown): readonly Ground[] {
  const [ethereum, base] = shown;
  const held = (holds: Readonly<Record<string, bigint>>, { changes, fee, outgoing }: Shown) => {
    const sums: Record<string, bigint> = { ...holds };
    if (outgoing) sums['coin'] = (sums['coin'] ?? 0n) - fee;
    for (const { asset, amount } of changes) sums[asset] = (sums[asset] ?? 0n) + amount;
    return sums;
  };
  const opened = { [usdt]: opening, coin: 100_000_000n };
  return [
    { ...ethereum, transactions: [...ethereum.transactions, here], holds: held(ethereum.holds, here) },
    base,
    { chainId: 1500, account, transactions: [there], holds: held(opened, there) },
  ];
}

const logOf = (order: typeof outOf): readonly Said[] => [
  ...honest,
  ...books(1500, { [usdt]: String(opening), coin: '100000000' }, account),
  ...on(stream, ...lifeOf(order)),
];
const tell = async (log: readonly Said[], all: readonly Ground[]) =>
  pointed(await audit({ log: written(log), grounds: all }));

describe('the audit of rebalances by USDT0 with Stellar', () => {
  it('finds nothing in honest moves in both directions', async () => {
    assert.deepEqual(await tell(logOf(outOf), grounds(arrivalHere, sendThere(honestSend))), []);
    assert.deepEqual(await tell(logOf(into), grounds(sendHere, arrivalThere())), []);
  });

  it('finds a message that kept other lumens than the log states', async () => {
    const other = sendThere([honestSend[0] ?? assert.fail(), coinTo(-fee_stroops)]);
    const found = await tell(logOf(outOf), grounds(arrivalHere, other));
    assert.ok(
      found.some((each) => each.startsWith('costWrong')),
      found.join(),
    );
  });

  it('finds a send that burned another amount, and an arrival of less', async () => {
    const [burned, ...coins] = honestSend;
    const more = sendThere([{ ...(burned ?? assert.fail()), amount: -2n * unitsThere }, ...coins]);
    assert.notDeepEqual(await tell(logOf(outOf), grounds(arrivalHere, more)), []);
    const less = instead([...logOf(into)], stream, 'MintedByOther', () => ({ received: '999999990' }));
    const found = await tell(less, grounds(sendHere, arrivalThere(999_999_990n)));
    assert.ok(
      found.some((each) => each.startsWith('transitOpen')),
      found.join(),
    );
  });

  it('finds an arrival that Stellar does not have', async () => {
    const found = await tell(logOf(into), grounds(sendHere, arrivalThere(unitsThere - 10n)));
    assert.ok(found.includes(`inflowUnrecorded books-1500-${account} -`), found.join());
  });
});
