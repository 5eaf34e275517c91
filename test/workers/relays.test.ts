/** Relays on a chain that the spec controls: the result of each, and that none sends more than needed. */
import assert from 'node:assert/strict';
import { currentState } from '../../commands/handle.ts';
import { Unavailable } from '../../commands/ports.ts';
import {
  type Fate,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type TransferOrder,
} from '../../commands/transferPorts.ts';
import { isRefusal } from '../../domain/decider.ts';
import { relay, relayIdOf } from '../../domain/relay/relay.ts';
import { treasuryInstance } from '../../domain/treasury/state.ts';
import { relayOwner } from '../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../src/workers/payouts/worker.ts';
import { detected, expired, feeCaps, hashOf, minute, treasuryAccount } from '../support/payments.ts';
import { fakeNumbering, sharedBySigners } from '../support/payouts.ts';
import { Crashed, crashAt } from '../support/processes.ts';
import { appId, paymentId, relayDesk } from '../support/relayDesk.ts';
import { anyPayer } from '../support/x402.ts';

const second = 1_000;
const { signal } = new AbortController();
const id = relayIdOf(paymentId, 1);
const item = { key: { kind: 'relay', id, part: 1 }, appId } as const;
const reverted = { reason: 'reverted', detail: 'it was reverted, final' } as const;

describe('relaying', () => {
  it('signs with a nonce of the relay account, sends, and settles what is final', async () => {
    const { act, around, state, sent, typesIn, pass } = await relaying();
    await act();
    assert.deepEqual(sent, [(await state()).leg.attempts[0]?.signed.bytes]);
    around.fate = (latest) => ({ kind: 'final', attempt: 1, hash: latest.hash, blockNumber: 7n, blockHash: hashOf(7) });
    pass(6 * second);
    await act();
    assert.equal((await state()).leg.settled?.attempt, 1);
    assert.deepEqual(await typesIn(`treasury-${treasuryInstance(8453, treasuryAccount)}`), [
      'TreasuryOpened',
      'NonceAssigned',
    ]);
  });

  it('sends the recorded bytes again after an unknown outcome, and never signs another transaction', async () => {
    const { act, state, sent, pass } = await relaying();
    for (let round = 1; round <= 5; round += 1) {
      await act();
      pass(5 * second);
    }
    assert.equal(new Set(sent).size, 1);
    assert.ok(sent.length >= 3);
    assert.equal((await state()).leg.attempts.length, 1);
  });

  for (const ends of ['superseded', 'cancelled', 'drained', 'refused', 'expired'] as const)
    it(`ends an authorization that the token would refuse (${ends}) before anything is signed`, async () => {
      const { act, around, state, sent } = await relaying();
      around.blocked = new PayoutBlocked('refusedByToken', `it is ${ends}`, ends);
      await act();
      const { ended, leg } = await state();
      assert.deepEqual([ended?.reason, ended?.detail, leg.attempts, sent], [ends, `it is ${ends}`, [], []]);
      await act();
      assert.deepEqual(sent, []);
    });

  it('waits without gas, and ends when the time of the authorization is over', async () => {
    const { act, around, state, sent, pass } = await relaying();
    around.blocked = new PayoutBlocked('gas', 'the relay account is empty');
    await act();
    assert.deepEqual([(await state()).ended, around.alarms], [null, ['gas']]);
    pass(400 * second);
    await act();
    assert.deepEqual([(await state()).ended?.reason, sent], ['expired', []]);
  });

  it('waits unsigned while a separate signer does not answer, and ends when the transaction of its payer has expired', async () => {
    const { act, around, state, sent } = await relaying();
    around.unanswered = new Unavailable('the signer does not answer', 5);
    for (let tries = 1; tries <= 3; tries += 1) await assert.rejects(act(), Unavailable);
    assert.deepEqual([(await state()).ended, (await state()).leg.attempts, sent], [null, [], []]);
    around.blocked = new PayoutBlocked('refusedByToken', 'no block accepts its blockhash', 'expired');
    await act();
    assert.deepEqual([(await state()).ended?.reason, (await state()).leg.attempts, sent], ['expired', [], []]);
  });

  it('ends when the payment was paid meanwhile, by the payer’s own money or by other money', async () => {
    for (const [from, reason] of [
      ['payer', 'superseded'],
      ['other', 'paid'],
    ] as const) {
      const { act, state, record, paidBy, payer, sent } = await relaying();
      await record([detected(paidBy(from === 'payer' ? payer : treasuryAccount))]);
      await act();
      assert.deepEqual([(await state()).ended?.reason, sent], [reason, []]);
    }
    const over = await relaying();
    await over.record([expired()]);
    await over.act();
    assert.equal((await over.state()).ended?.reason, 'paid');
  });

  it('checks again right before the signature: money that arrived meanwhile keeps it from being signed', async () => {
    const { act, around, state, record, paidBy, payer, sent, pass } = await relaying();
    around.beforeNonce = async () => {
      pass(3 * second);
      await record([detected(paidBy(payer))]);
    };
    await act();
    assert.deepEqual([(await state()).leg.attempts, sent], [[], []]);
  });

  it('signs again after a proven revert, once; a second revert ends it', async () => {
    const { act, around, state, sent, pass } = await relaying();
    around.fate = (latest) => ({ kind: 'dead', attempts: [latest.attempt], proof: reverted });
    for (let round = 1; round <= 6; round += 1) {
      await act();
      around.minedNonce += 1n;
      pass(6 * second);
    }
    const { ended, leg } = await state();
    assert.deepEqual([ended?.reason, leg.attempts.length, new Set(sent).size], ['refused', 2, 2]);
  });

  it('is not ended while its transaction can land, though the token would refuse it by now', async () => {
    const { act, around, state, pass } = await relaying();
    await act();
    around.fate = () => ({ kind: 'pending', mined: false });
    around.blocked = new PayoutBlocked('refusedByToken', 'it is expired', 'expired');
    pass(200 * second);
    await act();
    const { ended, leg } = await state();
    assert.deepEqual([ended, leg.attempts.map(({ fate }) => fate)], [null, ['live']]);
  });

  for (const point of ['relay.beforeSign', 'relay.afterSign', 'relay.beforeBroadcast', 'relay.afterBroadcast'])
    it(`dies at ${point}, and the next process sends the same one transaction`, async () => {
      const { act, sent, state, restart } = await relaying();
      await assert.rejects(restart(point)(), Crashed);
      await act();
      assert.deepEqual([new Set(sent).size, (await state()).leg.attempts.length], [1, 1]);
    });
});

