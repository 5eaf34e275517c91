import assert from 'node:assert/strict';
import type { Agreement, Cursor, Ingester, Pass, ScannedRange, Unreadable } from '../../commands/chainPorts.ts';
import { Unavailable } from '../../commands/ports.ts';
import { createPayment } from '../../domain/payment/create.ts';
import { type PaymentEvent, type Transfer, transferId } from '../../domain/payment/events.ts';
import { payinAddress } from '../../domain/payment/payins.ts';
import { type Payment, paymentDecider } from '../../domain/payment/state.ts';
import { type Instant, plus } from '../../domain/time.ts';
import type { MatchedDeposit, RecordedPayin } from '../../queries/payins.ts';
import { createConfirmationGate } from '../../src/workers/payins/confirmation.ts';
import { type PayinsDeps, payinsWorker } from '../../src/workers/payins/payins.ts';
import { append, createWorld } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { logOf, whereOf } from '../support/transferLogs.ts';

const { signal } = new AbortController();
const paymentId = p.terms().paymentId;
const ref = { paymentId, appId: 'wallet_demo' };
const at = (pass: Pass, block: number): Cursor => ({
  chainId: 8453,
  pass,
  blockNumber: BigInt(block),
  blockHash: p.hashOf('block', block),
  chainTime: p.minute(block / 20),
});

