import assert from 'node:assert/strict';
import { fold } from '../../../domain/decider.ts';
import {
  approveOperation,
  callOffOperation,
  nextOperationStep,
  type OperationEvent,
  type OperationState,
  operation,
  operationLeg,
  operationOwed,
  operationStatus,
  orderOperation,
  rebalanceArrived,
} from '../../../domain/treasury/operation.ts';
import type { Order, SignedAttempt } from '../../support/operations.ts';
import { attemptOf, coinOrder, withdrawal } from '../../support/operations.ts';
import { hashOf, minute } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(operation);
const now = minute(5);

const ordered = (order: Order = withdrawal()): OperationEvent => ({ type: 'OperationOrdered', data: order });
const large = withdrawal({ approvals: 1 });
const approved = (by: string): OperationEvent => ({ type: 'OperationApproved', data: { by, approvedAt: now } });
const calledOff: OperationEvent = {
  type: 'OperationCalledOff',
  data: { reason: 'a typing error', by: 'ada', calledOffAt: now },
};
const signed = (attempt: SignedAttempt = attemptOf(withdrawal())): OperationEvent => ({
  type: 'OperationSigned',
  data: attempt,
});
const proof = { reason: 'reverted', detail: 'reverted in block 9' } as const;
const died: OperationEvent = { type: 'OperationDied', data: { attempt: 1, proof } };
const landed = { attempt: 1, hash: attemptOf(withdrawal()).hash, blockNumber: '9', blockHash: hashOf('block', 9) };
const confirmed: OperationEvent = { type: 'OperationConfirmed', data: { ...landed, confirmedAt: now } };

const approving = (by: string) => (state: OperationState) => approveOperation(state, by, now);
const callingOff = (state: OperationState) => callOffOperation(state, { reason: 'a typing error', by: 'ada', now });
const signing = (attempt: SignedAttempt) => (state: OperationState) => operationLeg.sign(state, 1, attempt);
const outcome = { ...landed, kind: 'final', blockNumber: 9n } as const;
const confirming = (state: OperationState) => operationLeg.conclude(state, 1, outcome, now);
const burying = (state: OperationState) => operationLeg.conclude(state, 1, { kind: 'dead', attempts: [1], proof }, now);
const stepAfter = (...events: readonly OperationEvent[]) => {
  const state = fold(operation, events);
  return state && nextOperationStep(state).do;
};

