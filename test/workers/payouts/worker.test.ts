import assert from 'node:assert/strict';
import { currentState } from '../../../commands/handle.ts';
import {
  BroadcastRefused,
  type Fate,
  nothingToProve,
  PayoutBlocked,
  type PayoutRail,
  type Sent,
  type Signer,
  type TransferOrder,
} from '../../../commands/transferPorts.ts';
import { paymentDecider } from '../../../domain/payment/state.ts';
import { plus } from '../../../domain/time.ts';
import { liveAttempts } from '../../../domain/transfer/leg.ts';
import type { SignedAttempt } from '../../../domain/transfer/shapes.ts';
import { ChainUnavailable } from '../../../src/chains/node/nodes.ts';
import { payoutOwner } from '../../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../../src/workers/payouts/worker.ts';
import { died, feeCaps, hashOf, held, minute, paid, terms, treasuryAccount } from '../../support/payments.ts';
import { fakeNumbering, sharedBySigners } from '../../support/payouts.ts';
import { accepted, processes } from '../../support/processes.ts';

const { paymentId, appId } = terms();
const item = { key: { kind: 'payout', id: paymentId, part: 1 }, appId } as const;
const { signal } = new AbortController();
const second = 1_000;

describe('paying out', () => {
  it('orders, signs and sends, and settles final attempts', async () => {
    const { act, around, attempts, payment } = await paying();
    await act();
    assert.deepEqual(around.sent, [attempts()[0]?.bytes]);
    const [{ hash }] = attempts() as [SignedAttempt];
    around.fate = { kind: 'final', attempt: 1, hash, blockNumber: 7n, blockHash: hashOf(7) };
    await act();
    assert.equal((await payment()).payout?.settled?.hash, hash);
  });

  it('notifies an operator of one that brought too little, and neither settles it nor pays it again', async () => {
    const { act, around, attempts, payment, pass } = await paying();
    await act();
    const [{ hash }] = attempts() as [SignedAttempt];
    around.fate = { kind: 'short', attempt: 1, arrived: 9_900000n, hash, blockNumber: 7n, blockHash: hashOf(7) };
    for (const _ of [1, 2, 3]) {
      await act();
      pass(700 * second);
    }
    const { payout } = await payment();
    assert.deepEqual([payout?.settled, payout?.short?.arrived, payout?.attempts.length], [null, 9_900000n, 1]);
    assert.deepEqual([around.sent.length, around.alarms], [1, ['payoutShort']]);
  });

  it('sends again an attempt that the chain does not return, but not all the time, and not a mined one', async () => {
    const { act, around, pass } = await paying();
    await act();
    await act();
    assert.equal(around.sent.length, 1);
    pass(5 * second);
    await act();
    assert.equal(around.sent.length, 2);
    around.fate = { kind: 'pending', mined: true };
    pass(500 * second);
    await act();
    assert.equal(around.sent.length, 2);
  });

  it('sends a just signed attempt before it queries its result', async () => {
    const { act, around, attempts } = await paying();
    around.fate = () => assert.fail('asked for what nobody has sent');
    await act();
    assert.deepEqual(around.sent, [attempts()[0]?.bytes]);
  });

  it('queries first the results of earlier signatures, as by another process', async () => {
    const { act, around, attempts, pass, restart } = await paying();
    await act();
    const [{ hash }] = attempts() as [SignedAttempt];
    around.fate = { kind: 'final', attempt: 1, hash, blockNumber: 9n, blockHash: hashOf(9) };
    pass(6 * second);
    await restart().act();
    assert.equal(around.sent.length, 1);
  });

  for (const [how, fate] of [
    ['is not mined', { kind: 'pending', mined: false }],
    ['the nodes have dropped', { kind: 'unknown' }],
  ] as const) {
    it(`outbids an attempt that ${how} for long, with the same nonce`, async () => {
      const { act, around, pass, attempts } = await paying();
      await act();
      around.fate = fate;
      pass(100 * second);
      await act();
      assert.equal(new Set(attempts().map(({ nonce }) => nonce)).size, 1);
      assert.deepEqual(around.sent.slice(-1), [attempts()[1]?.bytes]);
    });
  }

  it('treats an attempt that another instance found dead, while this one outbid it, as no stranger’s', async () => {
    const { act, around, pass, attempts, foundDead, payment } = await paying();
    await act();
    const [{ hash, nonce }] = attempts() as [SignedAttempt];
    around.fate = { kind: 'pending', mined: false };
    pass(100 * second);
    await act();
    await foundDead(1);
    const proof = { reason: 'reverted', detail: `transaction ${hash} was reverted` } as const;
    const byStranger = { reason: 'nonceUsed', detail: `transaction ${hash} used nonce ${nonce}` } as const;
    around.minedNonce = BigInt(nonce ?? 0) + 1n;
    around.fate = (sent) =>
      sent.nonce === nonce
        ? { kind: 'dead', attempts: [1, 2], proof: sent.hash === hash ? proof : byStranger }
        : { kind: 'unknown' };
    await act();
    assert.deepEqual(around.alarms, []);
    const { payout } = await payment();
    assert.deepEqual(
      payout?.attempts.map(({ fate }) => fate),
      ['dead', 'dead', 'live'],
    );
    assert.notEqual(attempts()[0]?.nonce, nonce, 'it is signed anew');
  });

  it('never outbids where there are no nonces: it sends the same bytes until they are dead', async () => {
    const { act, around, pass, attempts } = await paying();
    around.minedNonce = null;
    await act();
    for (const _ of [1, 2]) {
      pass(100 * second);
      await act();
    }
    const [{ bytes }] = attempts() as [SignedAttempt];
    assert.deepEqual(around.sent, [bytes, bytes, bytes]);

    around.fate = { kind: 'dead', attempts: [1], proof: { reason: 'validityPassed', detail: 'height 9 is final' } };
    await act();
    around.fate = { kind: 'unknown' };
    await act();
    assert.equal(attempts()[0]?.attempt, 2);
    assert.deepEqual(around.sent.slice(3), [attempts()[0]?.bytes]);
  });

  it('sends an attempt that no node knows after a restart, before it outbids it', async () => {
    const { act, around, pass, attempts, restart } = await paying();
    await act();
    pass(100 * second);
    await restart().act();
    assert.equal(attempts().length, 1);
    assert.equal(around.sent.length, 2);
  });

  it('outbids bytes that every node refuses by now, and sends no older ones any more', async () => {
    const { act, around, pass, attempts } = await paying();
    await act();
    around.refuses = ({ bytes }) => bytes === attempts()[0]?.bytes;
    pass(10 * second);
    await assert.rejects(act(), BroadcastRefused);
    pass(100 * second);
    await act();
    pass(10 * second);
    await act();
    assert.equal(attempts().length, 2);
    assert.deepEqual(around.sent.slice(-2), [attempts()[1]?.bytes, attempts()[1]?.bytes]);
  });

  it('gives up an attempt that every node refuses for ten minutes: a cancel of its nonce, and then another nonce', async () => {
    const { act, around, attempts, payment, pass } = await paying();
    await act();
    around.refuses = ({ bytes }) => !bytes.startsWith('cancel');
    around.blocked = new PayoutBlocked('refusedByToken', 'frozen');
    const tryFor = async (minutes: number) => {
      for (let second = 0; second < minutes * 60; second += 10) {
        pass(10_000);
        await act().catch((error) => assert.ok(error instanceof BroadcastRefused));
      }
    };
    await tryFor(9);
    assert.deepEqual(around.cancels, []);
    await tryFor(20);
    assert.deepEqual(around.cancels, ['cancel 7']);
    assert.equal(attempts().length, 1);
    assert.deepEqual([...new Set(around.refused)], ['policy Transaction rejected by chain policy']);

    around.fate = ({ attempt, hash }) =>
      attempt === 0
        ? { kind: 'final', attempt, hash, blockNumber: 9n, blockHash: hashOf(9) }
        : { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'by the cancel' } };
    around.minedNonce = 8n;
    around.blocked = null;
    around.refuses = () => false;
    pass(5 * second);
    await act();
    const { payout } = await payment();
    assert.deepEqual(
      payout?.attempts.map(({ fate, signed }) => `${signed.nonce} ${fate}`),
      ['7 dead', '8 live'],
    );
  });

  it('is not excluded while a cancel of refused attempts is above the price limit, and gives them up once it is not', async () => {
    const { act, around, attempts, pass } = await paying();
    await act();
    around.refuses = ({ bytes }) => !bytes.startsWith('cancel');
    around.blocked = new PayoutBlocked('gas', 'too dear');
    around.cancelBlocked = around.blocked;
    for (let seconds = 0; seconds < 30 * 60; seconds += 10) {
      pass(10 * second);
      await act().catch((error) => assert.ok(error instanceof BroadcastRefused));
    }
    assert.deepEqual([around.cancels, attempts().length], [[], 1]);
    assert.ok(around.alarms.includes('gas'));
    around.cancelBlocked = null;
    pass(10 * second);
    await act();
    assert.deepEqual(around.cancels, ['cancel 7']);
  });

  it('continues to send a held attempt, which can land, and outbids none of it', async () => {
    const { act, around, hold, pass, attempts, payment } = await paying();
    await act();
    await hold();
    for (const _ of [1, 2, 3]) {
      pass(100 * second);
      await act();
    }
    assert.deepEqual([attempts().length, around.sent.length], [1, 4]);
    const [{ hash }] = attempts() as [SignedAttempt];
    around.fate = { kind: 'final', attempt: 1, hash, blockNumber: 7n, blockHash: hashOf(7) };
    await act();
    assert.equal((await payment()).payout?.settled?.hash, hash);
  });

  it('gives up nothing that a node accepted in between, or while no node answers', async () => {
    const { act, around, pass } = await paying();
    await act();
    around.blocked = new PayoutBlocked('gas', 'too dear');
    let tries = 0;
    around.refuses = () => {
      tries += 1;
      if (tries % 20 === 0) return false;
      if (tries > 190) throw new ChainUnavailable(1, []);
      return true;
    };
    for (let n = 0; n < 400; n += 1) {
      pass(10 * second);
      await act().catch((error) => assert.ok(error instanceof BroadcastRefused || error instanceof ChainUnavailable));
    }
    assert.deepEqual(around.cancels, []);
  });

  it('signs nothing while nodes do not return the money, and continues with signed attempts', async () => {
    const { act, around, pass, attempts } = await paying();
    around.unproven = new PayoutBlocked('fundingUnproven', 'node 2 has no such transaction');
    await act();
    assert.deepEqual([attempts().length, around.alarms], [0, ['fundingUnproven']]);
    around.unproven = null;
    pass(100 * second);
    await act();
    assert.equal(attempts().length, 1);
    around.unproven = new PayoutBlocked('fundingUnproven', 'node 2 has no such transaction');
    pass(100 * second);
    await act();
    assert.deepEqual([attempts().length, around.sent.length], [2, 3]);
  });

  it('neither sends nor settles attempts that nodes contradict each other about, and reports it at intervals', async () => {
    const { act, around, pass, attempts } = await paying();
    await act();
    const dispute = { reason: 'nodesDisagree', message: 'node 1: dead; node 2: final' } as const;
    around.fate = { kind: 'pending', mined: true, dispute };
    for (const _ of [1, 2, 3]) {
      pass(100 * second);
      await act();
    }
    assert.deepEqual([around.sent.length, attempts().length], [1, 1]);
    assert.deepEqual(around.alarms, ['nodesDisagree']);
    pass(600 * second);
    await act();
    assert.deepEqual(around.alarms, ['nodesDisagree', 'nodesDisagree']);
  });

  it('continues to send signed attempts while the price is above the limit', async () => {
    const { act, around, pass, attempts } = await paying();
    await act();
    around.blocked = new PayoutBlocked('gas', 'too dear');
    for (const _ of [1, 2, 3]) {
      pass(100 * second);
      await act();
    }
    assert.equal(attempts().length, 1);
    assert.equal(around.sent.length, 4);
    assert.deepEqual(around.alarms, ['gas', 'gas', 'gas']);
  });

  it('notifies an operator of an attempt that is not mined after ten minutes, and again every ten', async () => {
    const { act, around, pass } = await paying();
    around.minedNonce = null;
    await act();
    for (let minutes = 1; minutes <= 25; minutes += 1) {
      pass(60 * second);
      await act();
    }
    assert.deepEqual(around.alarms, ['payoutStuck', 'payoutStuck']);
  });

  it('notifies an operator of one that is mined and not final after an hour: no node may remember it', async () => {
    const { act, around, pass } = await paying();
    await act();
    around.fate = { kind: 'pending', mined: true };
    pass(3_500 * second);
    await act();
    assert.deepEqual(around.alarms, []);
    pass(100 * second);
    await act();
    assert.deepEqual(around.alarms, ['payoutStuck']);
  });

  it('ends no attempt whose nonce an unrecorded transaction used, and notifies an operator', async () => {
    const { act, around, attempts, pass } = await paying();
    await act();
    around.fate = { kind: 'dead', attempts: [1], proof: { reason: 'nonceUsed', detail: 'transaction x used nonce 7' } };
    pass(100 * second);
    await act();
    assert.equal(attempts().length, 1);
    assert.deepEqual(around.alarms, ['treasuryBehindChain']);
  });

  it('queries more and more rarely a receiver that the token refuses, and soon one that only waits for float', async () => {
    const { act, around, pass, due } = await paying();
    around.blocked = new PayoutBlocked('refusedByToken', 'frozen');
    pass(3_600 * second);
    await act();
    pass(1_700 * second);
    assert.deepEqual(await due(), []);
    pass(200 * second);
    assert.deepEqual(await due(), [item]);

    around.blocked = new PayoutBlocked('float', 'too little');
    await act();
    pass(6 * second);
    assert.deepEqual(await due(), [item]);
  });
});

