/** Rebalances by burn and mint: the audit compares both chains with the log, and finds money that is lost or forged in between. */
import assert from 'node:assert/strict';
import type { DomainEvent } from '../../../domain/decider.ts';
import { fast } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceEvent } from '../../../domain/rebalance/events.ts';
import { baseUsdc, hashOf, minute } from '../../support/payments.ts';
import {
  attested,
  burnAttempt,
  burnConfirmed,
  burnSigned,
  messageOf,
  mintAttempt,
  mintConfirmed,
  mintSigned,
  move,
  ordered,
} from '../../support/rebalances.ts';
import { gas, honest, instead, moved, on, onBase, shown, thief, usdc, withCost, without } from './honest.ts';
import { audit, block, type Ground, pointed, type Said, type Shown, written } from './world.ts';

const stream = 'rebalance-r1';
const nobody = `0x${'0'.repeat(40)}`;
/** 100 USDC, fast, from Base to Ethereum; Circle takes 0.02 of it. */
const order = move({ amount: '100000000', orderedAt: minute(60) }, { finality: fast, feeMax: '100000' });
const fee = { feeExecuted: 20_000n, finalityExecuted: fast } as const;
const received = '99980000';
const burn = { ...burnAttempt(order), nonce: '21' };
const mint = { ...mintAttempt(order, 1, received), nonce: '22' };

const life: readonly DomainEvent[] = [
  ordered(order),
  { ...burnSigned(order), data: burn } as RebalanceEvent,
  withCost(burnConfirmed()),
  attested(order, fee),
  { ...mintSigned(order), data: mint } as RebalanceEvent,
  withCost(mintConfirmed(received)),
];
const said: readonly Said[] = [...honest, ...on(stream, ...life)];

const burnShown = onBase(moved(burn.hash, 9, '-100.00', order.route.minter, { ...block(300), nonce: 21n }));
const mintShown = (txHash = mint.hash, over: Partial<Shown> = {}): Shown =>
  moved(txHash, 9, '99.98', nobody, { ...block(300), outgoing: true, fee: gas, ...over });

/** Both chains with the transactions of the move, and the balances of the accounts. */
function chains(source: readonly Shown[], destination: readonly Shown[]): readonly Ground[] {
  const [ethereum, base] = shown;
  const held = (ground: Ground, asset: string, extra: readonly Shown[]): Ground => {
    const units = extra.flatMap(({ changes }) => changes).reduce((sum, change) => sum + change.amount, 0n);
    const paid = extra.reduce((sum, each) => sum + (each.outgoing ? each.fee : 0n), 0n);
    const { coin = 0n, [asset]: token = 0n } = ground.holds;
    const holds = { [asset]: token + units, coin: coin - paid };
    return { ...ground, transactions: [...ground.transactions, ...extra], holds };
  };
  return [held(ethereum, usdc.address, destination), held(base, baseUsdc.token.address, source)];
}

const at = (events: readonly Said[]): readonly Said[] =>
  events.map((each) => {
    const data = { ...each.event.data } as Record<string, unknown>;
    if (each.stream === stream && 'blockNumber' in data)
      Object.assign(data, { blockNumber: '300', blockHash: hashOf('block', 300) });
    return { ...each, event: { ...each.event, data } };
  });

const tell = async (events: readonly Said[], grounds: readonly Ground[] = chains([burnShown], [mintShown()])) =>
  pointed(await audit({ log: written(at(events)), grounds }));

