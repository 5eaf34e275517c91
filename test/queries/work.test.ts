import assert from 'node:assert/strict';
import { Unavailable } from '../../commands/ports.ts';
import type { MerchantEvent } from '../../domain/merchant.ts';
import { place } from '../../domain/payment/deposit.ts';
import type { PaymentEvent } from '../../domain/payment/events.ts';
import { transferId } from '../../domain/payment/events.ts';
import { plus } from '../../domain/time.ts';
import { startSend, webhook } from '../../domain/webhook.ts';
import { workSet } from '../../projections/sets.ts';
import { findApiKey, findApp, findWebhookSecret } from '../../queries/apps.ts';
import { knownDeposits, lateDeposits, matchDeposits, openDeposits } from '../../queries/deposits.ts';
import { readModelFacts } from '../../queries/operations.ts';
import { oldestOpenPayment, payinsInBlocks, pendingPayins } from '../../queries/payins.ts';
import { openObligations, settledPayouts } from '../../queries/payouts.ts';
import { type DuePayments, duePayments, dueWebhooks } from '../../queries/work.ts';
import { ChainUnavailable, RpcFailed } from '../../src/chains/evm/rpc.ts';
import { BroadcastRefused } from '../../src/chains/node/agreement.ts';
import type { Database } from '../../src/postgres/database.ts';
import { createFailures } from '../../src/postgres/failures.ts';
import { append, createWorld, paymentIdOf, type World } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { freshDatabase } from '../support/postgres.ts';
import { fill, wholeLog } from '../support/readModels.ts';

