import assert from 'node:assert/strict';
import { fold } from '../../../domain/decider.ts';
import { adoptTransaction, reportOutflow, type UnrecordedTransaction } from '../../../domain/treasury/adopting.ts';
import type { Purpose, TreasuryEvent } from '../../../domain/treasury/events.ts';
import {
  allowTransfer,
  assignNonce,
  explainNonces,
  nonceOf,
  objectionTo,
  reportTaken,
} from '../../../domain/treasury/nonces.ts';
import { type TreasuryState, treasury } from '../../../domain/treasury/state.ts';
import { hashOf, merchantWallet, minute, treasuryAccount } from '../../support/payments.ts';
import { specification } from '../../support/specification.ts';

const { given } = specification(treasury);
const now = minute(5);
const moves = { token: 'usdc', amount: '80' };
const payout = (reference: string): Purpose => ({ kind: 'payout', reference, ordinal: 1 });

const opened: TreasuryEvent = {
  type: 'TreasuryOpened',
  data: { chainId: 1, account: treasuryAccount, firstNonce: '7', openedAt: minute(0) },
};
const assigned = (nonce: number, reference = `p${nonce}`): TreasuryEvent => ({
  type: 'NonceAssigned',
  data: { nonce: String(nonce), purpose: payout(reference), moves, assignedAt: minute(1) },
});
const taken = (nonce: number): TreasuryEvent => ({
  type: 'NonceTaken',
  data: { nonce: String(nonce), detail: `transaction x used nonce ${nonce}`, proven: true, seenAt: minute(2) },
});
/** A transfer of five tokens that another program sent with the treasury's key. */
const byHand = (nonce: number | null, hash = hashOf('by hand', nonce)): UnrecordedTransaction => ({
  hash,
  nonce: nonce === null ? null : BigInt(nonce),
  blockNumber: 9n,
  blockHash: hashOf('block', 9),
  time: minute(3),
  succeeded: true,
  fee: 21_000n,
  changes: [{ asset: 'usdc', amount: -5n, counterparty: merchantWallet }],
});
const adopting = (strange: UnrecordedTransaction) => (state: TreasuryState) =>
  adoptTransaction(state, strange, { reason: 'our own', now });
const adopted = (nonce: number | null, nextNonce: number | null): TreasuryEvent => ({
  type: 'TransactionAdopted',
  data: {
    ...{ hash: byHand(nonce).hash, nonce: nonce === null ? null : String(nonce), blockNumber: '9' },
    ...{ blockHash: hashOf('block', 9), time: minute(3), succeeded: true, fee: '21000' },
    changes: [{ asset: 'usdc', amount: '-5', counterparty: merchantWallet }],
    nextNonce: nextNonce === null ? null : String(nextNonce),
    reason: 'our own',
    adoptedAt: now,
  },
});
const assigning = (reference: string, minedNonce: number) => (state: TreasuryState) =>
  assignNonce(state, { purpose: payout(reference), moves, minedNonce: BigInt(minedNonce), now });

describe('an unknown transaction', () => {
  it('sent with the next nonce stops the account until it is adopted; then the account continues behind it', () => {
    given([opened])
      .when(assigning('a', 8))
      .thenRefused('treasuryBehindChain', /npm run treasury -- adopt/);
    given([opened])
      .when(adopting(byHand(7)))
      .then([adopted(7, 8)]);
    const goesOn: TreasuryEvent = {
      type: 'NonceAssigned',
      data: { nonce: '8', purpose: payout('a'), moves, assignedAt: now },
    };
    given([opened, adopted(7, 8)])
      .when(assigning('a', 8))
      .then([goesOn]);
  });

  it('stops the account as one of several until all are adopted, in any order', () => {
    given([opened])
      .when(adopting(byHand(8)))
      .then([adopted(8, 7)]);
    given([opened, adopted(8, 7)])
      .when(assigning('a', 9))
      .thenRefused('treasuryBehindChain');
    given([opened, adopted(8, 7)])
      .when(adopting(byHand(7)))
      .then([adopted(7, 9)]);
  });

  it('with the nonce of a payout leaves the payout to another nonce', () => {
    const history = [opened, assigned(7, 'a'), assigned(8, 'b'), taken(7)];
    given(history).when(assigning('c', 8)).thenRefused('treasuryBehindChain');
    given(history)
      .when(adopting(byHand(7)))
      .then([adopted(7, 9)]);
    const state = fold(treasury, [...history, adopted(7, 9)]);
    assert.equal(objectionTo(state), undefined);
    assert.equal(nonceOf(state, payout('a')), null);
    assert.equal(nonceOf(state, payout('b')), 8n, 'others keep theirs');
    assert.match(state.explained.at(-1)?.detail ?? '', /in block 9 used nonce 7/);
  });

  it('adopted is known: its nonce is not reported again, and another transaction with it is refused', () => {
    const known = [opened, assigned(7), adopted(7, 8)];
    given(known)
      .when((state) => reportTaken(state, { nonce: 7n, detail: 'again', proven: true, now }))
      .thenNothing();
    given(known)
      .when(adopting(byHand(7)))
      .thenNothing();
    given(known)
      .when(adopting(byHand(7, hashOf('another'))))
      .thenRefused('conflict', /one of the two never was/);
  });

  it('is not recorded for an account that never paid', () => {
    given([])
      .when(adopting(byHand(7)))
      .thenRefused('illegalStep', /nothing to adopt/);
  });

  describe('on a chain whose nonces do not reveal it', () => {
    const { hash } = byHand(null);
    const outflow = { hash, blockNumber: 9n, detail: `${hash} took 5.00 USDC`, now };
    const seen: TreasuryEvent = {
      type: 'OutflowSeen',
      data: { hash, blockNumber: '9', detail: outflow.detail, seenAt: now },
    };
    const reporting = (state: TreasuryState) => reportOutflow(state, outflow);
    const allowing = (state: TreasuryState) => allowTransfer(state, { chainId: 501, account: treasuryAccount, now });

    it('stops the account once it is detected, until it is adopted', () => {
      given([opened]).when(reporting).then([seen]);
      given([opened, seen])
        .when(allowing)
        .thenRefused('treasuryBehindChain', /took 5.00 USDC.*adopt/);
      given([opened, seen])
        .when(adopting(byHand(null)))
        .then([adopted(null, 7)]);
      given([opened, seen, adopted(null, 7)])
        .when(allowing)
        .thenNothing();
      given([opened, adopted(null, 7)])
        .when(reporting)
        .thenNothing();
    });

    it('or until an operator explains all of them', () => {
      const explaining = (state: TreasuryState) => explainNonces(state, { minedNonce: 0n, reason: 'known', now });
      const explained: TreasuryEvent = {
        type: 'NoncesExplained',
        data: { upTo: '0', reason: 'known', explainedAt: now },
      };
      given([opened, seen]).when(explaining).then([explained]);
      given([opened, seen, explained]).when(allowing).thenNothing();
      given([opened, seen, explained]).when(reporting).thenNothing();
    });

    it('is ignored before the account has paid for the first time', () => {
      given([]).when(reporting).thenNothing();
    });
  });
});
