import assert from 'node:assert/strict';
import { fold } from '../../domain/decider.ts';
import { cancelSettlement, requestSettlement, setSettlement } from '../../domain/merchant/app.ts';
import type { MerchantEvent, SettlementWallet } from '../../domain/merchant/events.ts';
import { type MerchantState, merchant, pendingChange, settlementAt } from '../../domain/merchant/state.ts';
import { hour_ms, plus } from '../../domain/time.ts';
import { given, now, registered, settled, wallet } from '../support/bakery.ts';
import { stellarReceiver } from '../support/contractPayments.ts';
import { stellarUsdc } from '../support/payments.ts';

describe('the destination of an app’s payouts', () => {
  describe('settlement wallet', () => {
    it('is set, and set again only when it differs', () => {
      given([registered])
        .when((state) => setSettlement(state, wallet))
        .then([settled]);
      given([registered, settled])
        .when((state) => setSettlement(state, { ...wallet }))
        .thenNothing();
      const other = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000bb' };
      given([registered, settled])
        .when((state) => setSettlement(state, other))
        .then([{ type: 'SettlementWalletSet', data: other }]);
    });

    it('accepts a token of the catalogue by its contract, not by its symbol', () => {
      const fake = { ...wallet, token: { ...wallet.token, address: '0x00000000000000000000000000000000000000cc' } };
      given([registered])
        .when((state) => setSettlement(state, fake))
        .thenRefused('invalidRequest', /pays out no/);
      given([registered])
        .when((state) => setSettlement(state, { ...wallet, token: { ...wallet.token, decimals: 18 } }))
        .thenRefused('invalidRequest', /pays out no/);
    });

    it('accepts only a memo that its chain can carry', () => {
      given([registered])
        .when((state) => setSettlement(state, { ...wallet, receiverMemo: '7' }))
        .thenRefused('invalidRequest', /carry no memo/);
      const { chain, token } = stellarUsdc;
      const onStellar = { chainId: chain.id, token, receiverAddress: stellarReceiver, receiverMemo: 'x'.repeat(28) };
      given([registered])
        .when((state) => setSettlement(state, onStellar))
        .then([{ type: 'SettlementWalletSet', data: onStellar }]);
      given([registered])
        .when((state) => setSettlement(state, { ...onStellar, receiverMemo: 'x'.repeat(29) }))
        .thenRefused('invalidRequest', /28 bytes/);
    });
  });

  describe('a change of the settlement wallet', () => {
    const other = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000bb' };
    const third = { ...wallet, receiverAddress: '0x00000000000000000000000000000000000000cc' };
    const coolDown_ms = 48 * hour_ms;
    const due = plus(now, coolDown_ms);
    const ask =
      (to: SettlementWallet, at = now, changeId = 'change-1') =>
      (state: MerchantState) =>
        requestSettlement(state, { changeId, wallet: to, now: at, coolDown_ms });
    const requested: MerchantEvent = {
      type: 'SettlementChangeRequested',
      data: { changeId: 'change-1', wallet: other, effectiveAt: due },
    };
    const cancelled: MerchantEvent = { type: 'SettlementChangeCancelled', data: { changeId: 'change-1' } };
    const stateAfter = (...events: MerchantEvent[]) => fold(merchant, events);

    it('waits, except for the first wallet', () => {
      given([registered]).when(ask(wallet)).then([settled]);
      given([registered, settled]).when(ask(other)).then([requested]);
      given([registered, settled, requested])
        .when(ask(other, now, 'change-2'))
        .thenNothing();
    });

    it('is in force by time alone', () => {
      const state = stateAfter(registered, settled, requested);
      assert.deepEqual(settlementAt(state, plus(due, -1)), wallet);
      assert.equal(pendingChange(state, plus(due, -1))?.changeId, 'change-1');
      assert.deepEqual(settlementAt(state, due), other);
      assert.equal(pendingChange(state, due), null);
    });

    it('is called off while it waits, by its owner’s request or by requesting the wallet in force', () => {
      const past = [registered, settled, requested];
      given(past)
        .when((state) => cancelSettlement(state, plus(due, -1)))
        .then([cancelled]);
      given(past)
        .when(ask(wallet, now, 'change-2'))
        .then([cancelled]);
      assert.deepEqual(settlementAt(stateAfter(...past, cancelled), due), wallet);
    });

    it('is not called off once it is in force, or when there is none', () => {
      given([registered, settled, requested])
        .when((state) => cancelSettlement(state, due))
        .thenRefused('conflict');
      given([registered, settled])
        .when((state) => cancelSettlement(state, now))
        .thenRefused('conflict');
    });

    it('replaces one that waits, with its own time', () => {
      const at = plus(due, -1);
      const next: MerchantEvent = {
        type: 'SettlementChangeRequested',
        data: { changeId: 'change-2', wallet: third, effectiveAt: plus(at, coolDown_ms) },
      };
      given([registered, settled, requested])
        .when(ask(third, at, 'change-2'))
        .then([cancelled, next]);
      const state = stateAfter(registered, settled, requested, cancelled, next);
      assert.deepEqual(settlementAt(state, due), wallet);
      assert.deepEqual(settlementAt(state, plus(at, coolDown_ms)), third);
    });

    it('follows one that is in force', () => {
      const next: MerchantEvent = {
        type: 'SettlementChangeRequested',
        data: { changeId: 'change-2', wallet: third, effectiveAt: plus(due, coolDown_ms) },
      };
      given([registered, settled, requested])
        .when(ask(third, due, 'change-2'))
        .then([next]);
      assert.deepEqual(settlementAt(stateAfter(registered, settled, requested, next), due), other);
    });

    it('is overruled by the operator, at once', () => {
      const set: MerchantEvent = { type: 'SettlementWalletSet', data: third };
      given([registered, settled, requested])
        .when((state) => setSettlement(state, third))
        .then([set]);
      assert.deepEqual(settlementAt(stateAfter(registered, settled, requested, set), due), third);
      given([registered, settled, requested])
        .when((state) => setSettlement(state, wallet))
        .then([settled]);
    });

    it('needs a valid wallet, and an app', () => {
      given([registered, settled])
        .when(ask({ ...other, receiverMemo: '7' }))
        .thenRefused('invalidRequest', /carry no memo/);
      given([]).when(ask(wallet)).thenRefused('illegalStep');
    });
  });
});
