import assert from 'node:assert/strict';
import { Keypair } from '@stellar/stellar-sdk';
import { currentState } from '../../../../commands/handle.ts';
import type { CrashPoint } from '../../../../commands/ports.ts';
import { type NumberingAccount, nothingToProve } from '../../../../commands/transferPorts.ts';
import { createPayment } from '../../../../domain/payment/create.ts';
import type { PaymentEvent } from '../../../../domain/payment/events.ts';
import { paymentDecider } from '../../../../domain/payment/state.ts';
import type { StellarFaultKind } from '../../../../sandbox/faults.ts';
import { addFault } from '../../../../sandbox/stellar/controls.ts';
import { createStellarPayoutRail } from '../../../../src/chains/stellar/payouts/rail.ts';
import { numberingAccountFor } from '../../../../src/workers/payouts/numberingAccounts.ts';
import { payoutOwner } from '../../../../src/workers/payouts/owners.ts';
import { transfersWorker } from '../../../../src/workers/payouts/worker.ts';
import * as p from '../../../support/payments.ts';
import { sharedBySigners } from '../../../support/payouts.ts';
import { accepted, crashAt, processes } from '../../../support/processes.ts';
import { startProxy } from '../../proxy.ts';
import { orderTo, type PayingWorld, payingWorld, railOf } from '../paying.ts';
import { signal } from '../world.ts';

const amount = 10_0000000n;

