/** Moves of USDT0: one send of ours, and an arrival that others deliver. */
import assert from 'node:assert/strict';
import { Asset, Networks } from '@stellar/stellar-sdk';
import { chainOf } from '../../../domain/chains.ts';
import { fold, isRefusal } from '../../../domain/decider.ts';
import type { OftRoute, RebalanceEvent, RebalanceOrdered } from '../../../domain/rebalance/events.ts';
import { arrivingFrom, transitOf } from '../../../domain/rebalance/inTransit.ts';
import {
  type ArrivalSeen,
  burnPart,
  callOffRebalance,
  mintPart,
  nextRebalanceStep,
  orderRebalance,
  orphanMintByOther,
  type RebalanceState,
  rebalance,
  rebalanceLegs,
  rebalanceOwed,
  rebalanceStanding,
  recordAttestation,
  recordMessageArrival,
} from '../../../domain/rebalance/rebalance.ts';
import {
  chainOfEndpoint,
  counterpartyOn,
  messageFeeLimit,
  messageTime_ms,
  sendableOn,
  stellarUsdt0,
  usdt0ChainIds,
  usdt0Route,
  withFeeMargin,
} from '../../../domain/rebalance/usdt0.ts';
import { plus } from '../../../domain/time.ts';
import { baseUsdc, hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import {
  attestation,
  burnConfirmed,
  landed,
  messageOf,
  mintAttempt,
  move,
  ordered,
  proof,
} from '../../support/rebalances.ts';
import { specification } from '../../support/specification.ts';
import { arrived, guid, messageFee_wei, sendOrder, sendSigned } from '../../support/usdt0.ts';

const { given } = specification(rebalance);
const order = sendOrder();
const sent = [ordered(order), sendSigned(order), burnConfirmed()];
const stateOf = (events: readonly RebalanceEvent[]) => {
  const state = fold(rebalance, events);
  assert.ok(state);
  return state;
};
const arrival: ArrivalSeen = {
  hash: hashOf('arrival'),
  blockNumber: 9n,
  blockHash: landed('mint').blockHash,
  received: 100_000_000n,
  burnHash: hashOf('burn', 1),
  guid,
  now: minute(20),
};
const recording =
  (change: Partial<ArrivalSeen> = {}) =>
  (state: RebalanceState) =>
    recordMessageArrival(state, { ...arrival, ...change });

describe('a rebalance by USDT0', () => {
  it('is one send and an arrival, each unit accounted for', () => {
    const states = [1, 2, 3].map((count) => stateOf(sent.slice(0, count)));
    assert.deepEqual(states.map(rebalanceStanding), ['ordered', 'burnSigned', 'sent']);
    const [begun, , under] = states;
    assert.ok(begun && under);
    assert.deepEqual(begun.burn.order.form, {
      ...{ kind: 'oftSend', destinationDomain: 30_101 },
      ...{ recipient: treasuryAccount, messageFee: messageFee_wei.toString() },
    });
    assert.deepEqual(nextRebalanceStep(under), { do: 'receive', burnHash: hashOf('burn', 1) });
    assert.deepEqual(transitOf(under), { burned: 100_000_000n, minted: 0n, fee: 0n, inTransit: 100_000_000n });
    assert.deepEqual(
      [arrivingFrom(under)?.amount, arrivingFrom(under)?.expectedAt],
      [100_000_000n, plus(minute(3), messageTime_ms(42161))],
    );
    assert.deepEqual(
      rebalanceOwed('x', under).map(({ key, step }) => [key.part, step.do]),
      [[burnPart, 'done']],
    );
    given(sent).when(recording()).then([arrived()]);
    const done = stateOf([...sent, arrived()]);
    assert.equal(rebalanceStanding(done), 'done');
    assert.deepEqual(transitOf(done), { burned: 100_000_000n, minted: 100_000_000n, fee: 0n, inTransit: 0n });
    assert.equal(arrivingFrom(done), null);
  });

  it('records an arrival only of its settled send, whole, and once', () => {
    given(sent.slice(0, 2))
      .when(recording())
      .thenRefused('illegalStep', /not our settled send/);
    given(sent)
      .when(recording({ burnHash: hashOf('burn', 2) }))
      .thenRefused('illegalStep', /not our settled send/);
    for (const received of [99_999_999n, 100_000_001n])
      given(sent)
        .when(recording({ received }))
        .thenRefused('illegalStep', /an operator must check it/);
    given([...sent, arrived()])
      .when(recording())
      .thenNothing();
    given([...sent, arrived()])
      .when(recording({ hash: hashOf('other') }))
      .thenRefused('illegalStep', /one message cannot arrive twice/);
    given([])
      .when(recording())
      .thenRefused('notFound', /no such rebalance/);
    given([ordered(move())])
      .when(recording())
      .thenRefused('illegalStep', /recorded from its attested message/);
  });

  it('is in transit again after a reorganisation that removes the arrival', () => {
    const { hash, blockHash } = arrival;
    const gone = { type: 'MintByOtherOrphaned', data: { hash, blockHash, seenAt: minute(21) } } as const;
    given([...sent, arrived()])
      .when((state) => orphanMintByOther(state, { hash, blockHash, now: minute(21) }))
      .then([gone]);
    assert.equal(rebalanceStanding(stateOf([...sent, arrived(), gone])), 'sent');
  });

  it('sends again only after a proof that the first send can never land', () => {
    const died: RebalanceEvent = { type: 'BurnDied', data: { attempt: 1, proof } };
    const step = nextRebalanceStep(stateOf([...sent.slice(0, 2), died]));
    assert.ok(step.do === 'transfer' && step.step.do === 'sign');
    const orphaned: RebalanceEvent = {
      type: 'BurnOrphaned',
      data: { attempt: 1, hash: hashOf('burn', 1), blockHash: landed('burn').blockHash },
    };
    const again = nextRebalanceStep(stateOf([...sent, orphaned]));
    assert.ok(again.do === 'transfer' && again.step.do === 'broadcast');
  });

  it('is cancelled before the send alone', () => {
    const stop = { reason: 'not needed', by: 'ada', now: minute(9) };
    assert.ok(!isRefusal(callOffRebalance(stateOf([ordered(order)]), stop)));
    for (const events of [sent.slice(0, 2), sent, [...sent, arrived()]])
      assert.ok(isRefusal(callOffRebalance(stateOf(events), stop)));
  });

  it('has neither an attestation nor a mint of ours', () => {
    const seen = { burnHash: hashOf('burn', 1), message: messageOf(move()), attestation, now: minute(9) };
    given(sent)
      .when((state) => recordAttestation(state, seen))
      .thenRefused('illegalStep', /no attestations/);
    given(sent)
      .when((state) => rebalanceLegs.sign(state, mintPart, mintAttempt()))
      .thenRefused('illegalStep', /nothing to mint/);
  });

  it('is refused if it could lose money', () => {
    const refused = (asked: RebalanceOrdered, why: RegExp) =>
      given([])
        .when((state) => orderRebalance(state, asked))
        .thenRefused('invalidRequest', why);
    const by = (route: Partial<OftRoute>) => sendOrder({}, route);
    refused({ ...order, to: order.from }, /from one chain to another/);
    refused({ ...order, to: { ...order.to, chainId: 8453 } }, /USDT0 has no route from chain 42161 to 8453/);
    refused({ ...order, from: { ...order.from, token: baseUsdc.token } }, /is not the token that USDT0 moves/);
    refused(by({ messenger: treasuryAccount }), /other contracts or endpoints/);
    refused(by({ transmitter: treasuryAccount }), /other contracts or endpoints/);
    refused(by({ minter: treasuryAccount }), /other contracts or endpoints/);
    refused(by({ destinationDomain: 30_109 }), /other contracts or endpoints/);
    refused(by({ messageFee: '0' }), /the message fee is 0 wei/);
    refused(by({ messageFee: (messageFeeLimit(42161) + 1n).toString() }), /at most 10000000000000000 are allowed/);
    refused({ ...order, amount: '0' }, /the amount is 0/);
    const unknown = { ...order, route: { ...usdt0Route(42161, 137, messageFee_wei) } };
    refused(unknown, /other contracts or endpoints/);
  });

  it('is the same order with the same fee', () => {
    given([ordered(order)])
      .when((state) => orderRebalance(state, { ...order, orderedAt: minute(7), reason: 'again' }))
      .thenNothing();
    given([ordered(order)])
      .when((state) => orderRebalance(state, sendOrder({}, { messageFee: '1' })))
      .thenRefused('conflict', /another rebalance has this id/);
  });

  it('knows its chains by their endpoints, and the account of the other side', () => {
    assert.deepEqual([30_101, 30_110, 30_109, 30_600, 30_102].map(chainOfEndpoint), [1, 42161, 137, 1500, undefined]);
    assert.deepEqual(
      usdt0ChainIds.map((chainId) => [chainId, counterpartyOn(chainId) === `0x${'0'.repeat(40)}`]),
      [
        [1, false],
        [42161, true],
        [137, true],
        [1500, false],
      ],
    );
    assert.deepEqual([0n, 1n, 4n, 200n].map(withFeeMargin), [0n, 2n, 5n, 250n]);
  });

  it('counts in the 7 decimals of Stellar there, and refuses the seventh', () => {
    const onStellar = (change: Partial<RebalanceOrdered> = {}): RebalanceOrdered => ({
      ...sendOrder({ from: 1500, to: 137, amount: 1_000_000_000n }, { messageFee: '8000000' }),
      ...change,
    });
    const refused = (asked: RebalanceOrdered, why: RegExp) =>
      given([])
        .when((state) => orderRebalance(state, asked))
        .thenRefused('invalidRequest', why);
    refused(onStellar({ amount: '1000000001' }), /seventh decimal/);
    refused(
      sendOrder({ from: 1500, to: 137 }, { messageFee: (messageFeeLimit(1500) + 1n).toString() }),
      /stroops, more than 0 and at most 1000000000 are allowed/,
    );
    const out = onStellar();
    const under = stateOf([ordered(out), sendSigned(out), burnConfirmed()]);
    assert.deepEqual(
      [transitOf(under).inTransit, arrivingFrom(under)?.amount, under.burn.order.receiver],
      [1_000_000_000n, 100_000_000n, stellarUsdt0.issuer],
    );
    given([ordered(out), sendSigned(out), burnConfirmed()])
      .when(recording({ received: 1_000_000_000n }))
      .thenRefused('illegalStep', /1000000000 arrived of 100000000 sent/);
    given([ordered(out), sendSigned(out), burnConfirmed()])
      .when(recording())
      .then([arrived()]);
    const into = sendOrder({ from: 137, to: 1500 });
    given([ordered(into), sendSigned(into), burnConfirmed()])
      .when(recording())
      .thenRefused('illegalStep', /100000000 arrived of 1000000000 sent/);
    given([ordered(into), sendSigned(into), burnConfirmed()])
      .when(recording({ received: 1_000_000_000n }))
      .then([arrived({ received: '1000000000' })]);
  });

  it('knows the asset of Stellar by its issuer, and computes the contract of the asset', () => {
    const token = sendableOn(1500);
    assert.deepEqual([token?.address, token?.decimals], [`USDT0:${stellarUsdt0.issuer}`, 7]);
    assert.equal(new Asset('USDT0', stellarUsdt0.issuer).contractId(Networks.PUBLIC), stellarUsdt0.token);
    // No payment is offered in it.
    assert.deepEqual(
      chainOf(1500).tokens.map(({ symbol }) => symbol),
      ['USDC'],
    );
  });
});