async function relaying() {
  const desk = await relayDesk();
  const { start, clock, time, accept, signed } = desk;
  const sent: string[] = [];
  const around = {
    fate: (_: Sent): Fate => ({ kind: 'unknown' }),
    blocked: null as PayoutBlocked | null,
    /** Error of the signer. */
    unanswered: null as Error | null,
    beforeNonce: async (): Promise<void> => {},
    minedNonce: 3n,
    alarms: [] as string[],
  };
  const prepare = async (order: TransferOrder, nonce: bigint | null) => {
    if (around.blocked) throw around.blocked;
    const own = { chainId: 8453 as const, account: treasuryAccount, nonce, order, validUntil: null, payload: null };
    await around.beforeNonce();
    return { ...own, fee: feeCaps(100) };
  };
  const rail = {
    chainId: 8453,
    account: treasuryAccount,
    get numbering() {
      const prepareCancel = async () => assert.fail('nothing is cancelled');
      return fakeNumbering({ minedNonce: () => around.minedNonce }, { prepare, prepareCancel });
    },
    broadcast: async (bytes: string) => void sent.push(bytes),
    fate: async (attempts: readonly Sent[]) => around.fate(attempts.at(-1) ?? assert.fail('of something')),
    canLand: async () => true,
  } as Partial<PayoutRail> as PayoutRail;
  const signer: Signer = {
    account: treasuryAccount,
    check: () => {
      if (around.unanswered) throw around.unanswered;
    },
    sign: async ({ nonce, order }) => {
      const hash = hashOf(String(nonce), order.receiver);
      return { bytes: hash, hash };
    },
  };
  const payer = anyPayer();
  const accepted = await accept(await signed(payer));
  assert.ok(!isRefusal(accepted));
  time.now = minute(2);

  const restart = (point = '') => {
    const handle = start();
    const worker = transfersWorker({
      ...sharedBySigners(clock),
      owners: { relay: relayOwner({ handle, clock }) },
      poll_ms: second,
      handle,
      clock,
      crash: crashAt(point),
      rail,
      signer,
      due: async () => [item],
      alarm: (_, reason) => void around.alarms.push(reason),
    });
    return () => worker.act(item, signal);
  };
  return {
    ...desk,
    around,
    sent,
    restart,
    act: () => restart()(),
    payer: payer.address,
    state: async () => (await currentState(start(), relay, id)) ?? assert.fail('it is ordered'),
  };
}