describe('payouts on Stellar through channels', () => {
  let world: PayingWorld;
  afterEach(() => world.lab.stop());
  const closeLedgers = (count = 1, seconds = 5) => world.stellar.closeLedgers(count, seconds);
  const fault = (kind: StellarFaultKind, times = 1) =>
    addFault(world.stellar.rpcUrl, { method: 'sendTransaction', kind, times });
  const lumensOf = async (key: Keypair | undefined) =>
    (await world.lab.server.getAccountEntry(key?.publicKey() ?? '')).balance().toString();

  describe('one by one', () => {
    let receiver: string;
    beforeEach(async () => {
      world = await payingWorld({ ledger_ms: 'manual', channels: 2 });
      receiver = (await world.lab.person(0n)).publicKey();
    });

    it('land in one ledger, the treasury’s own among them, and the treasury pays every fee', async () => {
      const [a, b] = world.channels;
      const attempts = [
        await world.attemptTo(orderTo(receiver, 1n, 'own')),
        await world.attemptIn(a, orderTo(receiver, 2n, 'a')),
        await world.attemptIn(b, orderTo(receiver, 3n)),
      ];
      const lumens = await lumensOf(a);
      for (const { bytes } of attempts) await world.rail.broadcast(bytes);
      closeLedgers();
      for (const attempt of attempts) assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await world.lab.balance(receiver), 6n);
      assert.equal(await lumensOf(a), lumens);
    });

    it('are numbered by the most advanced node: one that lags calls a channel unused that is not', async () => {
      const [a] = world.channels;
      const answers = new Map<string, unknown>();
      const stale = await startProxy(world.stellar.rpcUrl, async (method, params, forward) => {
        if (method !== 'getLedgerEntries') return forward(method, params);
        const key = JSON.stringify(params);
        if (!answers.has(key)) answers.set(key, await forward(method, params));
        return answers.get(key);
      });
      const numbered = async () => {
        const accounts = await railOf(world, [stale.url, world.stellar.rpcUrl]).numbering.accounts(signal);
        return accounts?.find(({ account }) => account === a?.publicKey()) ?? assert.fail('there is no such channel');
      };
      const before = await numbered();
      const { bytes } = await world.attemptIn(a, orderTo(receiver, 2n));
      await world.rail.broadcast(bytes);
      closeLedgers();
      assert.deepEqual(await numbered(), { ...before, minedNonce: before.minedNonce + 1n, unused: false });
    });

    it('are the same transaction when their number is chosen last', async () => {
      const { rail, channels } = world;
      for (const { account, minedNonce } of (await rail.numbering.accounts(signal)) ?? assert.fail()) {
        for (const to of [receiver, world.payinContract]) {
          const order = orderTo(to);
          const early = await rail.numbering.prepare(order, minedNonce + 16n, undefined, account);
          const late = rail.numbering.numbered(early, minedNonce);
          assert.deepEqual(late, await rail.numbering.prepare(order, minedNonce, undefined, account));
          assert.notDeepEqual(late.payload, early.payload);
        }
      }
      assert.equal(channels.length, 2);
    });

    it('land at a contract', async () => {
      const attempt = await world.attemptIn(world.channels[0], orderTo(world.payinContract));
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal((await world.rail.fate([attempt], signal)).kind, 'final');
      assert.equal(await world.lab.balance(world.payinContract), 5_0000000n);
    });

    it('are outbid like others, and land once', async () => {
      for (const to of [receiver, world.payinContract]) {
        const first = await world.attemptIn(world.channels[0], orderTo(to));
        const nonce = BigInt(first.nonce ?? 0);
        const second = await world.sign(await world.rail.numbering.prepare(orderTo(to), nonce, first), 2);
        assert.deepEqual([first.account, second.fee['inclusion']], [second.account, '10000']);
        for (const { bytes } of [first, second]) await world.rail.broadcast(bytes);
        closeLedgers();
        const fate = await world.rail.fate([first, second], signal);
        assert.deepEqual(fate.kind === 'final' && fate.attempt, 2);
        assert.equal(await world.lab.balance(to), 5_0000000n);
      }
    });

    it('are dead by their own channel’s number and time, not by the treasury’s', async () => {
      const attempt = await world.attemptIn(world.channels[0], orderTo(receiver));
      await fault('drop');
      await world.rail.broadcast(attempt.bytes);
      await world.rail.broadcast((await world.attemptTo(orderTo(receiver, 1n))).bytes);
      closeLedgers();
      assert.deepEqual(await world.rail.fate([attempt], signal), { kind: 'unknown' });
      closeLedgers(1, 301);
      const fate = await world.rail.fate([attempt], signal);
      assert.deepEqual(fate.kind === 'dead' && fate.proof.reason, 'validityPassed');
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      assert.equal(await world.lab.balance(receiver), 1n);
    });

    it('give way to a cancel, which uses up the channel’s number', async () => {
      closeLedgers(1, 700);
      const attempt = await world.attemptIn(world.channels[0], orderTo(receiver));
      const nonce = BigInt(attempt.nonce ?? 0);
      const unsigned = await world.rail.numbering.prepareCancel(nonce, attempt.account);
      const cancel = await world.signer.sign(unsigned, { kind: 'cancel', reference: 'nonce' });
      await world.rail.broadcast(cancel.bytes);
      await world.rail.broadcast(attempt.bytes);
      closeLedgers();
      const fate = await world.rail.fate([attempt], signal);
      assert.deepEqual(fate.kind === 'dead' && fate.proof.reason, 'nonceUsed');
      assert.equal(await world.lab.balance(receiver), 0n);
    });

    it('know which accounts exist, and which were never used', async () => {
      const lost = Keypair.random().publicKey();
      const [a] = world.channels;
      const config = world.config();
      const rail = createStellarPayoutRail({ ...config, channels: [...config.channels, lost] });
      await world.rail.broadcast((await world.attemptIn(a, orderTo(receiver))).bytes);
      closeLedgers();
      const accounts = (await rail.numbering.accounts(signal)) ?? [];
      assert.deepEqual(
        accounts.map(({ account, unused }) => [account, unused]),
        [
          [config.treasury, false],
          [config.channels[0], false],
          [config.channels[1], true],
        ],
      );
    });
  });

  describe('for many payments', () => {
    it('land in one ledger as many as there are accounts', async () => {
      world = await payingWorld({ ledger_ms: 'manual', channels: 3 });
      const shop = await paying(world, oneInEach);
      await shop.act();
      closeLedgers();
      assert.deepEqual(await shop.paid(), [amount, amount, amount, amount]);
    });

    it('land one in a ledger without channels', async () => {
      world = await payingWorld({ ledger_ms: 'manual' });
      const shop = await paying(world, () => ids.slice(0, 3));
      for (const landed of [1, 2, 3]) {
        await shop.act();
        closeLedgers();
        assert.equal((await shop.paid()).filter((units) => units === amount).length, landed);
      }
    });

    it('are each made once, with every loss on the way and every death of the service', async () => {
      world = await payingWorld({ ledger_ms: 'manual', channels: 2 });
      const shop = await paying(world, () => ids.slice(0, 9));
      const troubles: readonly (StellarFaultKind | string)[] = [
        ...[
          'NonceAssigned.afterAppend',
          'lostAnswer',
          'payout.beforeSign',
          'drop',
          'payout.afterSign',
          'tryAgainLater',
        ],
        ...[
          'PayoutSigned.beforeAppend',
          'duplicate',
          'PayoutSigned.afterAppend',
          'payout.beforeBroadcast',
          'unavailable',
        ],
        ...['payout.afterBroadcast', 'PayoutConfirmed.beforeAppend', 'PayoutConfirmed.afterAppend'],
      ];
      for (const trouble of troubles) {
        if (/[.]/.test(trouble)) await shop.act(crashAt(trouble));
        else {
          await fault(trouble as StellarFaultKind, 2);
          await shop.act();
        }
        closeLedgers();
      }
      for (let rounds = 0; rounds < 12 && !(await shop.settled()); rounds++) {
        await shop.act();
        closeLedgers(1, 100);
      }
      assert.ok(await shop.settled());
      assert.deepEqual(await shop.paid(), Array(9).fill(amount));
      const left = 1_000_0000000n - 9n * amount;
      assert.equal(await world.lab.balance(world.treasury.publicKey()), left);
    });
  });
});

