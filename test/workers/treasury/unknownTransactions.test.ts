import assert from 'node:assert/strict';
import type { AccountBalances, AccountTransaction } from '../../../commands/accountHistory.ts';
import { eventCodec } from '../../../commands/codec.ts';
import { createHandle } from '../../../commands/handle.ts';
import type { CrashPoint } from '../../../commands/ports.ts';
import type { Fate, Outgoing } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { day_ms, hour_ms, type Instant, minute_ms, plus } from '../../../domain/time.ts';
import { newLeg } from '../../../domain/transfer/leg.ts';
import { objectionTo, openTreasury } from '../../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { familyAddresses } from '../../../src/chains/families.ts';
import { randomIds } from '../../../src/process/system.ts';
import { type AdoptableTransaction, adopt } from '../../../src/workers/treasury/adopt.ts';
import { compareOutflows } from '../../../src/workers/treasury/outflows.ts';
import {
  type UnknownTransactionsDeps,
  unknownTransactions,
} from '../../../src/workers/treasury/unknownTransactions.ts';
import { createWorld } from '../../support/histories.ts';
import { patience_ms } from '../../support/patience.ts';
import * as p from '../../support/payments.ts';
import { Crashed, crashAt } from '../../support/processes.ts';

const account = p.treasuryAccount;
const ada = { cause: 'operator:ada' } as const;
const signal = AbortSignal.timeout(patience_ms);

const sent = (nonce: number | null, change: Partial<AccountTransaction> = {}): AccountTransaction => ({
  txHash: p.hashOf('by hand', nonce),
  blockNumber: 9n,
  blockHash: p.hashOf('block', 9),
  time: p.minute(2),
  nonce: nonce === null ? null : BigInt(nonce),
  outgoing: true,
  succeeded: true,
  fee: 21_000n,
  changes: [{ asset: p.ethereumUsdc.token.address, amount: -10_000_000n, counterparty: p.merchantWallet }],
  ...change,
});

/** A treasury on Ethereum whose log ends at nonce 7; the chain has mined the given transactions. On Solana it has no nonces. */
async function given(shown: readonly AccountTransaction[], { numbered = true, recorded = [] as string[] } = {}) {
  const world = createWorld();
  const chainId = numbered ? 1 : 501;
  const instance = treasuryInstance(chainId, account);
  const facts = { cause: 'worker:test', appId: null } as const;
  const opening = { chainId, account, minedNonce: 7n, now: p.minute(0) } as const;
  await world.handle(treasury, instance, (state) => openTreasury(state, opening), facts);
  world.clock.advance(10 * 60_000);
  const owing: { transfer?: Outgoing } = {};
  const payins: { readTo: Instant | null } = { readTo: p.minute(3) };
  const fate: { is: Fate } = { is: { kind: 'final', attempt: 1, ...sent(7), hash: sent(7).txHash } as Fate };
  const deps = {
    ...world,
    rail: {
      chainId,
      account,
      numbering: { kind: numbered ? 'nonce' : 'expiring', minedNonce: async () => BigInt(7 + shown.length) },
      fate: async () => fate.is,
    },
    history: {
      chainId,
      listsCoin: true,
      standing: async () => ({ blockNumber: 100n }),
      transactions: async () => ({ transactions: shown, next: null, complete: true }),
      finality: async () => 'final',
      ...(numbered && {
        withNonce: async ({ nonce }: { nonce: bigint }) => shown.find((each) => each.nonce === nonce),
      }),
    },
    owners: { payout: { load: async () => owing.transfer } },
    recorded: async () => new Set(recorded),
    toAsk: async () => [],
    addresses: familyAddresses,
    payinsReadTo: async () => payins.readTo,
    openTransfers: async () => (owing.transfer ? [owing.transfer.key] : []),
  } as unknown as UnknownTransactionsDeps & Parameters<typeof adopt>[0] & ReturnType<typeof createWorld>;
  return {
    deps,
    owing,
    payins,
    fate,
    state: async (): Promise<TreasuryState> => {
      const handled = await world.handle(treasury, instance, () => [], facts);
      return isRefusal(handled) ? assert.fail(handled.message) : handled.state;
    },
  };
}

