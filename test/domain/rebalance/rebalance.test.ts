import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type Decision, fold, isRefusal } from '../../../domain/decider.ts';
import { fast } from '../../../domain/rebalance/cctp.ts';
import type { RebalanceEvent, RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { arrivingFrom, transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  approveRebalance,
  burnPart,
  callOffRebalance,
  expireAttestation,
  failuresMax,
  mintPart,
  nextRebalanceStep,
  orderRebalance,
  orphanMintByOther,
  type Rebalance,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
  rebalanceStanding,
  recordAttestation,
  recordMintByOther,
} from '../../../domain/rebalance/rebalance.ts';
import { liveAttempts } from '../../../domain/transfer/leg.ts';
import { keyOf, referenceOf, type SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { baseUsdc, hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import {
  attestation,
  attested,
  burnAttempt,
  burnConfirmed,
  burnSigned,
  landed,
  messageOf,
  mintAttempt,
  mintConfirmed,
  mintSigned,
  move,
  nonce32,
  ordered,
  proof,
  thousand,
} from '../../support/rebalances.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(rebalance);
const now = minute(9);

const burned = [ordered(), burnSigned(), burnConfirmed()];
const burnDied = (attempt = 1): RebalanceEvent => ({ type: 'BurnDied', data: { attempt, proof } });
const mintDied = (attempt = 1): RebalanceEvent => ({ type: 'MintDied', data: { attempt, proof } });
const fastMove = move({}, { finality: fast });
const feeTaken = { feeExecuted: 130_000n, expirationBlock: 900n, finalityExecuted: fast } as const;
/** A fast burn whose attestation is valid until block 900. */
const expiring = [ordered(fastMove), burnSigned(fastMove), burnConfirmed(), attested(fastMove, feeTaken)];
const expired: RebalanceEvent = {
  type: 'AttestationExpired',
  data: { expirationBlock: '900', seenBlock: '901', seenAt: now },
};
const byOther = { hash: hashOf('other'), blockNumber: 12n, blockHash: hashOf('block', 12) };
const mintedByOther = (received = thousand.toString()): RebalanceEvent => ({
  type: 'MintedByOther',
  data: { ...byOther, blockNumber: '12', received, seenAt: now },
});

const seen = (message: string, burnHash = hashOf('burn', 1)) => ({ burnHash, message, attestation, now });
const attesting = (message: string, burnHash?: string) => (state: RebalanceState) =>
  recordAttestation(state, seen(message, burnHash));
const signing = (part: number, attempt: ReturnType<typeof burnAttempt>) => (state: RebalanceState) =>
  rebalanceLegs.sign(state, part, attempt);
const final = (kind: 'burn' | 'mint', arrived?: bigint) =>
  ({ ...landed(kind), kind: 'final', blockNumber: 9n, ...(arrived !== undefined && { arrived }) }) as const;
const concluding = (part: number, outcome: ReturnType<typeof final>) => (state: RebalanceState) =>
  rebalanceLegs.conclude(state, part, outcome, minute(5));
const callingOff = (state: RebalanceState) => callOffRebalance(state, { reason: 'not needed', by: 'ada', now });
const stateOf = (events: readonly RebalanceEvent[]) => {
  const state = fold(rebalance, events);
  assert.ok(state);
  return state;
};
const stepAfter = (...events: readonly RebalanceEvent[]) => {
  const step = nextRebalanceStep(stateOf(events));
  return step.do === 'transfer' ? `${step.step.do} ${step.part === burnPart ? 'burn' : 'mint'}` : step.do;
};

describe('a rebalance by burn and mint', () => {
  it('is ordered once: an equal order is the same rebalance, another one is refused', () => {
    given([])
      .when((state) => orderRebalance(state, move()))
      .then([ordered()]);
    given([ordered()])
      .when((state) => orderRebalance(state, move({ orderedAt: minute(7), reason: 'again' })))
      .thenNothing();
    given([ordered()])
      .when((state) => orderRebalance(state, move({ amount: '999000000' })))
      .thenRefused('conflict', /another rebalance has this id/);
  });

  it('is refused if it could lose money', () => {
    const { from, to, route } = move();
    const refused = (order: RebalanceOrdered, why: RegExp) =>
      given([])
        .when((state) => orderRebalance(state, order))
        .thenRefused('invalidRequest', why);
    refused(move({ to: { ...from } }), /from one chain to another/);
    refused(move({ to: { ...to, chainId: 56 } }), /CCTP has no route from chain 8453 to 56/);
    refused(move({ from: { ...from, token: to.token } }), /is not the token that CCTP burns on chain 8453/);
    refused(move({ route: { ...route, messenger: treasuryAccount } }), /other contracts or domains/);
    refused(move({ route: { ...route, minter: treasuryAccount } }), /other contracts or domains/);
    refused(move({ route: { ...route, destinationDomain: 3 } }), /other contracts or domains/);
    refused(move({ route: { ...route, feeMax: '2000001' } }), /at most 2000000 is allowed/);
    refused(move({ amount: '1', route: { ...route, feeMax: '1' } }), /fee limit is 1/);
    refused(move({ amount: '0' }), /the amount is 0/);
    const polygon = { ...from, chainId: 137 as const };
    const token = { ...baseUsdc.token, address: '0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359' };
    const fromPolygon = { ...route, sourceDomain: 7 };
    const order = move({ from: { ...polygon, token }, route: fromPolygon });
    given([])
      .when((state) => orderRebalance(state, order))
      .then([ordered(order)]);
    refused({ ...order, route: { ...fromPolygon, finality: fast } }, /no fast burns/);
  });

  it('above the limit waits until another operator approves it', () => {
    const large = move({ approvals: 1, by: 'ada' });
    assert.equal(stepAfter(ordered(large)), 'hold');
    given([ordered(large)])
      .when((state) => approveRebalance(state, 'ada', now))
      .thenRefused('forbidden', /another operator/);
    given([ordered(large)])
      .when(signing(burnPart, burnAttempt(large)))
      .thenRefused('illegalStep', /approve it first/);
    const approved: RebalanceEvent = { type: 'RebalanceApproved', data: { by: 'grace', approvedAt: now } };
    given([ordered(large)])
      .when((state) => approveRebalance(state, 'grace', now))
      .then([approved]);
    given([ordered()])
      .when((state) => approveRebalance(state, 'grace', now))
      .thenNothing();
    assert.equal(stepAfter(ordered(large), approved), 'sign burn');
  });

  it('owes one step after the other', () => {
    assert.equal(stepAfter(ordered()), 'sign burn');
    assert.equal(stepAfter(ordered(), burnSigned()), 'broadcast burn');
    assert.equal(stepAfter(...burned), 'attest');
    assert.equal(stepAfter(...burned, attested()), 'sign mint');
    assert.equal(stepAfter(...burned, attested(), mintSigned()), 'broadcast mint');
    assert.equal(stepAfter(...burned, attested(), mintSigned(), mintConfirmed()), 'done');
  });

  it('is called off before its burn is signed or after the burn has died, and never behind it', () => {
    const calledOff: RebalanceEvent = {
      type: 'RebalanceCalledOff',
      data: { reason: 'not needed', by: 'ada', calledOffAt: now },
    };
    given([ordered()]).when(callingOff).then([calledOff]);
    given([ordered(), burnSigned(), burnDied()]).when(callingOff).then([calledOff]);
    given([ordered(), burnSigned()])
      .when(callingOff)
      .thenRefused('illegalStep', /is signed and can land/);
    given(burned)
      .when(callingOff)
      .thenRefused('illegalStep', /the money is burned/);
    given([ordered(), calledOff])
      .when(signing(burnPart, burnAttempt()))
      .thenRefused('illegalStep', /called it off/);
    assert.equal(stepAfter(ordered(), calledOff), 'done');
  });

  it('signs no burn besides one that can land', () => {
    given([ordered()]).when(signing(burnPart, burnAttempt())).then([burnSigned()]);
    given([ordered(), burnSigned()])
      .when(signing(burnPart, burnAttempt(move(), 2)))
      .thenRefused('illegalStep', /attempt 1 can still land/);
    given([ordered(), burnSigned(), burnDied()])
      .when(signing(burnPart, burnAttempt(move(), 2)))
      .then([burnSigned(move(), 2)]);
    given([ordered()])
      .when(signing(burnPart, { ...burnAttempt(), receiver: treasuryAccount }))
      .thenRefused('illegalStep', /not the one that was ordered/);
  });

  it('waits for no attempt that a fee bump has replaced on its chain', () => {
    const bumped = [ordered(), burnSigned(), burnSigned(move(), 2)];
    assert.equal(stepAfter(...bumped), 'broadcast burn');
    const moved = [...bumped, burnConfirmed(2)];
    assert.equal(rebalanceStanding(stateOf(moved)), 'burned');
    assert.equal(stepAfter(...moved), 'attest');
    given(moved)
      .when(callingOff)
      .thenRefused('illegalStep', /the money is burned/);

    const orphaned: RebalanceEvent = {
      type: 'BurnOrphaned',
      data: { attempt: 2, hash: hashOf('burn', 2), blockHash: landed('burn', 2).blockHash },
    };
    const again = nextRebalanceStep(stateOf([...moved, orphaned]));
    assert.ok(again.do === 'transfer' && again.step.do === 'broadcast');
    assert.deepEqual(
      again.step.attempts.map(({ attempt }) => attempt),
      [1, 2],
      'either can land again',
    );

    const minting = [...burned, attested(), mintSigned(), mintSigned(move(), 2)];
    assert.equal(stepAfter(...minting), 'broadcast mint');
    assert.equal(stepAfter(...minting, mintConfirmed(move().amount, 2)), 'done');
    assert.equal(stepAfter(...minting, mintedByOther()), 'broadcast mint', 'its nonce has to be used');
    const short: RebalanceEvent = {
      type: 'MintShort',
      data: { ...landed('mint', 2), arrived: '1', seenAt: now },
    };
    assert.equal(rebalanceStanding(stateOf([...minting, short])), 'short');
    assert.equal(stepAfter(...minting, short), 'hold');
  });

  it('gives up after some failures, each of which costs gas', () => {
    const failed = Array.from({ length: failuresMax }, (_, at) => [
      burnSigned(move(), at + 1),
      burnDied(at + 1),
    ]).flat();
    assert.equal(stepAfter(ordered(), ...failed), 'hold');
    given([ordered(), ...failed])
      .when(signing(burnPart, burnAttempt(move(), failuresMax + 1)))
      .thenRefused('attemptsSpent', /5 burns failed/);
    const mints = Array.from({ length: failuresMax }, (_, at) => [mintSigned(move(), at + 1), mintDied(at + 1)]).flat();
    assert.equal(stepAfter(...burned, attested(), ...mints), 'hold');
    given([...burned, attested(), ...mints])
      .when(signing(mintPart, mintAttempt(move(), failuresMax + 1)))
      .thenRefused('attemptsSpent', /by hand/);
  });

  it('is attested by a message that names its burn, once', () => {
    given(burned)
      .when(attesting(messageOf()))
      .then([{ ...attested(), data: { ...attested().data, attestedAt: now } } as RebalanceEvent]);
    given(burned)
      .when(attesting(messageOf(move(), { mintRecipient: '11'.repeat(32) })))
      .thenRefused('illegalStep', /not that of our burn: its mintRecipient is/);
    given(burned)
      .when(attesting(messageOf(), hashOf('burn', 2)))
      .thenRefused('illegalStep', /is not our settled burn/);
    given([ordered(), burnSigned()])
      .when(attesting(messageOf()))
      .thenRefused('illegalStep', /is not our settled burn/);
    given([...burned, attested()])
      .when(attesting(messageOf(move(), { feeExecuted: 7n })))
      .thenNothing();
  });

  it('mints the message’s amount less the fee', () => {
    const amount = (thousand - 130_000n).toString();
    given(expiring)
      .when(signing(mintPart, mintAttempt(fastMove, 1, amount)))
      .then([mintSigned(fastMove, 1, amount)]);
    given(expiring)
      .when(signing(mintPart, mintAttempt(fastMove)))
      .thenRefused('illegalStep', /not the one that was ordered/);
    given([...expiring, mintSigned(fastMove, 1, amount)])
      .when(concluding(mintPart, final('mint', thousand - 130_000n)))
      .then([mintConfirmed(amount)]);
    given([...expiring, mintSigned(fastMove, 1, amount)])
      .when(concluding(mintPart, final('mint', thousand + 1n)))
      .thenRefused('illegalStep', /an operator must check it/);
    given(burned)
      .when(signing(mintPart, mintAttempt()))
      .thenRefused('illegalStep', /not attested/);
  });

  it('requests another attestation of the same nonce when the message expires', () => {
    given(expiring)
      .when((state) => expireAttestation(state, 899n, now))
      .thenNothing();
    given(expiring)
      .when((state) => expireAttestation(state, 901n, now))
      .then([expired]);
    given([...burned, attested()])
      .when((state) => expireAttestation(state, 10n ** 9n, now))
      .thenNothing();
    assert.deepEqual(nextRebalanceStep(stateOf([...expiring, expired])), {
      do: 'reattest',
      nonce: `0x${nonce32}`,
      burnHash: hashOf('burn', 1),
    });
    given([...expiring, expired])
      .when(signing(mintPart, mintAttempt(fastMove)))
      .thenRefused('illegalStep', /has expired/);
    given([...expiring, expired])
      .when(attesting(messageOf(fastMove, feeTaken)))
      .thenNothing();
    given([...expiring, expired])
      .when(attesting(messageOf(fastMove, { nonce: 'cd'.repeat(32) })))
      .thenRefused('illegalStep', /another one/);
    given([...expiring, expired])
      .when(attesting(messageOf(fastMove)))
      .then([{ ...attested(fastMove), data: { ...attested(fastMove).data, attestedAt: now } } as RebalanceEvent]);
    assert.equal(stepAfter(...expiring, expired, attested(fastMove)), 'sign mint');
  });

  it('signs the mint again after another attestation if it expired in flight, which fails first', () => {
    const amount = (thousand - 130_000n).toString();
    const signed = [...expiring, mintSigned(fastMove, 1, amount), expired];
    assert.equal(stepAfter(...signed), 'broadcast mint');
    assert.equal(stepAfter(...signed, mintDied()), 'reattest');
    const again = [...signed, mintDied(), attested(fastMove)];
    given(again)
      .when(signing(mintPart, mintAttempt(fastMove, 2)))
      .then([mintSigned(fastMove, 2)]);
  });

  it('is done as well if somebody else submits its message', () => {
    const minting = (received: bigint) => (state: RebalanceState) =>
      recordMintByOther(state, { ...byOther, received, now });
    given([...burned, attested()])
      .when(minting(thousand))
      .then([mintedByOther()]);
    assert.equal(stepAfter(...burned, attested(), mintedByOther()), 'done');
    given([...burned, attested()])
      .when(minting(thousand - 200_001n))
      .thenRefused('illegalStep', /with a fee limit of 200000/);
    given(burned)
      .when(minting(thousand))
      .thenRefused('illegalStep', /not attested/);
    const beside = [...burned, attested(), mintSigned(), mintedByOther()];
    assert.equal(stepAfter(...beside), 'broadcast mint', 'its nonce must be used up');
    assert.equal(stepAfter(...beside, mintDied()), 'done');
    given(beside)
      .when(concluding(mintPart, final('mint')))
      .thenRefused('illegalStep', /cannot mint twice/);
    const orphaned: RebalanceEvent = {
      type: 'MintByOtherOrphaned',
      data: { hash: byOther.hash, blockHash: byOther.blockHash, seenAt: now },
    };
    given([...burned, attested(), mintedByOther()])
      .when((state) => orphanMintByOther(state, { ...byOther, now }))
      .then([orphaned]);
    assert.equal(stepAfter(...burned, attested(), mintedByOther(), orphaned), 'sign mint');
  });

  it('sends its bytes again when a block leaves its chain, and burns no second time for minted money', () => {
    const { hash, blockHash } = landed('burn');
    const orphaned: RebalanceEvent = { type: 'BurnOrphaned', data: { attempt: 1, hash, blockHash } };
    given([...burned, attested()])
      .when((state) => rebalanceLegs.orphan(state, burnPart, { hash, blockHash }))
      .then([orphaned]);
    assert.equal(stepAfter(...burned, attested(), orphaned), 'broadcast burn');
    const gone = [...burned, attested(), orphaned, burnDied()];
    assert.equal(rebalanceStanding(stateOf(gone)), 'burnLost');
    assert.equal(stepAfter(...gone), 'hold');
    given(gone)
      .when(callingOff)
      .thenRefused('illegalStep', /can only be minted/);
    for (const part of [burnPart, mintPart])
      given(gone)
        .when(signing(part, part === burnPart ? burnAttempt(move(), 2) : mintAttempt()))
        .thenRefused('illegalStep', /nothing is burned again|the attested burn died/);
    const minted = [...burned, attested(), mintSigned(), mintConfirmed(), orphaned, burnDied()];
    given(minted)
      .when(signing(burnPart, burnAttempt(move(), 2)))
      .thenRefused('illegalStep', /nothing is burned again/);
    const seenMint = { hash: landed('mint').hash, blockHash: landed('mint').blockHash };
    given([...burned, attested(), mintSigned(), mintConfirmed()])
      .when((state) => rebalanceLegs.orphan(state, mintPart, seenMint))
      .then([{ type: 'MintOrphaned', data: { attempt: 1, ...seenMint } }]);
  });

  it('names both of its transfers', () => {
    for (const part of [burnPart, mintPart]) {
      const key = { kind: 'rebalance', id: 'a-b/c', part } as const;
      assert.deepEqual(keyOf(referenceOf(key)), key);
    }
    assert.equal(referenceOf({ kind: 'rebalance', id: '7', part: mintPart }), 'rebalance-7/mint');
  });
});

describe('money in transit', () => {
  it('is burned = minted + fee + in transit, at each step', () => {
    const amount = (thousand - 130_000n).toString();
    const of = (...events: readonly RebalanceEvent[]) => transitOf(stateOf(events));
    const nothing = { burned: 0n, minted: 0n, fee: 0n, inTransit: 0n };
    assert.deepEqual(of(ordered()), nothing);
    assert.deepEqual(of(ordered(), burnSigned()), nothing);
    assert.deepEqual(of(...expiring), { ...nothing, burned: thousand, inTransit: thousand });
    const minted = [...expiring, mintSigned(fastMove, 1, amount), mintConfirmed(amount)];
    assert.deepEqual(of(...minted), { burned: thousand, minted: thousand - 130_000n, fee: 130_000n, inTransit: 0n });
    const { attempt, hash, blockNumber, blockHash } = landed('mint');
    const at = { attempt, hash, blockNumber, blockHash, seenAt: now };
    const short: RebalanceEvent = { type: 'MintShort', data: { ...at, arrived: '999000000' } };
    assert.deepEqual(of(...expiring, mintSigned(fastMove, 1, amount), short), {
      burned: thousand,
      minted: 999_000_000n,
      fee: 130_000n,
      inTransit: 870_000n,
    });
  });

  it('is expected at its account after the time of its route, and at once when it is attested', () => {
    const { account, token } = move().to;
    const arriving = { chainId: 1, account, token: token.address, amount: thousand - 200_000n };
    assert.equal(arrivingFrom(stateOf([ordered(), burnSigned()])), null);
    assert.deepEqual(arrivingFrom(stateOf(burned)), { ...arriving, expectedAt: minute(3 + 19) });
    const known = { ...arriving, amount: thousand, expectedAt: minute(4) };
    assert.deepEqual(arrivingFrom(stateOf([...burned, attested()])), known);
    assert.equal(arrivingFrom(stateOf([...burned, attested(), mintSigned(), mintConfirmed()])), null);
  });
});

/** A fee bump: the nonce of the last attempt, and a higher fee. */
const bumpOf = (attempt: SignedAttempt, last: SignedAttempt | undefined): SignedAttempt => ({
  ...attempt,
  nonce: last?.nonce ?? attempt.nonce,
  fee: { ...attempt.fee, maxFeePerGas: String(100 * attempt.attempt) },
});

/** True if a transfer has several live attempts. */
const bumps = ({ burn, mint }: Rebalance): boolean => [burn, mint].some((leg) => leg && liveAttempts(leg).length > 1);

/** Actions that may happen at any time: of several service instances, the chains, the attestation service and unknown people. */
const tries: readonly ((state: RebalanceState, n: number) => Decision<RebalanceEvent>)[] = [
  (state) => rebalanceLegs.sign(state, burnPart, burnAttempt(fastMove, (state?.burn.attempts.length ?? 0) + 1)),
  (state) => {
    const signed = state?.burn.attempts ?? [];
    return rebalanceLegs.sign(state, burnPart, bumpOf(burnAttempt(fastMove, signed.length + 1), signed.at(-1)?.signed));
  },
  (state, n) =>
    rebalanceLegs.conclude(state, burnPart, { ...final('burn'), ...landed('burn', n), blockNumber: 9n }, now),
  (state, n) => rebalanceLegs.bury(state, burnPart, [n], proof),
  (state, n) => rebalanceLegs.orphan(state, burnPart, landed('burn', n)),
  (state, n) => recordAttestation(state, seen(messageOf(fastMove, feeTaken), hashOf('burn', n))),
  (state, n) => recordAttestation(state, seen(messageOf(fastMove), hashOf('burn', n))),
  (state) => recordAttestation(state, seen(messageOf(fastMove, { amount: 1n }))),
  (state) => expireAttestation(state, 901n, now),
  (state) =>
    rebalanceLegs.sign(
      state,
      mintPart,
      mintAttempt(fastMove, (state?.mint?.attempts.length ?? 0) + 1, state?.mint?.order.amount.toString()),
    ),
  (state) => {
    const { attempts: signed = [], order } = state?.mint ?? {};
    const next = mintAttempt(fastMove, signed.length + 1, order?.amount.toString());
    return rebalanceLegs.sign(state, mintPart, bumpOf(next, signed.at(-1)?.signed));
  },
  (state, n) =>
    rebalanceLegs.conclude(state, mintPart, { ...final('mint'), ...landed('mint', n), blockNumber: 9n }, now),
  (state, n) => rebalanceLegs.bury(state, mintPart, [n], proof),
  (state, n) => rebalanceLegs.orphan(state, mintPart, landed('mint', n)),
  (state, n) => recordMintByOther(state, { ...byOther, received: thousand - 100_000n * BigInt(n), now }),
  (state) => orphanMintByOther(state, { ...byOther, now }),
  callingOff,
];

describe('a rebalance under all actions of everybody', () => {
  it('keeps burned = minted + fee + in transit, mints once, and burns once for each mint', () => {
    const script = fc.array(fc.tuple(fc.nat({ max: tries.length - 1 }), fc.integer({ min: 1, max: 3 })), {
      minLength: 1,
      maxLength: 40,
      size: 'max',
    });
    const begin = fc.constantFrom([ordered(fastMove)], expiring.slice(0, 3), expiring);
    let [done, bumped] = [0, 0];
    fc.assert(
      fc.property(begin, script, (events, acts) => {
        let state: RebalanceState = fold(rebalance, events);
        for (const [act, n] of acts) {
          const before = state;
          const decision = tries[act]?.(state, n) ?? [];
          if (isRefusal(decision)) continue;
          state = fold(rebalance, decision, state);
          assert.ok(state);
          const { burned: left, minted, fee, inTransit } = transitOf(state);
          assert.equal(left, minted + fee + inTransit);
          assert.ok(inTransit >= 0n && fee >= 0n && fee <= BigInt(fastMove.route.feeMax));
          const live = state.burn.attempts.filter(({ fate }) => fate === 'live' || fate === 'settled');
          assert.ok(new Set(live.map(({ signed }) => signed.nonce)).size <= 1, 'two burns could land');
          const signs = decision.some(({ type }) => type === 'BurnSigned' || type === 'MintSigned');
          if (before?.minted && signs) assert.ok(bumps(state), 'behind the mint only a nonce in use is signed again');
          if (state.calledOff) assert.equal(left, 0n, 'nothing is burned after it was called off');
          if (rebalanceStanding(state) === 'done') done += 1;
          if (state.burn.settled) {
            const step = nextRebalanceStep(state);
            assert.ok(step.do !== 'transfer' || step.part === mintPart, 'nothing waits for a burn that is settled');
            if (state.burn.attempts.length > 1) bumped += 1;
          }
        }
      }),
      { numRuns: 2_000, seed: 46 },
    );
    assert.ok(done > 100, `${done} states were done: the scripts must reach the end`);
    assert.ok(bumped > 100, `${bumped} settled burns had several attempts: the scripts must bump fees`);
  });
});
