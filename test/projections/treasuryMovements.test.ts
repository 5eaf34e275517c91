import assert from 'node:assert/strict';
import type { DomainEvent, StoredEvent } from '../../domain/decider.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import type { RebalanceEvent } from '../../domain/rebalance/events.ts';
import { rebalance } from '../../domain/rebalance/rebalance.ts';
import type { Cost } from '../../domain/transfer/shapes.ts';
import type { Row, SeenEventOf } from '../../projections/projection.ts';
import { treasuryMovements } from '../../projections/treasuryMovements.ts';
import * as p from '../support/payments.ts';
import * as r from '../support/rebalances.ts';

const account = p.treasuryAccount;
const usdc = p.ethereumUsdc.token.address;
const signing = p.attempt(1, { account });
const cost = { payer: account, fee: '21', rent: '5' };

/** Remaining rows after a payment's whole history, by asset and part. */
function rowsAfter(history: readonly PaymentEvent[]): Readonly<Record<string, Row>> {
  const rows: Record<string, Row> = {};
  let before = paymentDecider.initial;
  for (const [at, event] of history.entries()) {
    const after = paymentDecider.evolve(before, event);
    put(rows, { category: 'payment', event, before, after, stored: stored(`payment-1`, at, event) } as SeenEventOf);
    before = after;
  }
  return rows;
}

function put(rows: Record<string, Row>, seen: SeenEventOf): void {
  for (const change of treasuryMovements.project(seen)) {
    const row = 'row' in change ? change.row : change.key;
    const key = `${row['asset']} ${row['part']}`;
    if (change.op === 'remove') delete rows[key];
    else rows[key] = row;
  }
}

const stored = (stream: string, at: number, { type, data }: DomainEvent): StoredEvent => ({
  ...{ stream, revision: BigInt(at), position: BigInt(at), id: `event-${at}`, type, data },
  metadata: { prev: null, at: p.minute(at), cause: 'worker:test', appId: null, schemaVersion: 6 },
});

const amounts = (rows: Readonly<Record<string, Row>>) =>
  Object.fromEntries(Object.entries(rows).map(([key, { amount }]) => [key.replace(usdc, 'USDC'), amount]));

const settledWith = (more: Partial<Cost> = {}, block = 200) => {
  const event = p.settled(signing, block);
  assert.ok(event.type === 'PayoutConfirmed');
  return { ...event, data: { ...event.data, cost: { ...cost, ...more } } };
};

describe('the movements of the treasury', () => {
  const sent: readonly PaymentEvent[] = [...p.ordered, p.signed(signing)];
  const paymentId = p.paymentAfter(p.unpaid).terms.paymentId;

  it('are the money that left with a payout, its gas and its rent', () => {
    assert.deepEqual(amounts(rowsAfter([...sent, settledWith()])), {
      [`USDC ${paymentId}`]: '-10000000',
      'coin fee': '-21',
      'coin rent': '-5',
    });
  });

  it('exclude payins with addresses of their own: only a sweep moves those', () => {
    assert.deepEqual(rowsAfter(p.paid), {});
    const withMemo = { ...p.payin(), memo: '7' };
    const [row] = Object.values(rowsAfter([...p.unpaid, p.detected(withMemo), p.confirmed(withMemo)]));
    assert.deepEqual([row?.['kind'], row?.['amount'], row?.['account']], ['payin', withMemo.amount, withMemo.to]);
  });

  it('include a token’s own fee, or its shortfall', () => {
    assert.equal(amounts(rowsAfter([...sent, settledWith({ left: '10000003' })]))[`USDC ${paymentId}`], '-10000003');
    assert.equal(`USDC ${paymentId}` in amounts(rowsAfter([...sent, settledWith({ left: '0' })])), false);
  });

  it('disappear when the block leaves its chain, and return with the block that has it', () => {
    const orphaned = [...sent, settledWith(), p.unsettled(signing, 200)];
    assert.deepEqual(rowsAfter(orphaned), {});
    const again = rowsAfter([...orphaned, settledWith({}, 201)]);
    assert.equal(again['coin fee']?.['block_number'], '201');
  });

  it('are the gas of an attempt that was reverted, once for all that shared its nonce', () => {
    const landed = { hash: signing.hash, blockNumber: '199', blockHash: '0xb', cost: { payer: account, fee: '30' } };
    const proof = { ...p.reverted, landed };
    const bump = p.attempt(2, { account, nonce: signing.nonce });
    const rows = rowsAfter([...sent, p.signed(bump), p.died(1, proof), p.died(2, proof)]);
    assert.deepEqual(amounts(rows), { 'coin fee': '-30' });
    assert.equal(rows['coin fee']?.['kind'], 'payout');
  });

  it('are adopted transactions, the cancel of a nonce, and nothing for older events without the data', () => {
    const rows: Record<string, Row> = {};
    const of = (event: DomainEvent, at: number) =>
      put(rows, { category: 'treasury', event, stored: stored(`treasury-1-${account}`, at, event) } as SeenEventOf);
    of({ type: 'NonceUsedUp', data: { nonce: '7', detail: 'older', usedAt: p.minute(1) } }, 1);
    assert.deepEqual(rows, {});
    const landed = { hash: '0x0c', blockNumber: '9', blockHash: '0xb9', cost: { payer: account, fee: '4' } };
    of({ type: 'NonceUsedUp', data: { nonce: '8', detail: 'cancel', landed, usedAt: p.minute(2) } }, 2);
    assert.deepEqual([rows['coin fee']?.['kind'], rows['coin fee']?.['amount']], ['cancel', '-4']);
    const changes = [
      { asset: usdc, amount: '-50', counterparty: '0xB' },
      { asset: usdc, amount: '-7', counterparty: '0xC' },
      { asset: 'coin', amount: '0', counterparty: null },
    ];
    const data = { hash: '0x0d', nonce: '9', blockNumber: '11', blockHash: '0xb11', fee: '6', changes };
    of({ type: 'TransactionAdopted', data }, 3);
    assert.equal(rows[`${usdc} adopted`]?.['amount'], '-57');
    assert.equal(rows['coin fee']?.['tx_hash'], '0x0d');
    assert.equal('coin adopted' in rows, false);
  });
});