const shownOf = async (deps: UnknownTransactionsDeps): Promise<readonly AdoptableTransaction[]> =>
  (await unknownTransactions(deps, signal)).found.filter(
    (each): each is AdoptableTransaction => each.transaction !== null,
  );

describe('transactions of the treasury that the log does not know', () => {
  it('are those whose nonces the log never assigned; adopted, they are known', async () => {
    const { deps, state } = await given([sent(7), sent(8)]);
    const found = await shownOf(deps);
    assert.deepEqual(
      found.map(({ nonce }) => nonce),
      [7n, 8n],
    );
    for (const each of found) assert.equal(await adopt(deps, each, { reason: 'our own' }, ada, signal), true);
    for (const each of found) assert.equal(await adopt(deps, each, { reason: 'again' }, ada, signal), false);
    assert.equal((await state()).nextNonce, 9n);
    assert.deepEqual(await shownOf(deps), []);
  });

  for (const point of ['TransactionAdopted.beforeAppend', 'TransactionAdopted.afterAppend']) {
    it(`are recorded once each, though the command dies at ${point}, of the first or of the next`, async () => {
      const { deps, state } = await given([sent(7), sent(8)]);
      const all = async (crash: CrashPoint) => {
        const handle = createHandle({ ...deps, ids: randomIds, codec: eventCodec, crash });
        for (const each of await shownOf(deps)) await adopt({ ...deps, handle }, each, { reason: 'ours' }, ada, signal);
      };
      for (const _ of ['first', 'next']) await assert.rejects(all(crashAt(point)), Crashed);
      await all(() => {});
      assert.deepEqual(
        (await state()).adopted.map(({ nonce }) => nonce),
        [7n, 8n],
      );
      const events = await deps.store.read(`treasury-${treasuryInstance(1, account)}`);
      assert.equal(events.filter(({ type }) => type === 'TransactionAdopted').length, 2);
    });
  }

  it('are listed without their effects if no node returns them', async () => {
    const { deps } = await given([sent(9)]);
    assert.deepEqual((await unknownTransactions(deps, signal)).found, [{ account, nonce: 7n, transaction: null }]);
  });

  it('wait until payins are read up to them if they moved money: the payments that they paid may not be known yet', async () => {
    const { deps, payins, state } = await given([sent(7), sent(8, { changes: [] })]);
    const [paying, idle] = await shownOf(deps);
    assert.ok(paying && idle);
    for (const readTo of [null, p.minute(1)]) {
      payins.readTo = readTo;
      const early = await adopt(deps, paying, { reason: 'our own' }, ada, signal);
      assert.match(isRefusal(early) ? early.message : '', /may have paid for what came before it/);
    }
    assert.equal((await state()).adopted.length, 0);
    assert.equal(await adopt(deps, paying, { reason: 'the rent', notAPayout: true }, ada, signal), true);
    assert.equal(await adopt(deps, idle, { reason: 'moved nothing' }, ada, signal), true);
  });

  it('are adopted only when an equal owed payment is on hold, or they were for something else', async () => {
    const { deps, owing, state } = await given([sent(7)]);
    const [found] = await shownOf(deps);
    assert.ok(found);
    const { token } = p.ethereumUsdc;
    const order = { chainId: 1, token, receiver: p.merchantWallet, receiverMemo: null, amount: 10_000_000n } as const;
    const transfer = {
      key: { kind: 'payout', id: 'p1', part: 1 },
      purpose: { kind: 'payout', reference: 'p1' },
      leg: newLeg(order),
      step: { do: 'sign' },
      mayOutbid: true,
    } as unknown as Outgoing;
    owing.transfer = transfer;
    const refused = await adopt(deps, found, { reason: 'our own' }, ada, signal);
    assert.ok(isRefusal(refused));
    assert.match(refused.message, /what payout p1 owes him: put that on hold first.*or he is paid again/);
    assert.equal((await state()).adopted.length, 0);
    owing.transfer = { ...transfer, leg: newLeg({ ...order, receiver: p.customerWallet }) };
    assert.equal(await adopt(deps, found, { reason: 'our own' }, ada, signal), true, 'another receiver');
    owing.transfer = { ...transfer, mayOutbid: false };
    assert.equal(await adopt(deps, found, { reason: 'our own' }, ada, signal), false, 'on hold: it was adopted');
  });

  it('may be for something else although an equal payment is owed', async () => {
    const { deps, owing } = await given([sent(7)]);
    const [found] = await shownOf(deps);
    assert.ok(found);
    owing.transfer = { key: { kind: 'payout', id: 'p1', part: 1 } } as unknown as Outgoing;
    assert.equal(await adopt(deps, found, { reason: 'our own', notAPayout: true }, ada, signal), true);
  });

  it('are not adopted before enough nodes return them as final, nor by the answer of a node that others contradict', async () => {
    const { deps, fate, state } = await given([sent(7)]);
    const [found] = await shownOf(deps);
    assert.ok(found);
    fate.is = { kind: 'pending', mined: true };
    const early = await adopt(deps, found, { reason: 'our own' }, ada, signal);
    assert.ok(isRefusal(early) && early.refused === 'unavailable');
    fate.is = { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'another one used it' } };
    const contradicted = await adopt(deps, found, { reason: 'our own' }, ada, signal);
    assert.ok(isRefusal(contradicted) && contradicted.refused === 'conflict');
    assert.equal((await state()).adopted.length, 0);
  });
});

