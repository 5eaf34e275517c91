import assert from 'node:assert/strict';
import { isRefusal } from '../../domain/decider.ts';
import { endRelay, relay, relayIdOf } from '../../domain/relay/relay.ts';
import { hour_ms, minute_ms } from '../../domain/time.ts';
import {
  baseUsdc,
  confirmed,
  detected,
  ethereumUsdc,
  funded,
  minute,
  solanaUsdc,
  stellarUsdc,
} from '../support/payments.ts';
import { accepted, Crashed } from '../support/processes.ts';
import { appId, paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer } from '../support/x402.ts';

const gasHour = 'relayGas-2026-11-21T09';

describe('accepting an authorization', () => {
  it('orders a relay to the payment’s deposit, for the amount due, under the payment’s next number', async () => {
    const { accept, signed, relay, simulated } = await opened();
    const payer = anyPayer();
    const answer = await accept(await signed(payer));
    assert.ok(!isRefusal(answer));
    assert.deepEqual(answer.result, { kind: 'pending', hash: null });
    const { ordered } = (await relay(1)) ?? assert.fail();
    const { amount, receiver, form } = ordered;
    assert.deepEqual(
      [amount, receiver, form.payer, form.costMax],
      ['10010000', form.deposit.address, payer.address, '1500'],
    );
    assert.equal(simulated.length, 1);
  });

  it('once: a repeat in another process finds it and calls no node', async () => {
    const { accept, signed, simulated, typesIn } = await opened();
    const sent = await signed();
    const [first, second] = [
      await accept(sent),
      await accept({ ...sent, signature: sent.signature.toUpperCase().replace('0X', '0x') }),
    ];
    assert.deepEqual(second, first);
    assert.equal(simulated.length, 1);
    assert.deepEqual(await typesIn(`relay-${relayIdOf(paymentId, 1)}`), ['RelayOrdered']);
    assert.deepEqual(await typesIn(gasHour), ['RelayGasReserved']);
  });

  it('only one, if many are sent at once, by the same payer or by others', async () => {
    const { outcome, signed, relay } = await opened();
    const payer = anyPayer();
    const all = await Promise.all([payer, payer, anyPayer(), anyPayer()].map((each) => signed(each)));
    const outcomes = await Promise.all(all.map(outcome));
    assert.deepEqual(outcomes.toSorted(), [...Array(3).fill('duplicate_settlement'), 'pending']);
    assert.equal(await relay(2), null);
  });

  it('not another one while one may still move money, nor after it did', async () => {
    const { outcome, signed, record, paidBy, start, clock } = await opened();
    const payer = anyPayer();
    const first = await signed(payer);
    await outcome(first);
    assert.equal(await outcome(await signed()), 'duplicate_settlement');
    const end = { reason: 'superseded', detail: 'by somebody', now: clock.now() } as const;
    await accepted(
      start()(relay, relayIdOf(paymentId, 1), (state) => endRelay(state, end), { cause: 'worker:test', appId }),
    );
    assert.equal(await outcome(await signed()), 'duplicate_settlement');
    const transfer = paidBy(payer.address);
    await record([detected(transfer)]);
    assert.equal(await outcome(await signed()), 'duplicate_settlement');
    await record([confirmed(transfer), funded([transfer])]);
    assert.equal(await outcome(first), 'paid');
    assert.equal(await outcome(await signed()), 'payment_over');
  });

  it('another one after one that failed, up to ten', async () => {
    const { outcome, signed, start, clock } = await opened();
    for (let number = 1; number <= 10; number += 1) {
      assert.equal(await outcome(await signed()), 'pending', String(number));
      const end = { reason: 'drained', detail: 'nothing there', now: clock.now() } as const;
      await accepted(
        start()(relay, relayIdOf(paymentId, number), (state) => endRelay(state, end), { cause: 'worker:test', appId }),
      );
    }
    assert.equal(await outcome(await signed()), 'payment_over');
  });

  it('not for a payment that is paid, over, nearly over, or has money already', async () => {
    const nearly = await opened();
    nearly.time.now = minute(60);
    assert.equal(await nearly.outcome(await nearly.signed()), 'payment_over');
    nearly.time.now = minute(61);
    assert.equal(await nearly.outcome(await nearly.signed()), 'payment_over');
    const partly = await opened();
    await partly.record([detected({ ...partly.paidBy(anyPayer().address), amount: '5000000' })]);
    assert.equal(await partly.outcome(await partly.signed()), 'payment_over');
    assert.deepEqual((await partly.desk())?.offers, []);
  });

  it('not if the payment supports none: of any amount, from another family, or from a token whose domain differs', async () => {
    for (const sketch of [
      { type: 'anyAmount' },
      { from: solanaUsdc },
      { from: stellarUsdc },
      { from: ethereumUsdc },
    ] as const) {
      const { outcome, signed, desk } = await opened({ sketch });
      assert.deepEqual((await desk())?.offers, [], JSON.stringify(sketch));
      assert.equal(await outcome(await signed()), 'invalid_network');
    }
    const differs = await opened();
    differs.around.offers = false;
    assert.equal(await differs.outcome(await differs.signed()), 'invalid_network');
  });

  it('to the deposit alone that its payer signed for: not if a page has disclosed another one meanwhile', async () => {
    const { outcome, signed, relay, around } = await opened({ sketch: { from: solanaUsdc, alternatives: [baseUsdc] } });
    const sent = await signed();
    around.discloses = (derived) => ({ ...derived, address: anyPayer().address });
    assert.equal(await outcome(sent), 'invalid_exact_evm_payload_recipient_mismatch');
    assert.equal(await relay(1), null);
    around.discloses = (derived) => derived;
    assert.equal(await outcome(sent), 'pending');
  });

  it('calls no node for an obviously wrong one', async () => {
    const { outcome, signed, simulated, accept, clock } = await opened();
    const good = await signed();
    const wrong = [
      { ...good, signature: `0x${'11'.repeat(65)}` },
      { ...good, signature: `${good.signature}00` },
      { ...good, value: '1' },
      { ...good, value: '0x98bd90' },
      { ...good, to: good.from },
      { ...good, validBefore: '1' },
      { ...good, validBefore: 'soon' },
      { ...good, validBefore: '' },
      { ...good, validBefore: '0x6923d9ad' },
      { ...good, validBefore: '-1' },
      { ...good, validAfter: 'now' },
      { ...good, validAfter: 'now', validBefore: String(Math.floor(Date.parse(clock.now()) / 1_000) - 60) },
      { ...good, nonce: '0x1' },
      await signed(undefined, { value: '10010001' }),
    ];
    for (const each of wrong) assert.match(await outcome(each), /^invalid_/);
    assert.deepEqual(simulated, []);
    const unknown = await accept(good, { of: '0198f3c2-0000-8000-8000-00000000dead' });
    assert.equal(isRefusal(unknown) && unknown.refused, 'paymentNotFound');
  });

  it('states why the token would refuse it, and orders nothing', async () => {
    const { outcome, signed, around, relay, typesIn } = await opened();
    const told = [];
    for (const ends of ['superseded', 'cancelled', 'expired', 'drained', 'refused', 'gas'] as const) {
      around.ends = ends;
      told.push(await outcome(await signed()));
    }
    assert.deepEqual(told, [
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_nonce_already_used',
      'invalid_exact_evm_payload_authorization_valid_before',
      'invalid_exact_evm_insufficient_balance',
      'invalid_exact_evm_transaction_simulation_failed',
      'gas_limit',
    ]);
    assert.equal(await relay(1), null);
    assert.deepEqual(await typesIn(gasHour), []);
  });

  it('counts money that somebody else moved with it before, and sends nothing', async () => {
    const { outcome, signed, around, relay, typesIn, record, paidBy } = await opened();
    const payer = anyPayer();
    const sent = await signed(payer);
    around.ends = 'superseded';
    around.movedBy = `0x${'ab'.repeat(32)}`;
    assert.equal(await outcome(sent), 'pending');
    assert.equal(await outcome(sent), 'pending');
    assert.deepEqual([around.claimed, around.registered], [[around.movedBy], [around.movedBy]]);
    assert.equal((await relay(1))?.ended?.reason, 'superseded');
    assert.deepEqual(await typesIn(gasHour), []);
    const transfer = paidBy(payer.address);
    await record([detected(transfer), confirmed(transfer), funded([transfer])]);
    assert.equal(await outcome(sent), 'paid');
  });

  it('refuses money that an operator has given to another receiver, each time', async () => {
    const { outcome, signed, around, relay } = await opened();
    const sent = await signed();
    around.ends = 'superseded';
    around.movedBy = `0x${'ab'.repeat(32)}`;
    around.givenElsewhere = true;
    for (const _ of [1, 2]) assert.equal(await outcome(sent), 'invalid_exact_evm_nonce_already_used');
    assert.deepEqual([around.registered, await relay(1)], [[], null]);
  });

  it('finds the money that had funded the payment before its header arrived, also after its time', async () => {
    const { outcome, signed, around, record, paidBy, pass } = await opened();
    const payer = anyPayer();
    const sent = await signed(payer);
    const transfer = paidBy(payer.address);
    await record([detected(transfer), confirmed(transfer), funded([transfer])]);
    pass(20 * minute_ms);
    // The same header with an unused nonce moved no money.
    assert.equal(await outcome(sent), 'payment_over');
    around.ends = 'superseded';
    around.movedBy = transfer.txHash;
    assert.equal(await outcome(sent), 'paid');
    assert.equal(await outcome(await signed()), 'payment_over');
  });

  it('makes a payment only for an authorization that can pay it, and one after a crash', async () => {
    const { relays, draftOf, signed, around, typesIn, crashing } = await opened({ stored: false });
    const draft = draftOf();
    const created = async () => (await typesIn(`payment-${paymentId}`)).length;
    const by = { cause: 'payer' } as const;
    const { signal } = new AbortController();
    const sent = await signed();
    const outcome = async (of = draft, with_ = relays) => {
      const answer = await with_.accept(paymentId, sent, by, signal, of);
      return isRefusal(answer) ? answer.fault : answer.result.kind;
    };
    for (const ends of ['drained', 'cancelled', 'superseded', 'refused'] as const) {
      around.ends = ends;
      assert.match(await outcome(), /^invalid_/);
    }
    around.ends = null;
    assert.equal(await outcome({ ...draft, isFresh: false }), 'payment_over');
    assert.equal(await created(), 0);
    await assert.rejects(outcome(draft, crashing('relay.afterCreate')), Crashed);
    assert.equal(await created(), 1);
    assert.deepEqual(await Promise.all([outcome(), outcome()]), ['pending', 'pending']);
    assert.equal(await created(), 1);
  });

  it('shows the nonce that the server chose, the same until a relay failed, another one for each payment', async () => {
    const { desk, signed, outcome } = await opened();
    const nonceOf = async () => (await desk())?.offers[0]?.nonce;
    const first = await nonceOf();
    assert.match(first ?? '', /^0x[0-9a-f]{64}$/);
    assert.equal(await nonceOf(), first);
    assert.equal(await outcome(await signed(undefined, { nonce: first as `0x${string}` })), 'pending');
  });
});

