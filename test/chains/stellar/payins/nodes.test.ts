import assert from 'node:assert/strict';
import { Memo } from '@stellar/stellar-sdk';
import { transferOf } from '../../../../commands/chainPorts.ts';
import { transferId } from '../../../../domain/payment/events.ts';
import { instant } from '../../../../domain/time.ts';
import { forgetBefore } from '../../../../sandbox/stellar/controls.ts';
import { ChainUnavailable } from '../../../../src/chains/node/nodes.ts';
import { createStellarIngester } from '../../../../src/chains/stellar/payins/ingester.ts';
import { type Behaviour, broken, honest, Refusal, startProxy } from '../../proxy.ts';
import { type StellarWorld, scanned, signal, stellarWorld } from '../world.ts';

describe('reading payins from several Stellar nodes', () => {
  let world: StellarWorld;
  before(async () => {
    world = await stellarWorld();
  });
  after(() => world.lab.stop());

  /** Has no data after a ledger. For its range it may report the real head, as several nodes behind one URL do. */
  const laggingAt =
    (ledger: number, claims: 'itsOwnHead' | 'theRealHead'): Behaviour =>
    async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (method === 'getTransaction' && claims === 'itsOwnHead') return { ...answer, latestLedger: ledger };
      if (method !== 'getEvents') return answer;
      const events = (answer['events'] as { ledger: number }[]).filter((event) => event.ledger <= ledger);
      return { ...answer, events, latestLedger: ledger };
    };

  for (const claims of ['itsOwnHead', 'theRealHead'] as const) {
    it(`do not move the cursor past their knowledge when they lag and claim ${claims}`, async () => {
      const from = world.here();
      const proxy = await startProxy(world.stellar.rpcUrl, laggingAt(Number(from.blockNumber), claims));
      await world.send('1', Memo.text('late'));
      const alone = scanned(world.config([proxy.url]), from);
      if (claims === 'theRealHead') await assert.rejects(alone, ChainUnavailable);
      else assert.deepEqual((await alone).ranges, []);
      const other = await startProxy(world.stellar.rpcUrl);
      const { logs } = await scanned(world.config([proxy.url, world.stellar.rpcUrl, other.url]), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['late'],
      );
    });
  }

  describe('with one that lies', () => {
    const hides: Behaviour = async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (method === 'getEvents') return { ...answer, events: [] };
      return method === 'getTransactions' ? { ...answer, transactions: [] } : answer;
    };

    it('about a fabricated payment are refuted by as many nodes as must agree, and by nothing less', async () => {
      const from = world.here();
      const nodes = [await startProxy(world.stellar.rpcUrl), await startProxy(world.stellar.rpcUrl)] as const;
      await world.send('1', Memo.text('real'));
      const [log] = (await scanned(world.config([world.stellar.rpcUrl]), from)).logs;
      assert.ok(log);
      const real = { ...log, transferId: transferId(transferOf(1500, log)) };
      const txHash = '12'.repeat(32);
      const madeUp = { ...real, txHash, transferId: `1500:${txHash}:0` };
      const ingester = createStellarIngester(world.config(nodes.map(({ url }) => url)));
      assert.equal(await ingester.hasLeft(real, signal), false);
      assert.equal(await ingester.hasLeft(madeUp, signal), true);
      assert.equal(await ingester.hasLeft({ ...real, transferId: `1500:${log.txHash}:7` }, signal), true);
      nodes[1].behave(laggingAt(Number(from.blockNumber) - 1, 'itsOwnHead'));
      assert.equal(await ingester.hasLeft(madeUp, signal), false, 'the other does not know the ledger');
      nodes[1].behave(broken);
      assert.equal(await ingester.hasLeft(madeUp, signal), false, 'the other does not answer');
    });

    it('about no transactions, nor events, are not trusted if another returns some', async () => {
      const from = world.here();
      const [proxy, other] = [await startProxy(world.stellar.rpcUrl, hides), await startProxy(world.stellar.rpcUrl)];
      await world.send('1', Memo.text('hidden'));
      const { logs } = await scanned(world.config([proxy.url, other.url]), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['hidden'],
      );
    });

    it('are not trusted in that while the other does not answer, either: the hidden payins would be skipped', async () => {
      const from = world.here();
      const [liar, other] = [await startProxy(world.stellar.rpcUrl, hides), await startProxy(world.stellar.rpcUrl)];
      await world.send('1', Memo.text('hidden'));
      other.behave(broken);
      await assert.rejects(scanned(world.config([liar.url, other.url]), from), /no other node says so/);
      other.behave(honest);
      const { logs } = await scanned(world.config([liar.url, other.url]), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['hidden'],
      );
    });

    /** Reports ledgers that have not closed, and times in the future. */
    const ahead =
      (ledgers: number, seconds: number): Behaviour =>
      async (method, params, forward) => {
        const asked = params as { startLedger?: number };
        const unborn = asked.startLedger !== undefined && asked.startLedger > Number(world.here().blockNumber);
        const startLedger = Number(world.here().blockNumber);
        const answer = (await forward(
          method,
          unborn ? ({ ...asked, startLedger, endLedger: startLedger + 1 } as never) : params,
        )) as Record<string, unknown>;
        if (!('latestLedger' in answer)) return answer;
        return {
          ...answer,
          latestLedger: Number(answer['latestLedger']) + ledgers,
          latestLedgerCloseTime: String(Number(answer['latestLedgerCloseTime']) + seconds),
          ...(method === 'getEvents' && { cursor: '9'.repeat(19).concat('-0000000000') }),
        };
      };

    for (const [what, ledgers, seconds] of [
      ['that ledgers have closed which have not', 1_000, 5_000],
      ['that the newest ledger closed later than it did', 0, 3_600],
    ] as const) {
      it(`(${what}) do not move the cursor, which ends payments, further than another node’s ledger`, async () => {
        const from = world.here();
        const liar = await startProxy(world.stellar.rpcUrl, ahead(ledgers, seconds));
        await world.send('1', Memo.text('in time'));
        const { cursor, logs } = await scanned(world.config([liar.url, world.stellar.rpcUrl]), from);
        const head = world.stellar.chain.history.head();
        assert.deepEqual(
          [cursor.blockNumber, cursor.chainTime],
          [BigInt(head.sequence), instant(head.closedAt_s * 1_000)],
        );
        assert.equal(logs.length, 1);
      });
    }

    it('about the time of a ledger that others have passed do not move it either', async () => {
      const from = world.here();
      const liar = await startProxy(world.stellar.rpcUrl, ahead(0, 3_600));
      await world.send('1');
      const other = await startProxy(world.stellar.rpcUrl);
      const config = world.config([liar.url, world.stellar.rpcUrl, other.url]);
      const at = world.here().blockNumber;
      const behind: Behaviour = async (method, params, forward) => {
        const answer = (await ahead(0, 60)(method, params, forward)) as Record<string, unknown>;
        return 'latestLedger' in answer ? { ...answer, latestLedger: Number(at) } : answer;
      };
      liar.behave(behind);
      world.stellar.closeLedgers(1, 5);
      await world.send('1');
      const { ranges } = await scanned(config, from);
      const head = world.stellar.chain.history.head();
      assert.ok(ranges.every(({ next }) => next.chainTime <= instant(head.closedAt_s * 1_000)));
      assert.equal(ranges.at(-1)?.next.blockNumber, BigInt(head.sequence));
    });
  });

  for (const [told, wrong] of [
    ['an event', { ledgerClosedAt: 'soon' }],
    ['its newest ledger', { latestLedgerCloseTime: '99999999999999999999' }],
  ] as const)
    it(`are replaced by the others if they report an impossible time, ${told}`, async () => {
      const from = world.here();
      const wrongly: Behaviour = async (method, params, forward) => {
        const answer = (await forward(method, params)) as Record<string, unknown>;
        const events = answer['events'];
        const shown = Array.isArray(events) ? { events: events.map((event) => ({ ...event, ...wrong })) } : {};
        return { ...answer, ...shown, ...wrong };
      };
      const proxy = await startProxy(world.stellar.rpcUrl, wrongly);
      await world.send('1', Memo.text('timely'));
      const { logs } = await scanned(world.config([proxy.url, world.stellar.rpcUrl]), from);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['timely'],
      );
    });

  it('are replaced by the others when they fail; when all fail the chain is unavailable', async () => {
    const from = world.here();
    const proxy = await startProxy(world.stellar.rpcUrl, broken);
    await world.send('1', Memo.text('through'));
    const { logs } = await scanned(world.config([proxy.url, world.stellar.rpcUrl]), from);
    assert.equal(logs.length, 1);
    await assert.rejects(scanned(world.config([proxy.url]), from), ChainUnavailable);
  });

  it('must agree, two of them, before a payin counts; one that lags or has forgotten is named separately', async () => {
    const from = world.here();
    const proxy = await startProxy(world.stellar.rpcUrl);
    await world.send('1', Memo.text('agreed'));
    const [log] = (await scanned(world.config(), from)).logs;
    assert.ok(log);
    const transfer = transferOf(1500, log);
    const ingester = createStellarIngester(world.config([world.stellar.rpcUrl, proxy.url]));
    const ask = (each = transfer) => ingester.agreed(each, { pass: 'final', usd: 10n }, new AbortController().signal);
    assert.deepEqual(await ask(), { agreed: true });
    const reasonOf = async (each = transfer) => (await ask(each)).dispute?.reason;
    assert.equal(await reasonOf({ ...transfer, memo: 'another' }), 'nodesDisagree');
    const missing = { hash: '1'.repeat(64) } as never;
    proxy.behave(async (method, params, forward) => forward(method, method === 'getTransaction' ? missing : params));
    assert.equal(await reasonOf(), 'nodesDisagree');
    proxy.behave(async (method, params, forward) => {
      const answer = (await forward(method, method === 'getTransaction' ? missing : params)) as object;
      return { ...answer, latestLedger: Number(transfer.blockNumber) - 1 };
    });
    assert.equal(await reasonOf(), 'nodesTooFew');
  });

  it('begin at the earliest reported ledger, whichever node is called first', async () => {
    const from = world.here();
    await world.send('1', Memo.text('early'));
    world.stellar.closeLedgers(1, 3_600);
    const at = instant(world.stellar.chain.history.head().closedAt_s * 1_000 - 60_000);
    await world.send('1', Memo.text('wanted'));
    /** Reports its newest ledger as its oldest. */
    const late: Behaviour = async (method, params, forward) => {
      const answer = (await forward(method, params)) as Record<string, unknown>;
      if (!('latestLedger' in answer)) return answer;
      return {
        ...answer,
        oldestLedger: answer['latestLedger'],
        oldestLedgerCloseTime: answer['latestLedgerCloseTime'],
      };
    };
    const liar = await startProxy(world.stellar.rpcUrl, late);
    for (const urls of [
      [liar.url, world.stellar.rpcUrl],
      [world.stellar.rpcUrl, liar.url],
    ]) {
      const ingester = createStellarIngester(world.config(urls));
      const begun = await ingester.start('final', at, signal);
      assert.ok(begun.blockNumber >= from.blockNumber && begun.chainTime <= at, String(begun.blockNumber));
    }
    const away = await startProxy(world.stellar.rpcUrl, broken);
    const alone = createStellarIngester(world.config([away.url, liar.url]));
    await assert.rejects(alone.start('final', at, signal), ChainUnavailable);
  });

  it('are not trusted if they are of another network', async () => {
    await assert.rejects(scanned(world.config(undefined, { networkPassphrase: 'Other' }), world.here()), /network/);
  });

  it('without events for classic payments are not trusted', async () => {
    await world.send('1');
    const blind: Behaviour = async (method, params, forward) => {
      const answer = (await forward(method, params)) as { transactions?: object[] };
      if (method !== 'getTransactions') return answer;
      return { ...answer, transactions: answer.transactions?.map((one) => ({ ...one, events: {} })) };
    };
    const proxy = await startProxy(world.stellar.rpcUrl, blind);
    await assert.rejects(scanned(world.config([proxy.url]), world.here()), /CAP-67/);
  });

  describe('ledgers that a node has forgotten', () => {
    const forgetful =
      (oldest: number): Behaviour =>
      async (method, params, forward) => {
        const { startLedger } = params as { startLedger?: number };
        if (startLedger !== undefined && startLedger < oldest)
          throw new Refusal(-32600, 'startLedger must be within range');
        const answer = (await forward(method, params)) as object;
        return 'oldestLedger' in answer ? { ...answer, oldestLedger: oldest } : answer;
      };

    it('are read from another one that has them', async () => {
      const from = world.here();
      await world.send('1', Memo.text('remembered'));
      world.stellar.closeLedgers(10);
      const proxy = await startProxy(world.stellar.rpcUrl, forgetful(Number(from.blockNumber) + 5));
      const { logs, missed } = await scanned(world.config([proxy.url, world.stellar.rpcUrl]), from);
      assert.equal(logs.length, 1);
      assert.deepEqual(missed, []);
    });

    it('are not given up if some of the nodes behind one URL have them', async () => {
      const own = await stellarWorld();
      const from = own.here();
      await own.send('1', Memo.text('kept by some'));
      own.stellar.closeLedgers(10);
      let calls = 0;
      const short = forgetful(Number(from.blockNumber) + 5);
      const honest: Behaviour = (method, params, forward) => forward(method, params);
      const proxy = await startProxy(own.stellar.rpcUrl, (...call) =>
        (Math.floor(++calls / 5) % 2 ? honest : short)(...call),
      );
      const memos: (string | null)[] = [];
      let cursor = from;
      for (let looks = 0; looks < 40 && cursor.blockNumber < own.here().blockNumber; looks++) {
        const seen = await scanned(own.config([proxy.url]), cursor).catch((error: unknown) => {
          assert.ok(error instanceof ChainUnavailable);
          return undefined;
        });
        assert.deepEqual(seen?.missed ?? [], []);
        memos.push(...(seen?.logs.map(({ memo }) => memo) ?? []));
        cursor = seen?.cursor ?? cursor;
      }
      assert.deepEqual(memos, ['kept by some']);
      await own.lab.stop();
    });

    it('hold the cursor while a node that may have them does not answer', async () => {
      const from = world.here();
      world.stellar.closeLedgers(10);
      const [proxy, down] = [
        await startProxy(world.stellar.rpcUrl, forgetful(Number(from.blockNumber) + 5)),
        await startProxy(world.stellar.rpcUrl, broken),
      ];
      await assert.rejects(scanned(world.config([proxy.url, down.url]), from), ChainUnavailable);
    });

    it('are reported, from which to which, when no node has them; the scan continues after them', async () => {
      const own = await stellarWorld();
      const from = own.here();
      await own.send('1', Memo.text('forgotten'));
      own.stellar.closeLedgers(10);
      await own.send('1', Memo.text('kept'));
      await forgetBefore(own.stellar.rpcUrl, Number(from.blockNumber) + 5);
      const { logs, missed, cursor } = await scanned(own.config(), from);
      assert.deepEqual(missed, [{ from: from.blockNumber + 1n, to: from.blockNumber + 4n }]);
      assert.deepEqual(
        logs.map(({ memo }) => memo),
        ['kept'],
      );
      assert.equal(cursor.blockNumber, own.here().blockNumber);
      await own.lab.stop();
    });
  });
});
