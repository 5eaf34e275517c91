import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Decision, fold, isRefusal } from '../../../domain/decider.ts';
import type { Purpose, TreasuryEvent } from '../../../domain/treasury/events.ts';
import {
  assignNonce,
  cancelNonce,
  closeTreasuryNetwork,
  explainNonces,
  nonceOf,
  openTreasury,
  pausePayouts,
  reportTaken,
  resumePayouts,
  unminedOf,
  useUpNonce,
} from '../../../domain/treasury/nonces.ts';
import {
  cancelsMax,
  outstandingMax,
  type TreasuryState,
  treasury,
  treasuryInstance,
} from '../../../domain/treasury/state.ts';
import { hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(treasury);

const now = minute(1);
const payout = (reference: string, ordinal = 1): Purpose => ({ kind: 'payout', reference, ordinal });
const moves = { token: 'usdc', amount: '80' };
const opened = (firstNonce = 7): TreasuryEvent => ({
  type: 'TreasuryOpened',
  data: { chainId: 1, account: treasuryAccount, firstNonce: String(firstNonce), openedAt: now },
});
const assigned = (nonce: number, purpose: Purpose): TreasuryEvent => ({
  type: 'NonceAssigned',
  data: { nonce: String(nonce), purpose, moves, assignedAt: now },
});
/** The nth cancel of a nonce, each with a higher fee. */
const cancelOf = (nonce: number, n = 1) => ({
  nonce: BigInt(nonce),
  hash: hashOf('cancel', nonce, n),
  bytes: '0x02',
  fee: { maxFee: String(100 + n) },
  now,
});
const cancelled = (nonce: number, n = 1): TreasuryEvent => {
  const { hash, bytes, fee } = cancelOf(nonce, n);
  return { type: 'NonceCancelled', data: { nonce: String(nonce), hash, bytes, fee, cancelledAt: now } };
};
const paused: TreasuryEvent = { type: 'PayoutsPaused', data: { reason: 'audit', pausedAt: now } };
const resumed: TreasuryEvent = { type: 'PayoutsResumed', data: { resumedAt: now } };
const taken = (nonce: number): TreasuryEvent => ({
  type: 'NonceTaken',
  data: { nonce: String(nonce), detail: `transaction x used nonce ${nonce}`, proven: true, seenAt: now },
});
const networkClosed: TreasuryEvent = {
  type: 'TreasuryNetworkClosed',
  data: { reason: 'networkBegunAnew', network: 'old', closedAt: now },
};
const assigning = (purpose: Purpose, minedNonce = 7) => {
  return (state: TreasuryState) => assignNonce(state, { purpose, moves, minedNonce: BigInt(minedNonce), now });
};
/** This number of assignments, from nonce 7 on. */
const many = (count: number) => Array.from({ length: count }, (_, i) => assigned(7 + i, payout(`p${i}`)));

describe('a treasury', () => {
  it('is opened once, at its chain’s nonce', () => {
    const opening = (state: TreasuryState) =>
      openTreasury(state, { chainId: 1, account: treasuryAccount, minedNonce: 7n, now });
    given([]).when(opening).then([opened()]);
    given([opened(), assigned(7, payout('a'))])
      .when(opening)
      .thenNothing();
    assert.equal(treasuryInstance(1, treasuryAccount), `1-${treasuryAccount}`);
  });

  it('assigns nonces one after the other, none before it is open', () => {
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
    given([opened(), assigned(7, payout('a')), cancelled(7)])
      .when(assigning(payout('a'), 8))
      .then([assigned(8, payout('a'))]);
  });

  describe('with a cancelled nonce', () => {
    const history = [opened(), assigned(7, payout('a'))];
    const cancelling =
      (n = 1) =>
      (state: TreasuryState) =>
        cancelNonce(state, cancelOf(7, n));

    it('keeps the bytes, and the former purpose of the nonce', () => {
      given(history)
        .when(cancelling())
        .then([cancelled(7)]);
      const [kept] = fold(treasury, [...history, cancelled(7)]).cancelled;
      assert.deepEqual([kept?.purpose, kept?.signed.map(({ bytes }) => bytes)], [payout('a'), ['0x02']]);
    });

    it('lets a cancel be outbid by higher fees alone, and not without end', () => {
      given([...history, cancelled(7)])
        .when(cancelling())
        .thenNothing();
      given([...history, cancelled(7)])
        .when(cancelling(2))
        .then([cancelled(7, 2)]);
      given([...history, cancelled(7, 3)])
        .when(cancelling(2))
        .thenRefused('illegalStep', /higher fees/);
      const many = Array.from({ length: cancelsMax }, (_, n) => cancelled(7, n + 1));
      given([...history, ...many])
        .when(cancelling(cancelsMax + 1))
        .thenRefused('illegalStep');
    });

    it('signs no cancel while it signs nothing', () => {
      given([...history, paused])
        .when(cancelling())
        .thenRefused('treasuryPaused');
      given([...history, taken(7)])
        .when(cancelling())
        .thenRefused('treasuryBehindChain');
    });

    it('knows when it is used up, and cancels it no more', () => {
      const used: TreasuryEvent = { type: 'NonceUsedUp', data: { nonce: '7', detail: 'in block 9', usedAt: now } };
      const using = (state: TreasuryState) => useUpNonce(state, { nonce: 7n, detail: 'in block 9', now });
      given([...history, cancelled(7)])
        .when(using)
        .then([used]);
      given(history).when(using).thenNothing();
      given([...history, cancelled(7), used])
        .when(cancelling(2))
        .thenNothing();
    });

    it('outbids an old one, whose bytes were not kept', () => {
      const old: TreasuryEvent = { type: 'NonceCancelled', data: { nonce: '7', hash: 'old', cancelledAt: now } };
      given([...history, old])
        .when(cancelling())
        .then([cancelled(7)]);
    });
  });

  describe('with a nonce that an unknown transaction has used', () => {
    const history = [opened(), assigned(7, payout('a')), assigned(8, payout('b'))];
    const taking = (state: TreasuryState) =>
      reportTaken(state, { nonce: 7n, detail: 'transaction x used nonce 7', proven: true, now });
    const explaining = (minedNonce: number) => (state: TreasuryState) =>
      explainNonces(state, { minedNonce: BigInt(minedNonce), reason: 'our own rebalancing', now });
    const explained = (upTo: number): TreasuryEvent => ({
      type: 'NoncesExplained',
      data: { upTo: String(upTo), reason: 'our own rebalancing', explainedAt: now },
    });

    it('signs nothing, paused or not, until an operator has explained it', () => {
      given(history)
        .when(taking)
        .then([taken(7)]);
      for (const purpose of [payout('b'), payout('c')])
        given([...history, taken(7), paused, resumed])
          .when(assigning(purpose, 8))
          .thenRefused('treasuryBehindChain', /transaction x used nonce 7/);
      given([...history, taken(7)])
        .when(explaining(8))
        .then([explained(8)]);
      given([...history, taken(7), explained(8)])
        .when(assigning(payout('c'), 8))
        .then([assigned(9, payout('c'))]);
    });

    it('treats an explained transaction as known', () => {
      given([...history, taken(7), explained(8)])
        .when(taking)
        .thenNothing();
    });

    it('continues with the chain’s next nonce, where the chain is ahead, or mined a nonce that was not signed here', () => {
      given(history)
        .when(assigning(payout('c'), 12))
        .thenRefused('treasuryBehindChain');
      given([...history, explained(12)])
        .when(assigning(payout('c'), 12))
        .then([assigned(12, payout('c'))]);
      given(history)
        .when(assigning(payout('a'), 8))
        .thenRefused('treasuryBehindChain');
      given([...history, explained(8)])
        .when(assigning(payout('a'), 8))
        .then([assigned(9, payout('a'))]);
    });

    it('accepts no explanation if nothing is unknown', () => {
      given([]).when(explaining(7)).thenRefused('illegalStep');
      given([opened(), explained(7)])
        .when(explaining(7))
        .thenNothing();
    });
  });

  it('reports the sum of a token that unmined transfers will use', () => {
    const state = fold(treasury, [opened(), ...many(3)]);
    const taken = (mined: bigint, but = payout('x')) => unminedOf(state, 'usdc', mined, but);
    assert.deepEqual([taken(7n), taken(8n), taken(10n), taken(7n, payout('p1'))], [240n, 160n, 0n, 160n]);
    assert.equal(unminedOf(state, 'usdt', 7n, payout('x')), 0n);
  });

  it('signs nothing while it is paused, and continues where it was', () => {
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

  describe('with only the latest events read', () => {
    /** Sweeps, cancels and payouts in any order, within the chain's rules. Nonces are mined in order. */
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
        else add(assignNonce(state, { purpose, moves, minedNonce: BigInt(mined), now }));
        const used = Number(state.nextNonce) > next;
        if (used && what === 'cancel')
          for (let n = 1; n <= cancelsMax; n += 1) add(cancelNonce(state, cancelOf(next, n)));
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

describe('a treasury whose network is restarted', () => {
  const closing = (state: TreasuryState) => closeTreasuryNetwork(state, { network: 'old', now });
  const opening = (state: TreasuryState) =>
    openTreasury(state, { chainId: 1, account: treasuryAccount, minedNonce: 2n, now });

  it('ends its history with the reason and the old network, once', () => {
    given([opened(), assigned(7, payout('a'))])
      .when(closing)
      .then([networkClosed]);
    given([opened(), networkClosed]).when(closing).thenNothing();
    given([]).when(closing).thenNothing();
  });

  it('opens at the new network’s nonce, also when that is lower', () => {
    given([opened(), networkClosed])
      .when(opening)
      .then([opened(2)]);
  });

  it('gives a purpose that had a nonce of the old network a new nonce', () => {
    given([opened(), assigned(7, payout('a')), networkClosed, opened(2)])
      .when(assigning(payout('a'), 2))
      .then([assigned(2, payout('a'))]);
  });

  it('forgets taken nonces and outflows of the old network', () => {
    given([opened(), taken(7), networkClosed, opened(2)])
      .when(assigning(payout('a'), 2))
      .then([assigned(2, payout('a'))]);
  });

  it('opens at the new network’s nonce also when payouts were resumed before', () => {
    given([opened(), paused, networkClosed, resumed])
      .when(opening)
      .then([opened(2)]);
  });

  it('treats no nonce below its new history as used by a stranger', () => {
    const reporting = (state: TreasuryState) =>
      reportTaken(state, { nonce: 7n, detail: 'used by none of the attempts', proven: false, now });
    given([opened(), assigned(7, payout('a')), networkClosed])
      .when(reporting)
      .thenNothing();
    given([opened(), assigned(7, payout('a')), networkClosed, opened(9)])
      .when(reporting)
      .thenNothing();
  });

  it('stays paused until an operator resumes payouts', () => {
    given([opened(), paused, networkClosed, opened(2)])
      .when(assigning(payout('a'), 2))
      .thenRefused('treasuryPaused');
  });
});
