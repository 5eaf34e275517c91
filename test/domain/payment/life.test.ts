/** Arbitrary lives of a payment: no request in any order leads to an illegal state. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { eventCodec } from '../../../commands/codec.ts';
import { fold, isRefusal } from '../../../domain/decider.ts';
import { nextStep } from '../../../domain/payment/backing.ts';
import { type PaymentEvent, type PaymentEventType, paymentEventSchemas } from '../../../domain/payment/events.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import { transactionsOf } from '../../../domain/payment/transactions.ts';
import {
  type PaymentStatus,
  paymentStatuses,
  statusOf,
  terminalStatuses,
  viewOf,
} from '../../../domain/payment/view.ts';
import type { Instant } from '../../../domain/time.ts';
import { created, minute, type TermsSketch } from '../../support/payments.ts';
import { casesOfRound } from '../../support/properties.ts';
import { type Ask, advance, asks, sketches } from './life/asks.ts';
import { laws } from './life/laws.ts';

interface Life {
  readonly history: readonly PaymentEvent[];
  readonly payment: Payment;
}

/** Requests two minutes apart; in some lives they begin only after the expiry. */
interface Script {
  readonly sketch: TermsSketch;
  readonly from: number;
  readonly asks: readonly Ask[];
}

/** Maximum thousands of lives until every event has occurred. */
const thousandsMax = 10;

const timeOf = (script: Script, index: number) => minute(script.from + 2 * index);

function begin(sketch: TermsSketch): Life {
  const history = [created(sketch)];
  return { history, payment: fold(paymentDecider, history) as Payment };
}

/** Asks once, checks the laws at each event, then repeats the question. */
function happen({ history, payment }: Life, ask: Ask, now: Instant): Life {
  const question = ask.of(payment, now);
  const decision = question(payment);
  if (isRefusal(decision)) return { history, payment };
  const after = decision.reduce<Payment>((before, event) => {
    eventCodec.check('payment', event);
    const next = paymentDecider.evolve(before, event) as Payment;
    for (const law of Object.values(laws)) law({ before, event, after: next });
    return next;
  }, payment);
  const again = question(after);
  assert.ok(isRefusal(again) || again.length === 0, 'asked the same again, it decides nothing new');
  return { history: [...history, ...decision], payment: after };
}

const live = (script: Script): Life =>
  script.asks.reduce((life, ask, index) => happen(life, ask, timeOf(script, index)), begin(script.sketch));

const scripts: fc.Arbitrary<Script> = fc.record({
  sketch: fc.constantFrom(...sketches),
  from: fc.constantFrom(2, 70),
  asks: fc.array(asks, { maxLength: 50, size: 'max' }),
});

const forAll = (check: (life: Life, script: Script) => void, numRuns: number, round = 0): void =>
  fc.assert(
    fc.property(scripts, (script) => check(live(script), script)),
    { numRuns, ...casesOfRound(round) },
  );

describe('a payment’s life', () => {
  it('never gets into an illegal state', () => {
    const seen = { statuses: new Set<PaymentStatus>(), types: new Set<PaymentEventType>() };
    const look = ({ history }: Life) => {
      history.reduce<Payment | null>((payment, event) => {
        const next = paymentDecider.evolve(payment, event) as Payment;
        seen.types.add(event.type);
        seen.statuses.add(statusOf(next));
        return next;
      }, null);
    };
    const all = () =>
      seen.statuses.size === paymentStatuses.length && seen.types.size === Object.keys(paymentEventSchemas).length;
    forAll(look, 1_000);
    // The rarest event occurs in about one of two hundred lives, so a thousand lives may lack it.
    for (let thousands = 1; thousands < thousandsMax && !all(); thousands++) forAll(look, 1_000, thousands);
    assert.deepEqual([...seen.statuses].sort(), [...paymentStatuses].sort(), 'all statuses were met');
    assert.deepEqual([...seen.types].sort(), Object.keys(paymentEventSchemas).sort(), 'all events happened');
  });

  it('is read back from its stored JSON as the same payment', () => {
    forAll(({ history, payment }) => {
      const stored: PaymentEvent[] = JSON.parse(JSON.stringify(history));
      assert.deepEqual(fold(paymentDecider, stored), payment);
    }, 100);
  });

  it('can always be shown', () => {
    forAll(({ payment }) => {
      const view = viewOf(payment, minute(99));
      assert.ok(Object.values(view).every((value) => value !== undefined));
      assert.deepEqual(JSON.parse(JSON.stringify(view)), view);
      assert.ok(transactionsOf(payment).every(({ amount }) => /^\d+\.\d{2,}$/.test(amount)));
    }, 100);
  });

  it('ends when its next steps are followed', () => {
    const steps = Array<Ask>(8).fill(advance);
    forAll((_, script) => {
      const whole = { ...script, asks: [...script.asks, ...steps] };
      const { payment } = live(whole);
      const end = nextStep(payment, timeOf(whole, whole.asks.length));
      if (end.do === 'expire') {
        const confirming = payment.payins.some(({ phase }) => phase === 'detected');
        assert.ok(confirming, 'only a payin that is not final delays the expiry');
      } else {
        assert.equal(end.do, 'done');
        assert.ok(terminalStatuses.includes(statusOf(payment)));
      }
    }, 200);
  });
});
