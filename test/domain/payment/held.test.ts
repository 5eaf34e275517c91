import { holdPayout, payoutLeg } from '../../../domain/payment/payout.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { attemptsEverMax, attemptsMax } from '../../../domain/transfer/leg.ts';
import {
  attempt,
  died,
  done,
  feeCaps,
  held,
  minute,
  ordered,
  paid,
  retried,
  sent,
  signed,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);
const holding = (state: Parameters<typeof holdPayout>[0]) => holdPayout(state, 'paid by hand', minute(10));
const retrying = (state: Parameters<typeof payoutLeg.retry>[0]) => payoutLeg.retry(state, 1, 'it was not', minute(11));
const nth = (n: number) => attempt(n, { nonce: String(6 + n), fee: feeCaps(100 + n) });
const signing = (n: number) => (state: Parameters<typeof payoutLeg.sign>[0]) => payoutLeg.sign(state, 1, nth(n));
/** This number of attempts, all dead. */
const deaths = (count: number) => Array.from({ length: count }, (_, n) => [signed(nth(n + 1)), died(n + 1)]).flat();

describe('an operator', () => {
  it('puts a payout on hold: nothing more is signed, no fee bump either', () => {
    for (const history of [paid, ordered, sent]) given(history).when(holding).then([held()]);
    given([...ordered, held()])
      .when(signing(1))
      .thenRefused('illegalStep', /paid by hand/);
    const bump = attempt(2, { fee: feeCaps(113) });
    given([...sent, held()])
      .when((state) => payoutLeg.sign(state, 1, bump))
      .thenRefused('illegalStep');
    given([...ordered, held()])
      .when(holding)
      .thenNothing();
    given(done).when(holding).thenRefused('illegalStep');
  });

  it('has it tried again', () => {
    given([...ordered, held()])
      .when(retrying)
      .then([retried()]);
    given([...ordered, held(), retried()])
      .when(signing(1))
      .then([signed(nth(1))]);
    given(ordered).when(retrying).thenNothing();
  });

  it('allows the same number of attempts again once they are used up, a bounded number of times', () => {
    const spent = [...ordered, ...deaths(attemptsMax)];
    given(spent)
      .when(signing(attemptsMax + 1))
      .thenRefused('attemptsSpent', /retry/);
    given(spent).when(retrying).then([retried()]);
    given([...spent, retried()])
      .when(signing(attemptsMax + 1))
      .then([signed(nth(attemptsMax + 1))]);
    const rounds = Array.from({ length: attemptsEverMax / attemptsMax }, () => retried());
    given([...ordered, ...deaths(attemptsEverMax), ...rounds])
      .when(retrying)
      .thenRefused('illegalStep');
  });

  it('declares an attempt dead that no node can prove dead any more', () => {
    const proof = { reason: 'declared', detail: 'operator:ada: no explorer has it' } as const;
    given(sent)
      .when((state) => payoutLeg.bury(state, 1, [1], proof))
      .then([died(1, proof)]);
    given(done)
      .when((state) => payoutLeg.bury(state, 1, [1], proof))
      .thenRefused('illegalStep', /settled/);
  });
});