describe('watching a chain for payins', () => {
  it('begins, without a cursor, only once the read models know the oldest open payment', async () => {
    const { worker, around } = await watching([]);
    around.cursor = null;
    around.projected = false;
    await assert.rejects(worker.act('head', signal), Unavailable);
    assert.equal(around.startedAt, null);

    around.projected = true;
    await worker.act('head', signal);
    assert.equal(around.startedAt, p.created_at);
  });

  it('moves no cursor past a range that it could not match while the deposit index is missing', async () => {
    const { worker, around } = await watching([p.payin()]);
    around.projected = false;
    await assert.rejects(worker.act('head', signal), Unavailable);
    assert.equal(around.cursor?.blockNumber, 99n);
    assert.deepEqual((await around.payment()).payins, []);
  });

  it('funds a payment with final money, once, however often it is scanned', async () => {
    const { worker, around, restart } = await watching([p.payin()]);
    await worker.act('head', signal);
    assert.deepEqual(phases(await around.payment()), ['detected']);
    for (const again of [worker, restart()]) {
      around.cursor = at('final', 99);
      await again.act('final', signal);
    }
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
    assert.equal((await around.payment()).funded?.received, p.of('10.01'));
    assert.deepEqual(around.parked, []);
  });

  it('reports blocks that no node remembers before the cursor passes them', async () => {
    const { worker, around } = await watching([]);
    around.forgotten = { from: 100n, to: 104n };
    await worker.act('head', signal);
    assert.deepEqual(around.missed, [{ from: 100n, to: 104n, cursor: 99n }]);
    assert.equal(around.cursor?.blockNumber, 110n);
  });

  it('sets aside a deposit that the chain does not explain before the cursor continues without it', async () => {
    const { worker, around } = await watching([]);
    around.unexplained = ['deposit-1'];
    around.cursor = at('final', 99);
    await worker.act('final', signal);
    assert.deepEqual(around.setAside, ['deposit-1 at 99']);
    assert.equal(around.cursor?.blockNumber, 110n);
  });

  it('sets aside unreadable transactions that may have paid us, before the cursor advances; the rest of the range is recorded', async () => {
    const { worker, around } = await watching([p.payin()]);
    const [blockNumber, evidence] = [100n, 'meta is null'];
    around.unreadable = [
      { txHash: 'ours', blockNumber, evidence, addresses: [p.depositAddress, '0xELSEWHERE'] },
      { txHash: 'others', blockNumber, evidence, addresses: ['0xELSEWHERE'] },
      { txHash: 'shared', blockNumber, evidence, addresses: ['GSHARED'] },
      { txHash: 'nobody can tell', blockNumber, evidence, addresses: [] },
    ];
    around.cursor = at('final', 99);
    await worker.act('final', signal);
    assert.deepEqual(around.unread, [
      `ours of ${payinAddress(p.depositAddress, null).address} at 99`,
      'shared of  at 99',
      'nobody can tell of  at 99',
    ]);
    assert.equal(around.cursor?.blockNumber, 110n);
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('hands over money at a shared address without a payment’s memo, once it is final', async () => {
    const strays = [
      { ...p.payin({ tx: 'stray' }), to: 'GSHARED', memo: 'unknown' },
      { ...p.payin({ tx: 'large', amount: '1000.00' }), to: 'GSHARED' },
    ];
    const { worker, around } = await watching([...strays, { ...p.payin({ tx: 'other' }), to: 'GELSEWHERE' }]);
    const handed: Partial<Record<Pass, readonly string[]>> = {};
    for (const pass of ['head', 'final', 'finalLarge'] as const) {
      around.cursor = at(pass, 99);
      around.unmatched = [];
      await worker.act(pass, signal);
      handed[pass] = around.unmatched;
    }
    const [small, large] = strays.map(transferId);
    assert.deepEqual(handed, { head: [], final: [small], finalLarge: [large] });
    assert.deepEqual((await around.payment()).payins, []);
  });

  describe('when a detected payin is not among the final ones', () => {
    const seen = async () => {
      const watched = await watching([p.payin()]);
      await watched.worker.act('head', signal);
      [watched.around.onChain, watched.around.known] = [[], []];
      watched.around.cursor = at('final', 99);
      return watched;
    };

    it('orphans it when another block is where its block was', async () => {
      const { worker, around } = await seen();
      around.left = true;
      await worker.act('final', signal);
      assert.deepEqual(phases(await around.payment()), ['orphaned']);
    });

    it('leaves it pending while its block may hold it: a missing transaction on a node proves nothing', async () => {
      const { worker, around } = await seen();
      await worker.act('final', signal);
      assert.deepEqual(phases(await around.payment()), ['detected']);
      assert.equal(around.cursor?.blockNumber, 110n);
    });

    it('records it at its present place', async () => {
      const { worker, around } = await seen();
      around.known = [p.payin({ block: 104 })];
      await worker.act('final', signal);
      assert.deepEqual(phases(await around.payment()), ['confirmed']);
      assert.equal((await around.payment()).payins[0]?.transfer.blockNumber, '104');
    });
  });

  it('treats nothing as lost that the rows do not show as confirmed yet', async () => {
    const { worker, around } = await watching([p.payin()]);
    await worker.act('head', signal);
    around.cursor = at('final', 99);
    around.known = [];
    around.left = true;
    around.rowsBehind = true;
    await worker.act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });
});

describe('a final pass trusts', () => {
  const final = async (transfers: readonly Transfer[]) => {
    const watched = await watching(transfers);
    const { around, worker, clock } = watched;
    around.cursor = at('final', 99);
    const again = async (pass: Pass = 'final') => {
      clock.advance(60_000);
      around.cursor = at(pass, 109);
      await watched.restart().act(pass, signal);
    };
    return { ...watched, act: () => worker.act('final', signal), again };
  };
  const dispute = { reason: 'nodesDisagree', message: 'node 1: shows it; node 2: has no such transaction' } as const;

  it('no transfer that nodes disagree on: it is detected, reported, and queried again', async () => {
    const { act, again, around } = await final([p.payin()]);
    around.agreement = { agreed: false, dispute };
    await act();
    assert.deepEqual(phases(await around.payment()), ['detected']);
    assert.equal((await around.payment()).funded, null);
    assert.deepEqual(around.alarms, ['nodesDisagree']);
    await again();
    assert.deepEqual(phases(await around.payment()), ['detected']);
    around.agreement = { agreed: true };
    await again();
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('nothing in dispute and moves its cursor nevertheless: everything else continues', async () => {
    const { act, around } = await final([p.payin()]);
    around.agreement = { agreed: false, dispute };
    await act();
    assert.equal(around.cursor?.blockNumber, 110n);
  });

  it('transfers that enough nodes return, and reports the node that does not', async () => {
    const { act, around } = await final([p.payin()]);
    around.agreement = { agreed: true, dispute };
    await act();
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
    assert.deepEqual(around.alarms, ['nodesDisagree']);
  });

  it('nobody while too few nodes answer, and reports that when it lasts', async () => {
    const { act, around, worker, clock } = await final([p.payin()]);
    around.agreement = { agreed: false, dispute: { reason: 'nodesTooFew', message: '2 must, 1 can' } };
    await act();
    assert.deepEqual(around.alarms, []);
    clock.advance(15_000);
    around.head += 1n;
    await worker.act('final', signal);
    assert.deepEqual(around.alarms, ['nodesTooFew']);
    assert.deepEqual(phases(await around.payment()), ['detected']);
  });

  it('disputed transfers never, and queries them more and more rarely', async () => {
    const { act, around, worker, clock } = await final([p.payin()]);
    around.agreement = { agreed: false, dispute };
    await act();
    const before = around.asks;
    for (let block = 0; block < 600; block += 1) {
      clock.advance(1_000);
      around.head += 1n;
      await worker.act('final', signal);
    }
    assert.ok(around.asks - before < 20, `${around.asks - before} times in ten minutes`);
  });

  it('no unmatched money that nodes disagree on: it is set aside', async () => {
    const stray = { ...p.payin({ tx: 'stray' }), to: 'GSHARED', memo: 'unknown' };
    const { act, around } = await final([stray]);
    around.agreement = { agreed: false, dispute };
    await act();
    assert.deepEqual([around.unmatched, around.parked], [[], [stray.txHash]]);
  });

  it('small sums only up to a bound; payins beyond it wait for the deepest finality', async () => {
    const { act, again, around } = await final([p.payin()]);
    around.unfinalised = 9_995_000000n;
    await act();
    assert.deepEqual(phases(await around.payment()), ['detected']);
    assert.deepEqual(around.alarms, ['exposureCapped']);
    await again();
    assert.deepEqual(phases(await around.payment()), ['detected']);
    await again('finalLarge');
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('the sum of one range as a whole', async () => {
    const { act, around } = await final([p.payin({ tx: 'a', amount: '6.00' }), p.payin({ tx: 'b', amount: '6.00' })]);
    around.unfinalised = 9_990_000000n;
    await act();
    assert.deepEqual(phases(await around.payment()), ['confirmed', 'detected']);
  });
});

describe('a transfer that one node had attributed to this payment', () => {
  const told = p.payin();
  const others = { paymentId: '0198f3c2-0000-8000-8000-000000000002', appId: ref.appId };
  const othersDeposit = '0x15d34AAf54267DB7D7c367839AAf71A00a2C6A65';

  /** The head pass has the lie; later queries return `receiver`. */
  const lied = async (receiver: string) => {
    const watched = await watching([told]);
    const { around, worker } = watched;
    const deposit = { ...p.terms().deposit, address: othersDeposit };
    const created = createPayment(null, { ...p.terms(), paymentId: others.paymentId, deposit });
    await append(watched.world, `payment-${others.paymentId}`, created as readonly PaymentEvent[]);
    around.deposits.push({ ...others, ...payinAddress(othersDeposit, null), agreed_usd: 11n });
    await worker.act('head', signal);
    assert.deepEqual(phases(await around.payment()), ['detected']);
    around.known = [{ ...told, to: receiver }];
    around.onChain = [];
    const final = async () => {
      watched.clock.advance(60_000);
      around.cursor = at('final', 99);
      await watched.restart().act('final', signal);
    };
    return { ...watched, final };
  };

  it('funds the payment that enough nodes name, and leaves this one', async () => {
    const { around, final } = await lied(othersDeposit);
    await final();
    assert.deepEqual(phases(await around.payment()), ['orphaned']);
    assert.equal((await around.payment()).funded, null);
    assert.equal((await around.payment(others.paymentId)).funded?.received, p.of('10.01'));
    await final();
    assert.deepEqual(phases(await around.payment()), ['orphaned']);
  });

  it('funds neither while too few nodes agree', async () => {
    const { around, final } = await lied(othersDeposit);
    around.agreement = { agreed: false };
    await final();
    assert.deepEqual(phases(await around.payment()), ['detected']);
    assert.deepEqual(phases(await around.payment(others.paymentId)), ['detected']);
    around.agreement = { agreed: true };
    await final();
    assert.deepEqual(phases(await around.payment()), ['orphaned']);
  });

  it('is gone if it was made to a stranger, and kept for an operator if it was made to a shared address', async () => {
    const stranger = await lied(p.customerWallet);
    await stranger.final();
    assert.deepEqual(phases(await stranger.around.payment()), ['orphaned']);
    const shared = await lied('GSHARED');
    await shared.final();
    assert.deepEqual(phases(await shared.around.payment()), ['orphaned']);
    assert.ok(shared.around.unmatched.includes(transferId(told)));
  });
});

/** No node has its block, or the transaction, any more. */
const gone = { left: true, known: [] };

describe('money that has left its chain', () => {
  const fundedAt = async (block: number) => {
    const watched = await watching([p.payin({ block })]);
    watched.around.cursor = at('final', 99);
    await watched.worker.act('final', signal);
    return watched;
  };
  const forkAt = (block: number, ...orphaned: readonly string[]) => ({ orphaned, at: block });

  it('is reported when it had funded its payment, once', async () => {
    const { worker, around } = await fundedAt(105);
    around.fork = forkAt(100, p.payin({ block: 105 }).blockHash);
    Object.assign(around, gone);
    await worker.act('final', signal);
    await worker.act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
    assert.deepEqual(around.lost, [transferId(p.payin())]);
  });

  it('is not the transfer that a final pass alone names: no other pass would read it again', async () => {
    const { worker, around } = await fundedAt(105);
    around.fork = forkAt(100, p.payin({ block: 105 }).blockHash);
    around.cursor = at('finalLarge', 110);
    await worker.act('finalLarge', signal);
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('is found though the scan does not name its block any more, as after a restart', async () => {
    const { restart, around } = await fundedAt(105);
    around.fork = forkAt(100, p.hashOf('block', 110));
    Object.assign(around, gone);
    await restart().act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
  });

  it('is searched again: the nodes that reported it may have been wrong', async () => {
    const { restart, around, clock } = await fundedAt(105);
    around.fork = forkAt(100, p.hashOf('block', 110));
    Object.assign(around, gone);
    await restart().act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
    // The other chain continues beyond the transfer's block; then the node returns to the chain of all others.
    Object.assign(around, { fork: null, onChain: [], head: 111n });
    await restart().act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
    Object.assign(around, { left: false, known: [p.payin({ block: 105 })], head: 112n });
    clock.advance(60_000);
    await restart().act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('is found behind any number of transfers that are on the other branch as well', async () => {
    const { restart, around } = await fundedAt(105);
    around.others = Array.from({ length: 2_500 }, (_, n) => ({
      ...ref,
      ...{ transferId: `other-${n}`, txHash: `0x${n}` },
      ...{ blockNumber: 101n, blockHash: p.hashOf('block', 101), ...notLarge },
    }));
    around.fork = forkAt(100, p.hashOf('block', 110));
    Object.assign(around, gone);
    await restart().act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
  });

  it('is not a transfer below the fork, nor one that is on the other branch as well', async () => {
    const { worker, around } = await fundedAt(105);
    around.fork = forkAt(105, p.hashOf('block', 110));
    Object.assign(around, gone);
    await worker.act('final', signal);
    around.fork = forkAt(100, p.hashOf('block', 110));
    around.left = false;
    await worker.act('final', signal);
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });
});

describe('a fork of one node alone', () => {
  /** Funded by a transfer that the head pass has passed; then a node reports that its block left. */
  const forked = async () => {
    const watched = await watching([p.payin({ block: 105 })]);
    const { around, worker } = watched;
    around.cursor = at('final', 99);
    await worker.act('final', signal);
    around.cursor = at('head', 110);
    around.fork = { orphaned: [p.payin({ block: 105 }).blockHash], at: 100 };
    const finalAgain = async () => {
      Object.assign(around, { cursor: at('final', 110), head: 111n });
      await watched.restart().act('final', signal);
    };
    return { ...watched, finalAgain };
  };

  for (const point of ['payins.beforeCheckpoint', 'payins.afterCheckpoint'])
    it(`removes no money permanently, though the process ends at ${point}`, async () => {
      const { around, restart } = await forked();
      around.crashesAt = point;
      await assert.rejects(restart().act('head', signal), /crashed/);
      // The node is on the chain of all others again.
      Object.assign(around, { crashesAt: null, fork: null });
      await restart().act('head', signal);
      assert.deepEqual(phases(await around.payment()), ['confirmed']);
    });

  it('is read from again where it began: its removed transfers are detected again', async () => {
    const { around, restart, finalAgain } = await forked();
    await restart().act('head', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
    assert.equal(around.cursor?.blockNumber, 100n);
    around.fork = null;
    await restart().act('head', signal);
    await finalAgain();
    assert.deepEqual(phases(await around.payment()), ['confirmed']);
  });

  it('is found by the rows above the cursor, if the process ended before it recorded the removals', async () => {
    const { around, restart } = await forked();
    around.crashesAt = 'payins.afterCheckpoint';
    await assert.rejects(restart().act('head', signal), /crashed/);
    // The block really left, and no node names it any more.
    Object.assign(around, { crashesAt: null, fork: null, ...gone, onChain: [] });
    await restart().act('head', signal);
    assert.deepEqual(phases(await around.payment()), ['lost']);
    assert.deepEqual(around.lost, [transferId(p.payin())]);
  });
});

describe('a pass between two blocks', () => {
  /** Its cursor is saved at block 110 of a chain without transfers to us. */
  const caughtUp = async () => {
    const watched = await watching([]);
    watched.around.cursor = at('final', 99);
    const { worker, around, clock } = watched;
    await worker.act('final', signal);
    const grow = async (blocks: bigint) => {
      around.head += blocks;
      around.moves += 1;
      await worker.act('final', signal);
    };
    const due = async () => (await worker.due(10, clock.now())).includes('final');
    return { ...watched, grow, due };
  };

  it('is not due while the head does not change, except for a poll at intervals', async () => {
    const { worker, around, clock, due } = await caughtUp();
    assert.equal(await due(), false);
    assert.equal(worker.nextDue?.(clock.now()), plus(clock.now(), 10_000));
    around.moves += 1;
    assert.equal(await due(), true);
    around.moves -= 1;
    clock.advance(10_000);
    assert.equal(await due(), true);
  });

  it('remains due after it failed, and begins again where its cursor is saved', async () => {
    const { worker, around, due, grow } = await caughtUp();
    await grow(5n);
    around.broken = true;
    await assert.rejects(grow(1n), Unavailable);
    assert.equal(await due(), true);
    around.broken = false;
    await worker.act('final', signal);
    assert.deepEqual(around.scannedFrom.slice(-2), [115n, 110n]);
    assert.equal(around.cursor?.blockNumber, 116n);
  });

  it('keeps an empty range to itself, for ten seconds at most', async () => {
    const { around, clock, grow, worker } = await caughtUp();
    await grow(1n);
    await grow(1n);
    assert.deepEqual(around.scannedFrom.slice(-2), [110n, 111n]);
    assert.equal(around.cursor?.blockNumber, 110n);
    clock.advance(10_000);
    await worker.act('final', signal);
    assert.equal(around.cursor?.blockNumber, 112n);
  });

  it('saves its cursor at once when it found something', async () => {
    const { around, grow } = await caughtUp();
    around.forgotten = { from: 111n, to: 111n };
    await grow(1n);
    assert.equal(around.cursor?.blockNumber, 111n);
  });

  it('saves its cursor at once when it has passed the end of a payment', async () => {
    const { around, grow } = await caughtUp();
    around.nextExpiry = at('final', 112).chainTime;
    around.changes += 1;
    await grow(2n);
    assert.equal(around.cursor?.blockNumber, 110n);
    await grow(1n);
    assert.equal(around.cursor?.blockNumber, 113n);
  });

  it('reports the end of a payment once its cursor is saved past it, and each end once', async () => {
    const { around, grow, clock } = await caughtUp();
    around.endsPassed.length = 0;
    around.nextExpiry = at('final', 112).chainTime;
    around.changes += 1;
    await grow(2n);
    assert.deepEqual(around.endsPassed, []);
    await grow(1n);
    assert.deepEqual(around.endsPassed, [113n]);
    around.nextExpiry = null;
    clock.advance(10_000);
    await grow(1n);
    assert.deepEqual(around.endsPassed, [113n]);
  });

  it('reports it when it begins, too: a payment that ended while nobody watched is ended now', async () => {
    const { worker, around } = await watching([]);
    around.cursor = null;
    await worker.act('final', signal);
    assert.deepEqual(around.endsPassed, [110n]);
  });

  it('queries the read models only when they have changed, or half a minute after they may have', async () => {
    const { around, grow, clock } = await caughtUp();
    await grow(1n);
    const { asked } = around;
    await grow(1n);
    await grow(1n);
    assert.equal(around.asked, asked);
    around.changes += 1;
    await grow(1n);
    assert.equal(around.asked, asked + 1);
    clock.advance(30_000);
    await grow(1n);
    assert.equal(around.asked, asked + 2);
  });

  it('starts again where another instance has saved, once it finds that out', async () => {
    const { worker, around, grow, due } = await caughtUp();
    around.cursor = at('final', 150);
    around.forgotten = { from: 111n, to: 111n };
    await assert.rejects(grow(50n), /another instance/);
    assert.equal(around.cursor?.blockNumber, 150n);
    assert.equal(await due(), true);
    await worker.act('final', signal);
    assert.equal(around.scannedFrom.at(-1), 150n);
  });
});

const phases = ({ payins }: Payment) => payins.map(({ phase }) => phase);

/** One unpaid payment, and a chain whose blocks up to 110 contain these transfers. */
async function watching(transfers: readonly Transfer[]) {
  const world = createWorld();
  await append(world, `payment-${paymentId}`, p.unpaid);
  const around = {
    cursor: at('head', 99) as Cursor | null,
    startedAt: null as string | null,
    /** Transfers in the scan. */
    onChain: transfers,
    /** Transfers that a lookup of a transaction returns. */
    known: transfers,
    deposits: [{ ...ref, ...payinAddress(p.depositAddress, null), agreed_usd: 11n }] as MatchedDeposit[],
    left: false,
    agreement: { agreed: true } as Agreement,
    exposureMax_usd: 10_000n,
    /** Micro-USD. */
    unfinalised: 0n,
    alarms: [] as string[],
    /** Number of node queries about a transfer. */
    asks: 0,
    lost: [] as string[],
    /** Rows of other payments above a fork, in a block of both branches. */
    others: [] as RecordedPayin[],
    beyond: [] as string[],
    /** Blocks that the next scan reports as removed, and the fork's block. */
    fork: null as { readonly orphaned: readonly string[]; readonly at: number } | null,
    head: 110n,
    broken: false,
    /** Crash point of the process. */
    crashesAt: null as string | null,
    moves: 0,
    changes: 0,
    nextExpiry: null as Instant | null,
    /** Cursors at the reports that a payment's end has passed. */
    endsPassed: [] as bigint[],
    /** Number of reads of the expected payments. */
    asked: 0,
    scannedFrom: [] as bigint[],
    projected: true,
    rowsBehind: false,
    parked: [] as string[],
    unexplained: [] as string[],
    setAside: [] as string[],
    unreadable: [] as Unreadable[],
    /** Reports of unreadable transactions, with the cursor. */
    unread: [] as string[],
    unmatched: [] as string[],
    /** Blocks that no node has any more. */
    forgotten: undefined as ScannedRange['missed'],
    /** Reports of missed blocks, with the cursor. */
    missed: [] as object[],
    async payment(id = paymentId) {
      const found = await world.handle(paymentDecider, id, () => [], { cause: 'worker:test', appId: null });
      assert.ok('state' in found && found.state);
      return found.state;
    },
  };
  const ingester: Ingester = {
    chainId: 8453,
    passes: ['head', 'final', 'finalLarge'],
    largeFrom: 1_000n,
    exposureMax_usd: around.exposureMax_usd,
    sharedAddresses: ['GSHARED'],
    async start(pass, from) {
      around.startedAt = from;
      return at(pass, 99);
    },
    cursorAt: async (pass, block) => at(pass, Number(block)),
    async *scan({ pass, blockNumber }): AsyncIterable<ScannedRange> {
      around.scannedFrom.push(blockNumber);
      if (around.broken) throw new Unavailable('no node answers');
      const { forgotten: missed, head, fork, unexplained, unreadable } = around;
      if (fork) {
        yield { logs: [], orphaned: fork.orphaned, next: at(pass, fork.at) };
        return;
      }
      const logs = blockNumber < 110n ? around.onChain.map(logOf) : [];
      if (blockNumber < head)
        yield { logs, unexplained, unreadable, orphaned: [], next: at(pass, Number(head)), ...(missed && { missed }) };
    },
    resolve: async (log) => around.onChain.find(({ txHash }) => txHash === log.txHash),
    lookUp: async (txHash) => around.known.filter((transfer) => transfer.txHash === txHash),
    async agreed() {
      around.asks += 1;
      return around.agreement;
    },
    hasLeft: async ({ blockNumber }) =>
      around.left && !around.others.some((other) => other.blockNumber === blockNumber),
    head: async () => assert.fail('not asked for'),
    nodeHeads: [],
  };
  const pending = async (): Promise<readonly RecordedPayin[]> =>
    (await around.payment()).payins
      .filter(({ phase }) => phase !== 'confirmed' || around.rowsBehind)
      .map(({ transfer, phase }) => ({
        ...{ ...ref, ...whereOf(transfer), transferId: transferId(transfer), ...notLarge },
        left: phase === 'orphaned' || phase === 'lost',
      }));
  const recorded = async (): Promise<readonly RecordedPayin[]> =>
    (await around.payment()).payins
      .filter(({ phase }) => phase === 'detected' || phase === 'confirmed')
      .map(({ transfer }) => ({ ...ref, ...whereOf(transfer), transferId: transferId(transfer), ...notLarge }));
  const deps: PayinsDeps = {
    handle: world.handle,
    clock: world.clock,
    crash(point) {
      if (point === around.crashesAt) throw new Error('crashed');
    },
    ingester,
    async caughtUp() {
      if (!around.projected) throw new Unavailable('behind');
    },
    matchDeposits: async (places) =>
      around.deposits.filter((own) => places.some(({ address }) => address === own.address)),
    unmatched: async (transfer) => around.unmatched.push(transferId(transfer)) > 0,
    payinsInBlocks: async (hashes) => (await recorded()).filter(({ blockHash }) => hashes.includes(blockHash)),
    async payinsAbove(above, after, max) {
      const rows = [...around.others, ...(await recorded())].filter(({ blockNumber }) => blockNumber > above);
      const from = after ? rows.findIndex(({ transferId }) => transferId === after.transferId) + 1 : 0;
      return rows.slice(from, from + max);
    },
    confirmationGate: createConfirmationGate({
      ingester,
      clock: world.clock,
      async unfinalised() {
        const confirmed = (await around.payment()).payins.filter(({ phase }) => phase === 'confirmed');
        return around.unfinalised + confirmed.reduce((sum, { amount }) => sum + amount, 0n);
      },
      alarm: (reason) => void around.alarms.push(reason),
    }),
    lost: ({ transferId }) => void around.lost.push(transferId),
    beyond: ({ paymentId }) => void around.beyond.push(paymentId),
    async pendingPayins() {
      const rows = await pending();
      // The first query finds the rows of before the range; the wait in between updates them.
      around.rowsBehind = false;
      return rows;
    },
    moves: () => around.moves,
    changes: () => around.changes,
    async expected() {
      around.asked += 1;
      return { oldestPending: 0n, nextExpiry: around.nextExpiry };
    },
    loadCursor: async () => around.cursor,
    async saveCursor(next, previous) {
      if (around.cursor?.blockHash !== previous?.blockHash) throw new Error('another instance moved the cursor');
      around.cursor = next;
    },
    async endPassed() {
      around.endsPassed.push(around.cursor?.blockNumber ?? 0n);
    },
    park: async (_, txHash) => void around.parked.push(txHash),
    stray: () => {},
    setUnreadableAside: async (found) =>
      void around.unread.push(
        ...found.map(({ txHash, addresses }) => `${txHash} of ${addresses} at ${around.cursor?.blockNumber}`),
      ),
    setAside: async (address) => void around.setAside.push(`${address} at ${around.cursor?.blockNumber}`),
    missed: (blocks) => void around.missed.push({ ...blocks, cursor: around.cursor?.blockNumber }),
    startFrom: async () => p.created_at,
  };
  return { world, worker: payinsWorker(deps), around, clock: world.clock, restart: () => payinsWorker(deps) };
}

const notLarge = { large: false, agreed_usd: 11n, left: false };