describe('what the workers ask', () => {
  let database: Database;
  let world: World;
  before(async () => {
    database = await freshDatabase();
  });
  beforeEach(async () => {
    world = createWorld();
    await database.query('TRUNCATE ops.work_failures');
  });

  /** Payments 1, 2, … with these histories, each with its own deposit address. */
  const given = async (...histories: (readonly PaymentEvent[])[]) => {
    for (const [index, [first, ...rest]] of histories.entries()) {
      if (first?.type !== 'PaymentCreated') continue;
      world.clock.advance(1_000);
      const deposit = { ...first.data.deposit, address: addressOf(index + 1) };
      const data = { ...first.data, paymentId: paymentIdOf(index + 1), deposit };
      await append(world, `payment-${paymentIdOf(index + 1)}`, [{ type: 'PaymentCreated', data }, ...rest]);
    }
    await project();
  };
  const project = async () => void (await fill(database, world.store, workSet, [await wholeLog(world.store)]));

  describe('what to look at, where accounts are looked at', () => {
    const chainId = 8453;

    it('is where open payments are paid to', async () => {
      await given(p.unpaid, [...p.unpaid, p.detected()], p.paid, p.done);
      assert.deepEqual((await openDeposits(database, chainId)).toSorted(), [addressOf(1), addressOf(2)]);
      assert.deepEqual(await openDeposits(database, 1), []);
    });

    it('and for a time where those are that are over', async () => {
      await given(p.unpaid, p.done);
      const all = [addressOf(1), addressOf(2)].map((address) => address.toLowerCase());
      assert.deepEqual((await lateDeposits(database, chainId, p.minute(59))).toSorted(), all);
      assert.deepEqual(await lateDeposits(database, chainId, p.minute(61)), []);
      assert.deepEqual([...(await knownDeposits(database, [...all, 'nobody’s']))].toSorted(), all);
    });
  });

  describe('the to-do list', () => {
    const all = { worker: 'payouts', chainIds: [1, 8453], steps: ['requestPayout', 'sign', 'broadcast'], max: 10 };
    const due = async (more: Partial<DuePayments> = {}) =>
      (await duePayments(database, { ...all, now: p.minute(10), ...more })).map(({ paymentId }) => paymentId);

    it('names payments of these chains and steps, once they are due', async () => {
      await given(p.unpaid, p.paid, p.sent, p.done);
      assert.deepEqual((await due()).sort(), [paymentIdOf(2), paymentIdOf(3)]);
      assert.deepEqual(await due({ steps: ['broadcast'] }), [paymentIdOf(3)]);
      assert.deepEqual(await due({ chainIds: [8453] }), []);
      assert.deepEqual(await due({ steps: ['expire'] }), []);
      assert.deepEqual(await due({ steps: ['expire'], now: p.minute(61) }), [paymentIdOf(1)]);
      assert.deepEqual(await due({ steps: ['expire'], now: p.minute(90), dueBy: p.minute(59) }), []);
      assert.equal((await due({ max: 1 })).length, 1);
    });

    it('leaves out what waits after a failure or is parked, for that worker alone', async () => {
      await given(p.paid, p.paid);
      const failures = createFailures(database, { attemptsMax: 2 });
      await failures.failed('payouts', paymentIdOf(1), new Error('no'), p.minute(10));
      assert.deepEqual(await due(), [paymentIdOf(2)]);
      assert.equal((await due({ worker: 'other' })).length, 2);
      assert.equal((await due({ now: p.minute(11) })).length, 2);

      await failures.failed('payouts', paymentIdOf(1), new Error('no'), p.minute(11));
      assert.deepEqual(await due({ now: p.minute(9_999) }), [paymentIdOf(2)]);
      assert.ok(await failures.unpark('payouts', paymentIdOf(1), p.minute(10)));
      assert.equal((await due()).length, 2);
    });

    it('never sets aside what waits for a chain or a store, however often it is tried', async () => {
      await given(p.paid);
      const failures = createFailures(database, { attemptsMax: 2 });
      const outages = [
        new Unavailable('away'),
        new ChainUnavailable(8453, []),
        new RpcFailed('node 1', 'eth_call', 'unreachable', 'timed out'),
        new BroadcastRefused('fee below the base fee'),
      ];
      for (const [minute, outage] of [...outages, ...outages].entries()) {
        await failures.failed('payouts', paymentIdOf(1), outage, p.minute(minute));
        assert.deepEqual(await due({ now: p.minute(minute) }), []);
        assert.deepEqual(await due({ now: p.minute(minute + 1) }), [paymentIdOf(1)]);
      }
    });

    it('names webhooks until their one attempt begins', async () => {
      const told = ([, ...rest]: readonly PaymentEvent[]) => [
        p.created({ webhookUrl: 'https://shop.example/hook' }),
        ...rest,
      ];
      await given(told(p.paid), told(p.done));
      const webhooks = (perApp = 10) =>
        dueWebhooks(database, { worker: 'webhooks', max: 10, now: p.minute(10), perApp });
      const [first, ...rest] = await webhooks();
      assert.deepEqual(await webhooks(2), [first, ...rest].slice(0, 2));
      assert.equal(rest.length, 2);
      assert.ok(first);
      assert.deepEqual(
        [first.paymentId, first.eventType, first.eventRevision],
        [paymentIdOf(1), 'payment_payin_completed', 3n],
      );

      const { eventRevision, ...delivery } = first;
      const start = { ...delivery, eventRevision: eventRevision.toString(), startedAt: p.minute(10) };
      await world.handle(webhook, first.deliveryId, (state) => startSend(state, start), { cause: 'test', appId: null });
      await project();
      assert.deepEqual(await webhooks(), rest);
    });
  });

  describe('the deposit index', () => {
    it('finds many addresses at once, in whichever letter case a chain spells them', async () => {
      await given(p.unpaid, p.unpaid);
      const asked = [addressOf(1).toLowerCase(), addressOf(2).toUpperCase().replace('0X', '0x'), p.customerWallet];
      const found = await matchDeposits(
        database,
        asked.map((address) => place(address, null)),
      );
      assert.deepEqual(
        found.map(({ paymentId, agreed_usd }) => [paymentId, agreed_usd]).sort(),
        [1, 2].map((n) => [paymentIdOf(n), 11n]),
      );
      assert.deepEqual(await matchDeposits(database, []), []);
    });

    it('finds those that share an address by their memo, and a contract’s by the contract’s', async () => {
      const [first] = p.unpaid;
      assert.ok(first?.type === 'PaymentCreated');
      const account = { address: 'GTREASURY', memo: '17' };
      const contract = { address: 'GTREASURY', memo: null, contract: 'CPAYIN', contractMemo: 'x' };
      for (const [index, deposit] of [account, contract].entries()) {
        const data = {
          ...first.data,
          paymentId: paymentIdOf(index + 1),
          deposit: { ...first.data.deposit, ...deposit },
        };
        await append(world, `payment-${data.paymentId}`, [{ type: 'PaymentCreated', data }]);
      }
      await project();
      const owners = async (...places: [string, string | null][]) =>
        (
          await matchDeposits(
            database,
            places.map(([address, memo]) => place(address, memo)),
          )
        )
          .map(({ paymentId, memo }) => [paymentId, memo])
          .sort();
      assert.deepEqual(await owners(['GTREASURY', '17'], ['CPAYIN', 'x']), [
        [paymentIdOf(1), '17'],
        [paymentIdOf(2), 'x'],
      ]);
      assert.deepEqual(await owners(['GTREASURY', null], ['GTREASURY', 'x'], ['CPAYIN', '17'], ['CPAYIN', null]), []);
    });
  });

  describe('recorded payins', () => {
    const inBlock = (block: number, tx: string, amount?: string) =>
      p.payin({ tx, block, ...(amount !== undefined && { amount }) });
    const transfers = (found: readonly { transferId: string; large: boolean }[]) =>
      found.map(({ transferId, large }) => [transferId, large]);

    it('are pending from their detection until they are final or gone, and large by either amount', async () => {
      const [early, late, final, gone] = [
        inBlock(100, 'a', '1.00'),
        inBlock(105, 'b', '900.00'),
        inBlock(100, 'c'),
        inBlock(100, 'd'),
      ];
      await given(
        [...p.unpaid, p.detected(late), p.detected(early)],
        [...p.unpaid, p.detected(final), p.confirmed(final)],
        [...p.unpaid, p.detected(gone), p.orphaned(gone)],
      );
      const pending = (upTo: bigint, large: bigint) => pendingPayins(database, 8453, upTo, large);
      assert.deepEqual(transfers(await pending(104n, 500n)), [[transferId(early), false]]);
      assert.deepEqual(transfers(await pending(105n, 500n)), [
        [transferId(early), false],
        [transferId(late), true],
      ]);
      assert.deepEqual(transfers(await pending(104n, 11n)), [[transferId(early), true]]);
      assert.deepEqual(await pendingPayins(database, 1, 200n, 500n), []);
    });

    it('are found by the block that held them', async () => {
      const [one, other] = [inBlock(100, 'a'), inBlock(101, 'b')];
      await given([...p.unpaid, p.detected(one), p.detected(other), p.confirmed(other)]);
      const found = await payinsInBlocks(database, 8453, [one.blockHash, other.blockHash], 500n);
      assert.equal(found.length, 2);
      assert.deepEqual(transfers(await payinsInBlocks(database, 8453, [other.blockHash], 500n)), [
        [transferId(other), false],
      ]);
    });

    it('begin with the oldest payment that still waits for its money', async () => {
      await given(p.done);
      assert.equal(await oldestOpenPayment(database), null);
      world = createWorld();
      await given(p.done, p.unpaid);
      assert.equal(await oldestOpenPayment(database), p.created_at);
    });
  });

  it('sums what is owed per chain and token: the agreed money seen, payout not settled', async () => {
    const toBnb = p.created({ to: p.bnbUsdc });
    const short = [...p.unpaid, p.detected(p.payin({ amount: '0.01' }))];
    await given(p.unpaid, short, [...p.unpaid, p.detected()], p.sent, p.done, [toBnb, p.detected()]);
    const owed = (await openObligations(database)).toSorted((a, b) => a.chainId - b.chainId);
    assert.deepEqual(owed, [
      { chainId: 1, tokenAddress: p.ethereumUsdc.token.address, amount: p.of('20.00', p.ethereumUsdc) },
      { chainId: 56, tokenAddress: p.bnbUsdc.token.address, amount: p.of('10.00', p.bnbUsdc) },
    ]);
  });

  it('names the payouts of a chain that were settled lately', async () => {
    await given(p.sent, p.done);
    const settled = (since: number, chainId = 1) =>
      settledPayouts(database, { chainId, since: p.minute(since), max: 5 });
    assert.deepEqual(await settled(8), [{ paymentId: paymentIdOf(2) }]);
    assert.deepEqual(await settled(9), []);
    assert.deepEqual(await settled(8, 8453), []);
  });

  describe('apps and keys', () => {
    const appId = 'merchant_shop';
    const hash = 'ab'.repeat(32);
    const happen = async (...events: MerchantEvent[]) => {
      await append(world, `merchant-${appId}`, events);
      await project();
    };
    const registered: MerchantEvent = {
      type: 'MerchantRegistered',
      data: { appId, idSalt: 'cd'.repeat(32), registeredAt: p.created_at },
    };
    const issued: MerchantEvent = {
      type: 'ApiKeyIssued',
      data: { keyId: 'k1', scope: 'admin', hash, hint: 'pi_live_…1234', name: 'till' },
    };

    it('are found as their last events left them', async () => {
      await happen(registered);
      assert.equal(await findWebhookSecret(database, appId), null);
      const settled = { receiverAddress: p.merchantWallet, receiverMemo: null };
      const secret = { ciphertext: 'sealed', fingerprint: `sha256:${hash}` };
      await happen(
        { type: 'WebhookUrlSet', data: { url: 'https://shop.example' } },
        { type: 'SettlementWalletSet', data: { ...settled, chainId: 1, token: p.ethereumUsdc.token } },
        { type: 'WebhookSecretRotated', data: secret },
        { type: 'KeylessCreationSet', data: { allowed: false } },
      );
      assert.deepEqual(await findApp(database, appId), {
        appId,
        idSalt: 'cd'.repeat(32),
        webhookUrl: 'https://shop.example',
        settlement: { ...settled, chainId: 1, tokenSymbol: 'USDC' },
        keylessAllowed: false,
      });
      assert.deepEqual(await findWebhookSecret(database, appId), secret);
      assert.equal(await findApp(database, 'wallet_none'), null);
    });

    it('let a key in until it is revoked', async () => {
      await happen(registered, issued);
      assert.deepEqual(await findApiKey(database, hash), { keyId: 'k1', appId, scope: 'admin' });
      await happen({ type: 'ApiKeyRevoked', data: { keyId: 'k1' } });
      assert.equal(await findApiKey(database, hash), null);
      assert.equal(await findApiKey(database, 'ef'.repeat(32)), null);
    });
  });

  it('says how the read models stand', async () => {
    await given(p.paid, p.unpaid);
    await createFailures(database, { attemptsMax: 1 }).failed('payouts', 'x', new Error('no'), p.minute(9));
    const facts = await readModelFacts(database, p.minute(30));
    const [work] = facts.sets;
    assert.deepEqual([work?.set, work?.events, work?.stopped], ['work', BigInt(p.paid.length + 1), null]);
    assert.equal(facts.oldestDuePayment, plus(p.created_at, 1_000));
    assert.equal(facts.oldestDueWebhook, null);
    assert.deepEqual(facts.parked, [{ worker: 'payouts', count: 1n }]);
  });
});

const addressOf = (n: number): string => `0x90F79bf6EB2c4f870365E785982E1f101E93b90${n}`;