describe('an operation of the treasury', () => {
  it('is ordered once: the same order again is the same operation, another one is refused', () => {
    given([])
      .when((state) => orderOperation(state, withdrawal()))
      .then([ordered()]);
    given([ordered()])
      .when((state) => orderOperation(state, withdrawal({ orderedAt: minute(9), reason: 'again' })))
      .thenNothing();
    for (const other of [{ amount: '1' }, { receiver: '0x01' }, { receiverMemo: '7' }, { chainId: 8453 as const }])
      given([ordered()])
        .when((state) => orderOperation(state, withdrawal(other)))
        .thenRefused('conflict', /another operation has this id/);
  });

  it('above the limit waits until another operator approves it, once', () => {
    assert.equal(stepAfter(ordered(large)), 'hold');
    given([ordered(large)])
      .when(approving('grace'))
      .then([approved('grace')]);
    given([ordered(large)])
      .when(approving('ada'))
      .thenRefused('forbidden', /another operator/);
    given([ordered(large), approved('grace')])
      .when(approving('edsger'))
      .thenNothing();
    given([ordered()]).when(approving('grace')).thenNothing();
    assert.equal(stepAfter(ordered(large), approved('grace')), 'sign');
  });

  it('is not signed before it is approved, nor after it was called off', () => {
    const attempt = attemptOf(large);
    given([ordered(large)])
      .when(signing(attempt))
      .thenRefused('illegalStep', /approve/);
    given([ordered(large), approved('grace')])
      .when(signing(attempt))
      .then([signed(attempt)]);
    given([ordered(), calledOff])
      .when(signing(attemptOf(withdrawal())))
      .thenRefused('illegalStep', /called off by ada/);
    given([ordered(large), calledOff])
      .when(approving('grace'))
      .thenRefused('illegalStep', /called off/);
  });

  it('is signed exactly as ordered', () => {
    for (const other of [
      { amount: '80000001' },
      { receiver: '0x01' },
      { receiverMemo: '7' },
      { chainId: 8453 as const },
    ])
      given([ordered()])
        .when(signing({ ...attemptOf(withdrawal()), ...other }))
        .thenRefused('illegalStep', /not the one that was ordered/);
    const coin = coinOrder();
    given([ordered(coin)])
      .when(signing({ ...attemptOf(coin), token: withdrawal().token }))
      .thenRefused('illegalStep', /not the one that was ordered/);
  });

  it('can be called off while no signed attempt of it can land', () => {
    given([ordered()]).when(callingOff).then([calledOff]);
    given([ordered(), signed()])
      .when(callingOff)
      .thenRefused('illegalStep', /can still land/);
    given([ordered(), signed(), died]).when(callingOff).then([calledOff]);
    given([ordered(), signed(), confirmed])
      .when(callingOff)
      .thenRefused('illegalStep', /transaction is on its chain/);
    assert.equal(stepAfter(ordered(), calledOff), 'done');
  });

  it('is settled by its chain’s data, and sent again when its block leaves the chain', () => {
    given([ordered(), signed()]).when(confirming).then([confirmed]);
    given([ordered(), signed()]).when(burying).then([died]);
    given([ordered(), signed(), confirmed])
      .when(burying)
      .thenRefused('illegalStep', /settled/);
    const { hash, blockHash } = landed;
    const orphaned: OperationEvent = { type: 'OperationOrphaned', data: { attempt: 1, hash, blockHash } };
    given([ordered(), signed(), confirmed])
      .when((state) => operationLeg.orphan(state, 1, { hash, blockHash }))
      .then([orphaned]);
    assert.equal(stepAfter(ordered(), signed(), confirmed, orphaned), 'broadcast');
  });

  it('is over if it brought less than ordered: the arrived amount is recorded, nothing is sent again', () => {
    const short: OperationEvent = { type: 'OperationShort', data: { ...landed, arrived: '79000000', seenAt: now } };
    given([ordered(), signed()])
      .when((state) => operationLeg.conclude(state, 1, { ...outcome, kind: 'short', arrived: 79_000_000n }, now))
      .then([short]);
    assert.equal(stepAfter(ordered(), signed(), short), 'done');
  });

  it('may collect another amount than ordered: the arrived amount is recorded', () => {
    const flush = withdrawal({ kind: 'sweep', form: { kind: 'flush', deposits: [{ address: '0x01', salt: 's' }] } });
    given([ordered(flush), signed(attemptOf(flush))])
      .when((state) => operationLeg.conclude(state, 1, { ...outcome, arrived: 81n }, now))
      .then([{ type: 'OperationConfirmed', data: { ...landed, confirmedAt: now, arrived: '81' } }]);
  });

  it('waits for its money at the other end if it is a rebalance, after the money has left', () => {
    const to = { chainId: 8453, account: '0x02', token: withdrawal().token } as const;
    const rebalance = withdrawal({ kind: 'rebalance', expects: to });
    const seen = { hash: hashOf('top-up'), amount: 79_900_000n, by: 'ada', now };
    const arriving = (state: OperationState) => rebalanceArrived(state, seen);
    given([ordered(rebalance)])
      .when(arriving)
      .thenRefused('illegalStep', /has not left its chain/);
    given([ordered(), signed(), confirmed])
      .when(arriving)
      .thenRefused('illegalStep', /is not a rebalance/);
    const data = { hash: seen.hash, amount: '79900000', by: 'ada', arrivedAt: now };
    const arrived: OperationEvent = { type: 'RebalanceArrived', data };
    given([ordered(rebalance), signed(), confirmed])
      .when(arriving)
      .then([arrived]);
    given([ordered(rebalance), signed(), confirmed, arrived])
      .when((state) => rebalanceArrived(state, { ...seen, hash: hashOf('another') }))
      .thenRefused('illegalStep', /came with/);
  });

  it('is owed under a reference of its own, as limits count it', () => {
    const owedAs = (order: Order) => {
      const state = fold(operation, [ordered(order)]);
      return state && operationOwed('a1', state).purpose;
    };
    const reference = 'operation-a1';
    assert.deepEqual(owedAs(withdrawal()), { kind: 'withdrawal', reference });
    assert.deepEqual(owedAs(withdrawal({ kind: 'rebalance' })), { kind: 'withdrawal', reference });
    assert.deepEqual(owedAs(withdrawal({ kind: 'sweep' })), { kind: 'sweep', reference });
  });

  it('has distinct states', () => {
    const standing = (...events: readonly OperationEvent[]) => {
      const state = fold(operation, events);
      return state && operationStatus(state);
    };
    assert.deepEqual(
      [
        standing(ordered(large)),
        standing(ordered()),
        standing(ordered(), signed()),
        standing(ordered(), signed(), died),
        standing(ordered(), calledOff),
        standing(ordered(), signed(), confirmed),
      ],
      ['waitsForApproval', 'ordered', 'signed', 'ordered', 'calledOff', 'done'],
    );
  });

  it('is never approved, called off, signed or settled if nobody ordered it', () => {
    for (const decide of [approving('grace'), callingOff, signing(attemptOf(withdrawal())), confirming])
      given([]).when(decide).thenRefused('notFound');
  });
});
