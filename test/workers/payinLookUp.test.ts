import assert from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { Ingester } from '../../commands/chainPorts.ts';
import { currentState } from '../../commands/handle.ts';
import type { ChainId } from '../../domain/chains.ts';
import { fold } from '../../domain/decider.ts';
import type { PaymentEvent, Transfer } from '../../domain/payment/events.ts';
import { registerPayin } from '../../domain/payment/payins.ts';
import { paymentDecider } from '../../domain/payment/state.ts';
import { viewOf } from '../../domain/payment/view.ts';
import { createConfirmationGate } from '../../src/workers/payins/confirmation.ts';
import { createPayinLookUp, parkedPayinKey, parkedPayinsWorker } from '../../src/workers/payins/lookUp.ts';
import { Unproven } from '../../src/workers/payins/range.ts';
import {
  chose,
  created,
  customerWallet,
  depositOn,
  detected,
  minute,
  paid,
  payin,
  polygonUsdc,
  solanaUsdc,
  terms,
  unpaid,
} from '../support/payments.ts';
import { accepted, processes } from '../support/processes.ts';

const { paymentId } = terms();
const { signal } = new AbortController();
const ownMemo = '4711';
const ours = { paymentId, appId: 'wallet_demo', address: 'GSHARED', memo: ownMemo, agreed_usd: 11n };
const item = { key: parkedPayinKey(paymentId, payin().txHash) };

describe('trying a set-aside transfer again', () => {
  it('records it as detected, for the final passes to confirm', async () => {
    const { act, phases } = await world(unpaid, [payin(), { ...payin({ index: 1 }), to: customerWallet }]);
    await act();
    assert.deepEqual(await phases(), ['detected']);
    await act();
    assert.deepEqual(await phases(), ['detected']);
  });

  it('changes nothing about a transfer that is confirmed by now', async () => {
    const { act, phases } = await world(paid, [payin()]);
    await act();
    assert.deepEqual(await phases(), ['confirmed']);
  });

  it('fails, to be tried again, while the chain returns no such transfer', async () => {
    const { act } = await world(unpaid, []);
    await assert.rejects(act(), /shows no transfer/);
  });
});

describe('trying unmatched money again on which nodes disagreed', () => {
  const stray = { ...payin(), to: 'GSHARED', memo: null };

  it('records it for an operator once they agree, and not before', async () => {
    const { act, around } = await world(unpaid, [stray, payin({ index: 1 })], parkedPayinKey(null, stray.txHash));
    around.agreed = false;
    await assert.rejects(act(), Unproven);
    assert.deepEqual(around.unmatched, []);
    around.agreed = true;
    await act();
    assert.deepEqual(around.unmatched, [stray]);
  });

  it('assigns it to the payment whose memo the nodes return by now: one of them had omitted it', async () => {
    const { act, around, phases } = await world(
      unpaid,
      [{ ...stray, memo: ownMemo }],
      parkedPayinKey(null, stray.txHash),
    );
    around.agreed = false;
    await act();
    assert.deepEqual(await phases(), ['detected']);
    around.agreed = true;
    await act();
    assert.deepEqual(await phases(), ['confirmed']);
    assert.deepEqual(around.unmatched, []);
  });
});

