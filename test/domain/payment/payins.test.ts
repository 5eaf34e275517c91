import assert from 'node:assert/strict';
import fc from 'fast-check';
import { fold, isRefusal } from '../../../domain/decider.ts';
import { type PaymentEvent, transferId } from '../../../domain/payment/events.ts';
import { movesMax, orphanPayin, payinsMax, recordPayin } from '../../../domain/payment/payins.ts';
import { type Payment, paymentDecider } from '../../../domain/payment/state.ts';
import {
  baseUsdc,
  bounced,
  bouncedOther,
  confirmed,
  created,
  detected,
  done,
  ethereumUsdc,
  ethereumUsdt,
  expired,
  expires_at,
  funded,
  lost,
  minute,
  ordered,
  orphaned,
  paid,
  payin,
  paymentAfter,
  unpaid,
} from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(paymentDecider);

type Sketch = Parameters<typeof payin>[0];
const see = (sketch: Sketch, final: boolean, now = minute(6)) => {
  const transfer = payin(sketch);
  return (state: Parameters<typeof recordPayin>[0]) => recordPayin(state, { transfer, final, now });
};
const seen = (sketch: Sketch = {}) => see(sketch, false);
const seenFinal = (sketch: Sketch = {}, now = minute(6)) => see(sketch, true, now);
const leaves = (sketch: Sketch = {}) => {
  const { blockHash, ...transfer } = payin(sketch);
  return (state: Parameters<typeof orphanPayin>[0]) =>
    orphanPayin(state, { transferId: transferId(transfer), blockHash });
};

