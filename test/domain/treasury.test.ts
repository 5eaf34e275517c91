import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Decision, fold, isRefusal } from '../../domain/decider.ts';
import {
  assignNonce,
  nonceOf,
  openTreasury,
  outstandingMax,
  type Purpose,
  pausePayouts,
  resumePayouts,
  type TreasuryEvent,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../../domain/treasury.ts';
import { hashOf, minute, treasuryAccount } from '../support/payments.ts';
import { specification } from '../support/specification.ts';

const { given } = specification(treasury);

const now = minute(1);
const payout = (reference: string, ordinal = 1): Purpose => ({ kind: 'payout', reference, ordinal });
const opened = (firstNonce = 7): TreasuryEvent => ({
  type: 'TreasuryOpened',
  data: { chainId: 1, account: treasuryAccount, firstNonce: String(firstNonce), openedAt: now },
});
const assigned = (nonce: number, purpose: Purpose): TreasuryEvent => ({
  type: 'NonceAssigned',
  data: { nonce: String(nonce), purpose, assignedAt: now },
});
const paused: TreasuryEvent = { type: 'PayoutsPaused', data: { reason: 'audit', pausedAt: now } };
const resumed: TreasuryEvent = { type: 'PayoutsResumed', data: { resumedAt: now } };
const assigning = (purpose: Purpose, minedNonce = 7) => {
  return (state: TreasuryState) => assignNonce(state, { purpose, minedNonce: BigInt(minedNonce), now });
};
/** That many assignments from nonce 7 on. */
const many = (count: number) => Array.from({ length: count }, (_, i) => assigned(7 + i, payout(`p${i}`)));

describe('a treasury', () => {
  it('is opened once, where its chain stands', () => {
    const opening = (state: TreasuryState) =>
      openTreasury(state, { chainId: 1, account: treasuryAccount, minedNonce: 7n, now });
    given([]).when(opening).then([opened()]);
    given([opened(), assigned(7, payout('a'))])
      .when(opening)
      .thenNothing();
    assert.equal(treasuryInstance(1, treasuryAccount), `1-${treasuryAccount}`);
  });

  it('gives out nonces one after the other, none before it is open', () => {
    given([])
      .when(assigning(payout('a')))
      .thenRefused('illegalStep');
    given([opened()])
      .when(assigning(payout('a')))
      .then([assigned(7, payout('a'))]);
    given([opened(), assigned(7, payout('a'))])
      .when(assigning(payout('b')))
      .then([assigned(8, payout('b'))]);
  });

  it('keeps a purpose’s nonce for it: a restart finishes it', () => {
    const history = [opened(), assigned(7, payout('a')), assigned(8, payout('b'))];
    given(history)
      .when(assigning(payout('a')))
      .thenNothing();
    assert.equal(nonceOf(fold(treasury, history), payout('a')), 7n);
    assert.equal(nonceOf(fold(treasury, history), payout('c')), null);
  });

  it('gives another purpose another nonce: the next after a death, a refund, a sweep', () => {
    const others: Purpose[] = [
      payout('a', 2),
      { kind: 'refund', reference: 'a', ordinal: 1 },
      { ...payout('a'), kind: 'sweep' },
    ];
    for (const other of others) {
      given([opened(), assigned(7, payout('a'))])
        .when(assigning(other))
        .then([assigned(8, other)]);
    }
  });

  it(`has at most ${outstandingMax} nonces outstanding`, () => {
    given([opened(), ...many(outstandingMax - 1)])
      .when(assigning(payout('last')))
      .then([assigned(7 + outstandingMax - 1, payout('last'))]);
    given([opened(), ...many(outstandingMax)])
      .when(assigning(payout('one too many')))
      .thenRefused('treasuryBusy');
    given([opened(), ...many(outstandingMax)])
      .when(assigning(payout('after one was mined'), 8))
      .then([assigned(7 + outstandingMax, payout('after one was mined'))]);
    given([opened(), ...many(outstandingMax)])
      .when(assigning(payout('p0')))
      .thenNothing();
  });

  it('signs nothing when its chain is ahead of the log: the key was used elsewhere, or the log is an old copy', () => {
    const history = [opened(), assigned(7, payout('a'))];
    given(history)
      .when(assigning(payout('b'), 8))
      .then([assigned(8, payout('b'))]);
    given(history)
      .when(assigning(payout('b'), 9))
      .thenRefused('treasuryBehindChain', /nonce 9.*8/);
    given(history)
      .when(assigning(payout('a'), 9))
      .thenRefused('treasuryBehindChain');
  });

  it('signs nothing for a purpose whose nonce was mined without a signature in the log: it may have been paid', () => {
    given([opened(), assigned(7, payout('a'))])
      .when(assigning(payout('a'), 8))
      .thenRefused('treasuryBehindChain', /nonce 7.*payout a/);
  });

  it('gives a purpose another nonce once its first was cancelled', () => {
    const cancelled: TreasuryEvent = {
      type: 'NonceCancelled',
      data: { nonce: '7', hash: hashOf('cancel'), cancelledAt: now },
    };
    given([opened(), assigned(7, payout('a')), cancelled])
      .when(assigning(payout('a'), 8))
      .then([assigned(8, payout('a'))]);
  });

  it('signs nothing while it is paused, and goes on where it was', () => {
    const history = [opened(), assigned(7, payout('a')), paused];
    for (const purpose of [payout('a'), payout('b')])
      given(history).when(assigning(purpose)).thenRefused('treasuryPaused');
    given([...history, resumed])
      .when(assigning(payout('a')))
      .thenNothing();
    given([...history, resumed])
      .when(assigning(payout('b')))
      .then([assigned(8, payout('b'))]);
  });

  it('is paused and resumed once, and not before it was opened: its nonces would never begin', () => {
    given([])
      .when((state) => pausePayouts(state, 'audit', now))
      .thenRefused('illegalStep');
    given([opened()])
      .when((state) => pausePayouts(state, 'audit', now))
      .then([paused]);
    given([opened(), paused])
      .when((state) => pausePayouts(state, 'again', now))
      .thenNothing();
    given([opened(), paused])
      .when((state) => resumePayouts(state, now))
      .then([resumed]);
    given([opened()])
      .when((state) => resumePayouts(state, now))
      .thenNothing();
  });

  it('notices a gap in its own log', () => {
    assert.throws(() => fold(treasury, [opened(), assigned(9, payout('a'))]), { name: 'InvariantBroken' });
  });

  describe('of which only the latest events are read', () => {
    /** Sweeps, cancels and payouts in any order, as far as the chain allows; each nonce is mined in its turn. */
    const busyLife = fc.array(
      fc.constantFrom('payout', 'payout', 'sweep', 'sweep', 'cancel', 'mine', 'mine', 'mine', 'mine', 'pause'),
      { minLength: 600, maxLength: 1_200 },
    );

    function live(life: readonly string[]): { events: TreasuryEvent[]; mined: number } {
      const events: TreasuryEvent[] = [opened(0)];
      let mined = 0;
      let state = fold(treasury, events);
      const add = (decision: Decision<TreasuryEvent>) => {
        if (isRefusal(decision)) return;
        events.push(...decision);
        state = fold(treasury, decision, state);
      };
      for (const [i, what] of life.entries()) {
        const next = Number(state.nextNonce);
        const purpose: Purpose = { kind: what === 'sweep' ? 'sweep' : 'payout', reference: `p${i}`, ordinal: 1 };
        const nonce = String(next);
        if (what === 'mine') mined = Math.min(mined + 1, next);
        else if (what === 'pause') add([...(pausePayouts(state, 'audit', now) as TreasuryEvent[]), resumed]);
        else add(assignNonce(state, { purpose, minedNonce: BigInt(mined), now }));
        const used = Number(state.nextNonce) > next;
        if (used && what === 'cancel')
          add([{ type: 'NonceCancelled', data: { nonce, hash: hashOf(i), cancelledAt: now } }]);
        if (used && what === 'sweep') {
          const signing = { nonce, hash: hashOf(i), bytes: '0x02', signedAt: now };
          add([
            { type: 'SweepSigned', data: signing },
            { type: 'SweepConfirmed', data: { nonce, hash: hashOf(i), confirmedAt: now } },
          ]);
        }
      }
      return { events, mined };
    }

    it('decides as if all were read', () => {
      fc.assert(
        fc.property(busyLife, (life) => {
          const { events, mined } = live(life);
          fc.pre(events.length > (treasury.window ?? 0));
          const whole = fold(treasury, events);
          const windowed = fold(treasury, events.slice(-(treasury.window ?? 0)));
          const outstanding = whole.assigned.filter(({ nonce }) => nonce >= BigInt(mined));
          for (const { purpose, nonce } of outstanding) assert.equal(nonceOf(windowed, purpose), nonce);
          const next = assigning(payout('next'), mined);
          assert.deepEqual(next(windowed), next(whole));
        }),
        { numRuns: 25 },
      );
    });
  });
});