describe('an outflow of the treasury while nothing watched', () => {
  it('stops the account until it is adopted if it is not recorded', async () => {
    const { deps, state } = await given([sent(null)], { numbered: false });
    assert.equal((await compareOutflows(deps, signal)).found.length, 1);
    await compareOutflows(deps, signal);
    const stopped = await state();
    assert.equal(stopped.outflows.length, 1, 'once');
    assert.match(objectionTo(stopped)?.message ?? '', /sent .* to 0x7099.*treasury -- adopt/);
    const [found] = await shownOf(deps);
    assert.ok(found);
    assert.equal(await adopt(deps, found, { reason: 'the rent, by hand' }, ada, signal), true);
    assert.equal(objectionTo(await state()), undefined);
    assert.equal((await compareOutflows(deps, signal)).found.length, 0);
  });

  it('stops nothing if it is recorded, moved nothing, failed, or is older than the account’s first payout', async () => {
    const { txHash } = sent(null);
    for (const [shown, recorded] of [
      [sent(null), [txHash]],
      [sent(null, { changes: [] }), []],
      [sent(null, { succeeded: false }), []],
      [sent(null, { outgoing: false }), []],
      [sent(null, { time: p.minute(-1) }), []],
    ] as const) {
      const { deps, state } = await given([shown], { numbered: false, recorded: [...recorded] });
      assert.deepEqual(await compareOutflows(deps, signal), { found: [], unseenBefore: null });
      assert.equal(objectionTo(await state()), undefined);
    }
  });

  it('is searched in no block that nodes have forgotten, and the first searched block is reported', async () => {
    const { deps } = await given([], { numbered: false });
    deps.clock.advance(2 * day_ms);
    const now = deps.clock.now();
    const from: bigint[] = [];
    const remembering = (ago_ms: number): UnknownTransactionsDeps => ({
      ...deps,
      history: {
        ...deps.history,
        standing: async () => ({ blockNumber: 1_000_000n }) as AccountBalances,
        oldest: async () => ({ blockNumber: 1_000_000n - BigInt(ago_ms / 400), time: plus(now, -ago_ms) }),
        async transactions(asked) {
          from.push(asked.from);
          return { transactions: [], next: null, complete: true };
        },
      },
    });
    const unseenBefore = async (ago_ms: number) => (await compareOutflows(remembering(ago_ms), signal)).unseenBefore;
    assert.equal(await unseenBefore(day_ms), null, 'some minutes more or less are nothing');
    assert.equal(await unseenBefore(3 * day_ms), null);
    assert.equal(await unseenBefore(hour_ms), plus(now, 5 * minute_ms - hour_ms));
    assert.equal(
      (await unknownTransactions(remembering(day_ms), signal)).unseenBefore,
      plus(now, 5 * minute_ms - day_ms),
    );
    const later = BigInt((5 * minute_ms) / 400);
    const edges = [day_ms, day_ms, hour_ms, day_ms].map((ago_ms) => 1_000_000n - BigInt(ago_ms / 400));
    assert.deepEqual(
      from,
      edges.map((edge, at) => (at === 1 ? edge : edge + later)),
    );
  });
});