describe('a payin', () => {
  describe('at its detection', () => {
    it('is detected', () => {
      given(unpaid).when(seen()).then([detected()]);
    });

    it('changes nothing the second time, nor after it was final', () => {
      given([...unpaid, detected()])
        .when(seen())
        .thenNothing();
      given(paid).when(seen()).thenNothing();
      given(paid).when(seenFinal()).thenNothing();
    });

    it('is another one at another index of the same transaction', () => {
      given([...unpaid, detected()])
        .when(seen({ index: 1 }))
        .then([detected(payin({ index: 1 }))]);
    });

    it('is none when nothing was transferred: anybody can make a token log that states nothing', () => {
      given(unpaid)
        .when(seen({ amount: '0' }))
        .thenNothing();
      given([created({ type: 'anyAmount' })])
        .when(seenFinal({ amount: '0' }))
        .thenNothing();
    });

    it('needs a payment', () => {
      given([]).when(seen()).thenRefused('paymentNotFound');
    });
  });

  describe('at its finality', () => {
    it('funds the payment', () => {
      given([...unpaid, detected()])
        .when(seenFinal())
        .then([confirmed(), funded()]);
    });

    it('funds it also when it was never detected before', () => {
      given(unpaid).when(seenFinal()).then([detected(), confirmed(), funded()]);
    });
  });

  describe('when it leaves the chain', () => {
    it('is orphaned, once', () => {
      given([...unpaid, detected()])
        .when(leaves())
        .then([orphaned()]);
      given([...unpaid, detected(), orphaned()])
        .when(leaves())
        .thenNothing();
    });

    it('is not orphaned by another block', () => {
      given([...unpaid, detected()])
        .when(leaves({ block: 101 }))
        .thenNothing();
    });

    it('is orphaned even when it was final: the depth was too shallow', () => {
      const half = payin({ amount: '5.00' });
      given([...unpaid, detected(half), confirmed(half)])
        .when(leaves({ amount: '5.00' }))
        .then([orphaned(half)]);
    });

    it('returns in another block and counts again', () => {
      const back = payin({ block: 101 });
      given([...unpaid, detected(), orphaned()])
        .when(seenFinal({ block: 101 }))
        .then([detected(back), confirmed(back), funded([back])]);
    });

    it('has moved when it is detected in another block before anybody missed it', () => {
      const moved = payin({ block: '100b' });
      given([...unpaid, detected()])
        .when(seen({ block: '100b' }))
        .then([orphaned(), detected(moved)]);
      given([...unpaid, detected()])
        .when(seenFinal({ block: '100b' }))
        .then([orphaned(), detected(moved), confirmed(moved), funded([moved])]);
    });

    it('is a loss after it funded the payment: the payout remains', () => {
      for (const history of [paid, ordered, done]) {
        given(history).when(leaves()).then([orphaned(), lost()]);
      }
      assert.equal(paymentAfter([...ordered, orphaned(), lost()]).payins[0]?.phase, 'lost');
    });

    it('funds nothing twice when it returns after a loss', () => {
      const back = payin({ block: 101 });
      given([...paid, orphaned(), lost()])
        .when(seenFinal({ block: 101 }))
        .then([detected(back), confirmed(back)]);
    });

    it('is ignored if it was unknown', () => {
      given(unpaid).when(leaves()).thenNothing();
      given([]).when(leaves()).thenNothing();
    });
  });

  describe('in parts', () => {
    const [first, second] = [
      payin({ amount: '4.00', tx: 'first' }),
      payin({ amount: '6.01', tx: 'second', at: minute(30) }),
    ];

    it('adds up to the agreed amount', () => {
      given(unpaid)
        .when(seenFinal({ amount: '4.00', tx: 'first' }))
        .then([detected(first), confirmed(first)]);
      given([...unpaid, detected(first), confirmed(first)])
        .when(seenFinal({ amount: '6.01', tx: 'second', at: minute(30) }))
        .then([detected(second), confirmed(second), funded([first, second])]);
    });

    it('waits for every part to be final', () => {
      given([...unpaid, detected(first)])
        .when(seenFinal({ amount: '6.01', tx: 'second', at: minute(30) }))
        .then([detected(second), confirmed(second)]);
    });

    it('does not count a part that left the chain', () => {
      given([...unpaid, detected(first), confirmed(first), orphaned(first)])
        .when(seenFinal({ amount: '6.01', tx: 'second', at: minute(30) }))
        .then([detected(second), confirmed(second)]);
    });
  });

  describe('beyond the agreed amount', () => {
    it('funds the agreed amount and holds the excess', () => {
      const much = payin({ amount: '12.50' });
      given(unpaid)
        .when(seenFinal({ amount: '12.50' }))
        .then([
          detected(much),
          confirmed(much),
          funded([much], { rule: 'overpaid', received: '12.50', excess: '2.49' }),
        ]);
    });

    it('is a surplus when the payment is funded already, also when it was detected before', () => {
      const second = payin({ tx: 'second' });
      given(paid)
        .when(seenFinal({ tx: 'second' }))
        .then([detected(second), confirmed(second)]);
      const standings = (...more: PaymentEvent[]) =>
        paymentAfter([...unpaid, detected(second), detected(), confirmed(), funded(), ...more]).payins.map(
          ({ standing, phase }) => `${standing} ${phase}`,
        );
      assert.deepEqual(standings(), ['surplus detected', 'counted confirmed']);
      assert.deepEqual(standings(confirmed(second)), ['surplus confirmed', 'counted confirmed']);
    });
  });

  describe('in another token or on another chain', () => {
    it('is recorded and held, and funds nothing', () => {
      const wrong = payin({ in: ethereumUsdc });
      given(unpaid)
        .when(seenFinal({ in: ethereumUsdc }))
        .then([detected(wrong), confirmed(wrong)]);
      assert.equal(paymentAfter([...unpaid, detected(wrong)]).payins[0]?.standing, 'wrongChain');

      const tether = payin({ in: ethereumUsdt });
      given([created({ from: ethereumUsdc })])
        .when(seenFinal({ in: ethereumUsdt }))
        .then([detected(tether), confirmed(tether)]);
      assert.equal(paymentAfter([created({ from: ethereumUsdc }), detected(tether)]).payins[0]?.standing, 'wrongToken');
    });
  });

  describe('near the end of the payment’s time', () => {
    it('is on time up to the last millisecond by its block’s time, however late it is detected', () => {
      const last = payin({ at: expires_at });
      given(unpaid)
        .when(seenFinal({ at: expires_at }, minute(600)))
        .then([detected(last), confirmed(last, minute(600)), funded([last], { at: minute(600) })]);
    });

    it('is late after it, and does not fund a payment that is still open', () => {
      const late = payin({ at: minute(60.001) });
      given(unpaid)
        .when(seenFinal({ at: minute(60.001) }))
        .then([detected(late), confirmed(late)]);
    });

    it('bounces a payment that expired, once it is final', () => {
      const late = payin({ at: minute(90) });
      given([...unpaid, expired()])
        .when(seen({ at: minute(90) }))
        .then([detected(late)]);
      given([...unpaid, expired(), detected(late)])
        .when(seenFinal({ at: minute(90) }, minute(91)))
        .then([confirmed(late, minute(91)), bounced('latePayin', '10.01', minute(91))]);
    });

    it('bounces it also when its block was on time and nobody had detected it', () => {
      const missed = payin();
      given([...unpaid, expired()])
        .when(seenFinal({}, minute(91)))
        .then([detected(missed), confirmed(missed, minute(91)), bounced('latePayin', '10.01', minute(91))]);
    });

    it('bounces it with a reason that fits the money', () => {
      const wrong = payin({ in: ethereumUsdc, at: minute(90) });
      given([...unpaid, expired()])
        .when(seenFinal({ in: ethereumUsdc, at: minute(90) }, minute(91)))
        .then([
          detected(wrong),
          confirmed(wrong, minute(91)),
          bouncedOther('wrongChain', '10.01', ethereumUsdc, minute(91)),
        ]);
    });

    it('is only held when the payment bounced before', () => {
      const [late, later] = [payin({ at: minute(90) }), payin({ at: minute(95), tx: 'later' })];
      given([...unpaid, expired(), detected(late), confirmed(late), bounced('latePayin', '10.01')])
        .when(seenFinal({ at: minute(95), tx: 'later' }))
        .then([detected(later), confirmed(later)]);
      const after = [...unpaid, expired(), confirmed(late), bounced('latePayin', '10.01'), confirmed(later)];
      assert.deepEqual(
        paymentAfter(after).payins.map(({ standing }) => standing),
        ['late', 'surplus'],
      );
    });
  });

  describe('in a flood', () => {
    const parts = (count: number, amount: string) =>
      Array.from({ length: count }, (_, index) => detected(payin({ amount, index })));
    const next = payinsMax;

    it('with small parts is recorded until half of the room is full, and the awaited money still is', () => {
      const many = [...unpaid, ...parts(payinsMax / 2, '0.000001')];
      given(many)
        .when(seen({ index: next, amount: '0.2' }))
        .thenNothing();
      given(many)
        .when(seen({ index: next, amount: '0.21' }))
        .then([detected(payin({ index: next, amount: '0.21' }))]);
      given(many)
        .when(seen({ index: next, in: ethereumUsdc, amount: '500' }))
        .thenNothing();
    });

    it('with any parts is recorded a hundred times, in addition to known ones', () => {
      const many = [...unpaid, ...parts(payinsMax, '0.3')];
      given(many)
        .when(seenFinal({ index: next, amount: '10.01' }))
        .thenNothing();
      given(many)
        .when(seenFinal({ amount: '0.3', index: 7 }))
        .then([confirmed(payin({ amount: '0.3', index: 7 }))]);
    });

    it('by forks is recorded until it is final', () => {
      const at = (block: number) => payin({ block });
      const forks = Array.from({ length: movesMax }, (_, n) => [detected(at(n + 1)), orphaned(at(n + 1))]).flat();
      given([...unpaid, ...forks])
        .when(seen({ block: 500 }))
        .thenNothing();
      given([...unpaid, ...forks])
        .when(seenFinal({ block: 500 }))
        .then([detected(at(500)), confirmed(at(500)), funded([at(500)])]);
    });

    it('in any form makes no stream longer than its bound, and half of the room suffices to pay', () => {
      const transfers = fc.record({
        index: fc.nat({ max: 400 }),
        block: fc.integer({ min: 1, max: 3 }),
        amount: fc.constantFrom('0.000001', '0.02', '0.2', '0.21', '3', '10.01'),
        asset: fc.constantFrom(baseUsdc, baseUsdc, ethereumUsdc),
        final: fc.boolean(),
        leaves: fc.boolean(),
      });
      fc.assert(
        fc.property(fc.array(transfers, { minLength: 300, maxLength: 900 }), (flood) => {
          let p = paymentAfter(unpaid);
          let events = 1;
          for (const { index, block, amount, asset, final, leaves } of flood) {
            const transfer = payin({ index, block, amount, in: asset });
            const decided = [
              recordPayin(p, { transfer, final, now: minute(6) }),
              leaves ? orphanPayin(p, { transferId: transferId(transfer), blockHash: transfer.blockHash }) : [],
            ];
            for (const decision of decided) {
              if (isRefusal(decision)) continue;
              events += decision.length;
              p = fold(paymentDecider, decision, p) as Payment;
            }
          }
          assert.ok(p.payins.length <= payinsMax);
          assert.ok(p.payins.every(({ moves }) => moves <= 2 * movesMax));
          assert.ok(events <= 10 + payinsMax * (4 + 8 * movesMax), `${events} events`);
        }),
        { numRuns: 40 },
      );
    });
  });
});