describe('the audit of rebalances', () => {
  it('finds nothing in an honest move', async () => {
    assert.deepEqual(await tell(said), []);
  });

  it('finds nothing while the money is in transit', async () => {
    const report = await audit({
      log: written(at(without(said, stream, 'BurnAttested', 'MintSigned', 'MintConfirmed'))),
      grounds: chains([burnShown], []),
    });
    assert.deepEqual(pointed(report), []);
  });

  it('finds nothing if somebody else submitted the message', async () => {
    const other = hashOf('other');
    const event: RebalanceEvent = {
      type: 'MintedByOther',
      data: { hash: other, blockNumber: '300', blockHash: hashOf('block', 300), received, seenAt: minute(70) },
    };
    const log = [...without(said, stream, 'MintSigned', 'MintConfirmed'), ...on(stream, event)];
    const landedThere = mintShown(other, { outgoing: false, fee: 0n });
    assert.deepEqual(await tell(log, chains([burnShown], [landedThere])), []);
    const less = instead(log, stream, 'MintedByOther', () => ({ received: '99970000' }));
    const found = await tell(less, chains([burnShown], [landedThere]));
    assert.ok(found.includes(`transitOpen ${stream} 4`), found.join());
  });

  it('finds a mint that brought less than was burned', async () => {
    const log = instead(said, stream, 'MintConfirmed', () => ({ received: '90000000' }));
    const short = mintShown(mint.hash, {
      changes: [{ asset: usdc.address, amount: 90_000_000n, counterparty: nobody }],
    });
    const found = await tell(log, chains([burnShown], [short]));
    assert.ok(found.includes(`transitOpen ${stream} 5`), found.join());
  });

  it('finds a mint that the log states and the chain does not have', async () => {
    const found = await tell(said, chains([burnShown], []));
    assert.ok(
      found.some((each) => each.startsWith('settlementForged') && each.includes(stream)),
      found.join(),
    );
  });

  it('finds a burn that paid somebody instead', async () => {
    const stolen = onBase(moved(burn.hash, 9, '-100.00', thief, { ...block(300), nonce: 21n }));
    const found = await tell(said, chains([stolen], [mintShown()]));
    assert.ok(
      found.some((each) => each.startsWith('outflowElsewhere') && each.includes(stream)),
      found.join(),
    );
  });

  it('finds a burn of another amount than the log states', async () => {
    const more = onBase(moved(burn.hash, 9, '-120.00', order.route.minter, { ...block(300), nonce: 21n }));
    const found = await tell(said, chains([more], [mintShown()]));
    assert.ok(
      found.some((each) => each.startsWith('outflowElsewhere') && each.includes(stream)),
      found.join(),
    );
  });

  it('finds a message that is not that of the burn', async () => {
    for (const change of [
      { mintRecipient: '11'.repeat(32) },
      { amount: 90_000_000n },
      { messageSender: '11'.repeat(32) },
      { destinationDomain: 3 },
      { burnToken: '11'.repeat(32) },
    ]) {
      const log = instead(said, stream, 'BurnAttested', () => ({ message: messageOf(order, { ...fee, ...change }) }));
      assert.deepEqual(await tell(log), [`mintForged ${stream} 3`], Object.keys(change).join());
    }
  });

  it('finds a fee above the limit of the order', async () => {
    const log = instead(said, stream, 'RebalanceOrdered', () => ({ route: { ...order.route, feeMax: '10000' } }));
    const found = await tell(log);
    assert.ok(found.includes(`transitOpen ${stream} 3`), found.join());
  });

  it('finds a burn that was minted twice, or without an attestation', async () => {
    const twice: RebalanceEvent = {
      type: 'MintedByOther',
      data: {
        hash: hashOf('other'),
        blockNumber: '300',
        blockHash: hashOf('block', 300),
        received,
        seenAt: minute(70),
      },
    };
    const both = await tell(
      [...said, ...on(stream, twice)],
      chains([burnShown], [mintShown(), mintShown(hashOf('other'))]),
    );
    assert.ok(both.includes(`transitOpen ${stream} 6`), both.join());
    const none = await tell(without(said, stream, 'BurnAttested'));
    assert.ok(none.includes(`illegalEvent ${stream} 3`), none.join());
  });

  it('finds money that leaves for another account, or without the approval that it needs', async () => {
    const away = instead(said, stream, 'RebalanceOrdered', () => ({ to: { ...order.to, account: thief } }));
    const found = await tell(away);
    assert.ok(found.includes(`illegalEvent ${stream} 0`), found.join());
    const route = { ...order.route, minter: thief };
    const stolen = instead(said, stream, 'RebalanceOrdered', () => ({ route }));
    const signed = instead(stolen, stream, 'BurnSigned', () => ({ receiver: thief }));
    const shownSo = onBase(moved(burn.hash, 9, '-100.00', thief, { ...block(300), nonce: 21n }));
    assert.deepEqual(await tell(signed, chains([shownSo], [mintShown()])), [`outflowElsewhere ${stream} 0`]);
    const large = instead(said, stream, 'RebalanceOrdered', () => ({ approvals: 1 }));
    assert.deepEqual(await tell(large), [`approvalMissing ${stream} 1`]);
  });

  it('finds a burn behind its cancellation', async () => {
    const calledOff: RebalanceEvent = {
      type: 'RebalanceCalledOff',
      data: { reason: 'a test', by: 'ada', calledOffAt: minute(60) },
    };
    const first = said.findIndex((each) => each.stream === stream);
    const log = said.toSpliced(first + 1, 0, ...on(stream, calledOff));
    const found = await tell(log);
    assert.ok(found.includes(`illegalEvent ${stream} 2`), found.join());
  });
});