describe('costs of relays', () => {
  it('one that costs more than its limit, or than the fee and the subsidy, is refused by name', async () => {
    for (const [limits, words] of [
      [{ perRelay_microUsd: 1_499n }, /the limit is \$0.001499/],
      // The fee of the payment is one cent.
      [{ aboveFee_microUsd: 0n }, /its fee pays \$0.01/],
    ] as const) {
      const { accept, signed, around, relay } = await opened({ limits });
      if ('aboveFee_microUsd' in limits) around.cost = 7_000n;
      const answer = await accept(await signed());
      assert.ok(isRefusal(answer));
      assert.deepEqual([answer.refused, answer.fault], ['relayTooDear', 'gas_limit']);
      assert.match(answer.message, words);
      assert.equal(await relay(1), null);
    }
  });

  it('rent counts in the limits of a relay and of an hour, and not against the payment’s fee', async () => {
    for (const [limits, outcome] of [
      [{ aboveFee_microUsd: 0n }, 'pending'],
      [{ perRelay_microUsd: 501_499n }, 'gas_limit'],
      [{ perPayerHour_microUsd: 501_499n }, 'gas_limit'],
      [{ perPayerHour_microUsd: 501_500n }, 'pending'],
    ] as const) {
      const { outcome: outcomeOf, signed, around } = await opened({ limits });
      around.rent = 500_000n;
      assert.equal(await outcomeOf(await signed()), outcome, JSON.stringify(Object.keys(limits)));
    }
  });

  for (const limit of ['perHour_microUsd', 'perAppHour_microUsd', 'perPayerHour_microUsd'] as const)
    it(`${limit}: a used-up budget refuses until the hour is over, and crashes free nothing twice`, async () => {
      const { accept, signed, start, clock, pass, relay: relayOf } = await opened({ limits: { [limit]: 4_000n } });
      const payer = anyPayer();
      const next = async (number: number) => {
        const answer = await accept(await signed(payer));
        if (isRefusal(answer)) return answer;
        const end = { reason: 'drained', detail: 'nothing there', now: clock.now() } as const;
        const facts = { cause: 'worker:test', appId } as const;
        await accepted(start()(relay, relayIdOf(paymentId, number), (state) => endRelay(state, end), facts));
        return null;
      };
      const died = await signed(payer);
      await assert.rejects(accept(died, { at: 'relay.afterReserve' }), Crashed);
      assert.equal(await relayOf(1), null);
      assert.ok(!isRefusal(await accept(died)));
      const end = { reason: 'drained', detail: 'nothing there', now: clock.now() } as const;
      await accepted(
        start()(relay, relayIdOf(paymentId, 1), (state) => endRelay(state, end), { cause: 'worker:test', appId }),
      );
      assert.equal(await next(2), null);
      const full = await next(3);
      assert.deepEqual([full?.refused, full?.fault, full?.retryAfter_s], ['rateLimited', 'gas_limit', 59 * 60]);
      // The payment is open for one hour only.
      pass(hour_ms - 2 * minute_ms);
      assert.equal((await next(3))?.fault, 'gas_limit');
    });
});

async function opened(options?: Parameters<typeof relayDesk>[0]) {
  const desk = await relayDesk(options);
  return { ...desk, simulated: desk.around.simulated };
}