const ids = Array.from({ length: 100 }, (_, at) => `payment-${at}`);
const oneInEach = (accounts: readonly NumberingAccount[]) =>
  accounts.map(({ account }) => ids.find((id) => numberingAccountFor(accounts, id)?.account === account) ?? '');

/** Funded payments to separate receivers, and the service that pays them out. Each `act` is a new process. */
async function paying(world: PayingWorld, choose: (accounts: readonly NumberingAccount[]) => readonly string[]) {
  const clock = { now: world.now, sleep: async () => {} };
  const { start } = processes();
  const record = start();
  const payments = choose((await world.rail.numbering.accounts(signal)) ?? []);
  const receivers: string[] = [];
  for (const paymentId of payments) {
    const receiver = (await world.lab.person(0n)).publicKey();
    receivers.push(receiver);
    await accepted(
      record(paymentDecider, paymentId, () => fundedFor(paymentId, receiver), { cause: 'worker:test', appId: null }),
    );
  }
  return {
    /** Runs one round over all payments concurrently; the next round continues what died or failed. */
    async act(crash: CrashPoint = () => {}) {
      const handle = start({ crash });
      const { rail, signer } = world;
      const worker = transfersWorker({
        ...sharedBySigners(clock),
        owners: { payout: payoutOwner({ handle, clock, proveFunding: async () => nothingToProve }) },
        poll_ms: 50,
        handle,
        clock,
        crash,
        rail,
        signer,
        due: async () => [],
        alarm: () => {},
      });
      await Promise.allSettled(
        payments.map((id) => worker.act({ key: { kind: 'payout', id, part: 1 }, appId: null }, signal)),
      );
    },
    paid: () => Promise.all(receivers.map((receiver) => world.lab.balance(receiver))),
    async settled() {
      const found = await Promise.all(payments.map((paymentId) => currentState(start(), paymentDecider, paymentId)));
      return found.every((payment) => payment?.payout?.settled);
    },
  };
}

function fundedFor(paymentId: string, receiverAddress: string): readonly PaymentEvent[] {
  const terms = p.terms({ to: p.stellarUsdc });
  const created = createPayment(null, {
    ...terms,
    paymentId,
    destination: { ...terms.destination, receiverAddress },
  }) as readonly PaymentEvent[];
  return [...created, p.detected(), p.confirmed(), p.funded([p.payin()], { destination: p.stellarUsdc })];
}