describe('looking up a registered payin', () => {
  const { txHash } = payin();
  const elsewhere = { ...payin(), to: customerWallet };

  interface Shown {
    readonly succeeded: boolean;
    readonly transfers: readonly Transfer[];
  }

  /** @param others answers of other chains */
  async function lookedUp(
    shown: Shown,
    others: ReadonlyMap<ChainId, Shown> = new Map(),
    history: readonly PaymentEvent[] = unpaid,
  ) {
    const { start, clock, typesIn } = processes();
    const handle = start();
    await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId: null }));
    const hint = { txHash, senderAddress: customerWallet, now: minute(1) };
    await accepted(
      handle(paymentDecider, paymentId, (state) => registerPayin(state, hint), { cause: 'worker:test', appId: null }),
    );
    const asked: ChainId[] = [];
    const ingesterOf = (chainId: ChainId, { transfers, succeeded }: Shown) =>
      ({
        chainId,
        async lookUp() {
          asked.push(chainId);
          return transfers;
        },
        hasSucceeded: async () => succeeded,
      }) as Partial<Ingester> as Ingester;
    const all: readonly (readonly [ChainId, Shown])[] = [[8453, shown], ...others];
    const ingesters = new Map(all.map(([chainId, each]) => [chainId, ingesterOf(chainId, each)]));
    const lookUp = createPayinLookUp({ handle, clock, ingesters, signal });
    const payment = async () => (await currentState(start(), paymentDecider, paymentId)) ?? assert.fail();
    lookUp(await payment(), txHash);
    // The look-up reports no end. Everything here is in memory, so it ends within some turns of the event loop.
    for (let turns = 0; turns < 200; turns += 1) await turn();
    return {
      payment: await payment(),
      types: (await typesIn(`payment-${paymentId}`)).slice(history.length + 1),
      start,
      asked,
    };
  }

  for (const [name, transfers] of [
    ['transfers another token', []],
    ['pays somebody else', [elsewhere]],
  ] as const)
    it(`states that the transaction contains no accepted token when it ${name}`, async () => {
      const { payment, types } = await lookedUp({ succeeded: true, transfers });
      assert.deepEqual(types, ['RegisteredPayinEmpty']);
      const { errorMessage, errorCode, status } = viewOf(payment, minute(2));
      assert.match(errorMessage ?? '', new RegExp(`${txHash} contains no accepted token`));
      assert.deepEqual([errorCode, status], [null, 'payment_unpaid']);
      // A payin that is found later still counts, and another transaction may be registered.
      const paid = fold(paymentDecider, [
        ...unpaid,
        { type: 'RegisteredPayinEmpty', data: { txHash, foundAt: minute(2) } },
        detected(),
      ] as readonly PaymentEvent[]);
      assert.equal(paid && viewOf(paid, minute(3)).errorMessage, null);
      const another = registerPayin(payment, {
        txHash: `0x${'cd'.repeat(32)}`,
        senderAddress: customerWallet,
        now: minute(3),
      });
      assert.ok(Array.isArray(another) && another.length === 1);
    });

  describe('for a payment that can be paid from several chains', () => {
    const nothing: Shown = { succeeded: false, transfers: [] };
    const empty: Shown = { succeeded: true, transfers: [] };
    const several: readonly PaymentEvent[] = [created({ alternatives: [polygonUsdc, solanaUsdc] })];

    it('states it where the transaction is on another chain than its own', async () => {
      const { types, payment } = await lookedUp(nothing, new Map([[137, empty]]), several);
      assert.deepEqual(types, ['RegisteredPayinEmpty']);
      assert.match(viewOf(payment, minute(2)).errorMessage ?? '', /contains no accepted token/);
    });

    it('queries no chain on which the payer knows no address, and names each address that they know', async () => {
      const before = await lookedUp(nothing, new Map([[501, empty]]), several);
      assert.deepEqual([before.types, before.asked.includes(501)], [[], false]);
      const after = await lookedUp(nothing, new Map([[501, empty]]), [...several, chose(solanaUsdc)]);
      assert.deepEqual(after.types, ['RegisteredPayinEmpty']);
      const { errorMessage } = viewOf(after.payment, minute(2));
      assert.match(errorMessage ?? '', new RegExp(`${terms().deposit.address} or ${depositOn('solana').address}`));
    });

    it('records a payin on another chain', async () => {
      const there = payin({ in: polygonUsdc });
      const { types } = await lookedUp(nothing, new Map([[137, { succeeded: true, transfers: [there] }]]), several);
      assert.deepEqual(types, ['PayinDetected']);
    });
  });

  it('states nothing while no node returns the transaction as successful', async () => {
    const { types, payment } = await lookedUp({ succeeded: false, transfers: [] });
    assert.deepEqual([types, viewOf(payment, minute(2)).errorMessage], [[], null]);
  });

  it('records the payin', async () => {
    const { types, payment } = await lookedUp({ succeeded: true, transfers: [elsewhere, { ...payin(), index: 1 }] });
    assert.deepEqual([types, viewOf(payment, minute(2)).errorMessage], [['PayinDetected'], null]);
  });
});

async function world(history: typeof paid, transfers: readonly Transfer[], key = item.key) {
  const around = { agreed: true, unmatched: [] as Transfer[] };
  const { start, clock } = processes();
  const handle = start();
  await accepted(handle(paymentDecider, paymentId, () => history, { cause: 'worker:test', appId: null }));
  const ingester = {
    chainId: 8453,
    passes: ['final'],
    largeFrom: null,
    exposureMax_usd: null,
    sharedAddresses: ['GSHARED'],
    lookUp: async () => transfers,
    agreed: async () => ({ agreed: around.agreed }),
  } as Partial<Ingester> as Ingester;
  const worker = parkedPayinsWorker({
    handle,
    clock,
    ingester,
    confirmationGate: createConfirmationGate({ ingester, clock, unfinalised: async () => 0n, alarm: () => {} }),
    caughtUp: async () => {},
    matchDeposits: async (places) => (places.some(({ memo }) => memo === ownMemo) ? [ours] : []),
    unmatched: async (transfer) => around.unmatched.push(transfer) > 0,
    payinsInBlocks: async () => [],
    payinsAbove: async () => [],
    lost: () => {},
    beyond: () => {},
    park: async () => assert.fail('it is set aside already'),
    setAside: async () => {},
    stray: () => {},
    setUnreadableAside: async () => {},
    due: async () => [{ key }],
  });
  return {
    around,
    act: () => worker.act({ key }, signal),
    phases: async () => (await currentState(handle, paymentDecider, paymentId))?.payins.map(({ phase }) => phase),
  };
}