/** A funded payment, and a chain that the spec controls. */
async function paying() {
  const { start, clock, time } = processes();
  const known = { attempts: [] as readonly SignedAttempt[] };
  const around = {
    fate: { kind: 'unknown' } as Fate | ((latest: Sent) => Fate),
    cancels: [] as string[],
    refused: [] as string[],
    blocked: null as PayoutBlocked | null,
    cancelBlocked: null as PayoutBlocked | null,
    unproven: null as PayoutBlocked | null,
    refuses: (_: { bytes: string }) => false,
    sent: [] as string[],
    alarms: [] as string[],
    feeLevel: 100,
    minedNonce: 7n as bigint | null,
  };
  const [chainId, account] = [1, treasuryAccount] as const;
  const transfers = {
    async prepare(order: TransferOrder, nonce: bigint | null) {
      if (around.blocked) throw around.blocked;
      around.feeLevel += 20;
      return { chainId, account, nonce, order, validUntil: null, fee: feeCaps(around.feeLevel), payload: null };
    },
    async prepareCancel(nonce: bigint) {
      if (around.cancelBlocked) throw around.cancelBlocked;
      const order = { chainId, token: terms().destination.token, receiver: account, receiverMemo: null, amount: 0n };
      return { chainId, account, nonce, order, validUntil: null, fee: feeCaps(900), payload: 'cancel' };
    },
  };
  const rail = {
    chainId,
    account,
    get numbering() {
      return fakeNumbering({ minedNonce: () => around.minedNonce }, transfers);
    },
    async broadcast(bytes: string) {
      const words = 'Transaction rejected by chain policy';
      if (around.refuses({ bytes })) throw new BroadcastRefused('all refuse', [words]);
      around.sent.push(bytes);
    },
    refusalKind: (detail: string) => (/policy/.test(detail) ? 'policy' : 'unknown'),
    async fate(sent: readonly Sent[]) {
      const [latest] = sent.slice(-1);
      assert.ok(latest);
      return typeof around.fate === 'function' ? around.fate(latest) : around.fate;
    },
    canLand: async () => true,
  } as Partial<PayoutRail> as PayoutRail;
  const signer: Signer = {
    account,
    check: () => {},
    async sign({ nonce, fee, payload }) {
      if (payload === 'cancel') {
        around.cancels.push(`cancel ${nonce}`);
        return { bytes: `cancel ${nonce}`, hash: hashOf('cancel', String(nonce)) };
      }
      const hash = hashOf(String(nonce), fee);
      return { bytes: hash, hash };
    },
  };
  const record = start();
  await accepted(record(paymentDecider, paymentId, () => paid, { cause: 'worker:test', appId: null }));
  time.now = minute(6);

  const payment = async () => {
    const found = await currentState(record, paymentDecider, paymentId);
    assert.ok(found);
    known.attempts = found.payout ? liveAttempts(found.payout) : [];
    return found;
  };
  const proveFunding = async () => {
    if (around.unproven) throw around.unproven;
    return nothingToProve;
  };
  const restart = () => {
    const handle = start();
    const worker = transfersWorker({
      ...sharedBySigners(clock),
      owners: { payout: payoutOwner({ handle, clock, proveFunding }) },
      poll_ms: second,
      handle,
      clock,
      crash: () => {},
      rail,
      signer,
      due: async () => [item],
      alarm: (_, reason) => void around.alarms.push(reason),
      refused: (kind, detail) => void around.refused.push(`${kind} ${detail}`),
    });
    return {
      due: () => worker.due(10, clock.now()),
      async act() {
        await worker.act(item, signal).finally(payment);
      },
    };
  };
  return {
    ...restart(),
    restart,
    around,
    payment,
    /** Written by another instance without a later attempt. */
    foundDead: (attempt: number) =>
      accepted(record(paymentDecider, paymentId, () => [died(attempt)], { cause: 'worker:test', appId: null })),
    hold: () => accepted(record(paymentDecider, paymentId, () => [held()], { cause: 'worker:test', appId: null })),
    attempts: () => known.attempts,
    pass(duration_ms: number) {
      time.now = plus(time.now, duration_ms);
    },
  };
}