describe('the movements of a rebalance', () => {
  const landing = { blockNumber: '9', blockHash: p.hashOf('block', 9), cost };
  const withCost = (event: RebalanceEvent) => ({ ...event, data: { ...event.data, ...landing } }) as RebalanceEvent;
  const burned = [r.ordered(), r.burnSigned(), withCost(r.burnConfirmed())];
  const fee = { feeExecuted: 200n };
  const minting = [...burned, r.attested(r.move(), fee), r.mintSigned(r.move(), 1, '999999800')];
  const byOther = { hash: p.hashOf('other'), blockHash: p.hashOf('block', 12), seenAt: p.minute(9) };

  /** Sums of the token and of the coin, by chain. */
  function sumsAfter(history: readonly RebalanceEvent[]): Readonly<Record<string, bigint>> {
    const rows: Record<string, Row> = {};
    let before = rebalance.initial;
    for (const [at, event] of history.entries()) {
      const after = rebalance.evolve(before, event);
      const own: Record<string, Row> = {};
      const seen = {
        category: 'rebalance',
        event,
        before,
        after,
        stored: stored('rebalance-1', at, event),
      } as SeenEventOf;
      for (const change of treasuryMovements.project(seen)) {
        const row = 'row' in change ? change.row : change.key;
        const key = ['chain_id', 'account', 'tx_hash', 'asset', 'part'].map((name) => row[name]).join(' ');
        if (change.op === 'remove') delete rows[key];
        else own[key] = row;
      }
      Object.assign(rows, own);
      before = after;
    }
    const sums: Record<string, bigint> = {};
    for (const row of Object.values(rows)) {
      const key = `${row['chain_id']} ${row['asset'] === 'coin' ? 'coin' : 'token'}`;
      sums[key] = (sums[key] ?? 0n) + BigInt(String(row['amount']));
    }
    return sums;
  }

  it('are the burn on one chain and the mint, less the fee, on the other', () => {
    assert.deepEqual(sumsAfter(burned), { '8453 token': -1_000_000_000n, '8453 coin': -26n });
    assert.deepEqual(sumsAfter([...minting, withCost(r.mintConfirmed('999999800'))]), {
      ...{ '8453 token': -1_000_000_000n, '8453 coin': -26n },
      ...{ '1 token': 999_999_800n, '1 coin': -26n },
    });
  });

  it('disappear with their block, and have no gas if another party minted', () => {
    const settled = [...minting, withCost(r.mintConfirmed('999999800'))];
    const { hash } = r.landed('mint');
    const orphaned: RebalanceEvent = {
      type: 'MintOrphaned',
      data: { attempt: 1, hash, blockHash: landing.blockHash },
    };
    assert.equal(sumsAfter([...settled, orphaned])['1 token'], undefined);
    const other: RebalanceEvent = {
      type: 'MintedByOther',
      data: { ...byOther, blockNumber: '12', received: '999999800' },
    };
    const there = [...burned, r.attested(r.move(), fee), other];
    assert.equal(sumsAfter(there)['1 token'], 999_999_800n);
    assert.equal(sumsAfter(there)['1 coin'], undefined);
    assert.equal(sumsAfter([...there, { type: 'MintByOtherOrphaned', data: byOther }])['1 token'], undefined);
  });
});
