import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { NumberingAccount } from '../../../commands/transferPorts.ts';
import { isRefusal } from '../../../domain/decider.ts';
import { minute_ms } from '../../../domain/time.ts';
import { pausePayouts } from '../../../domain/treasury/nonces.ts';
import { treasury, treasuryInstance } from '../../../domain/treasury/state.ts';
import { numberingAccountFor } from '../../../src/workers/payouts/numberingAccounts.ts';
import { died, minute, treasuryAccount } from '../../support/payments.ts';
import { accepted, Crashed, crashAt } from '../../support/processes.ts';
import { signingWorld } from './signing.ts';

const numbering = (account: string, minedNonce = 7n, unused = true): NumberingAccount => ({
  account,
  minedNonce,
  unused,
});
const treasuryItself = numbering(treasuryAccount, 7n, false);
const all = [treasuryItself, numbering('channel-a'), numbering('channel-b')];
const without = (account: string, accounts: readonly NumberingAccount[] = all) =>
  accounts.filter((each) => each.account !== account);
const streamOf = (account: string) => `treasury-${treasuryInstance(1, account)}`;

/** Payments by the account that numbers them if all accounts exist. */
const paymentsIn = (account: string, count: number, accounts: readonly NumberingAccount[] = all) =>
  Array.from({ length: 200 }, (_, at) => `payment-${at}`)
    .filter((id) => numberingAccountFor(accounts, id)?.account === account)
    .slice(0, count);

describe('the numbering account of a payment', () => {
  const accounts = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 8 });

  it('is the same whenever it is requested, in any order of the accounts', () => {
    fc.assert(
      fc.property(accounts, fc.uuid(), (names, paymentId) => {
        const accounts = names.map((name) => numbering(name));
        assert.deepEqual(
          numberingAccountFor(accounts, paymentId),
          numberingAccountFor(accounts.toReversed(), paymentId),
        );
      }),
    );
  });

  it('changes only to one that was added, or from one that was removed', () => {
    fc.assert(
      fc.property(accounts, fc.uuid(), (names, paymentId) => {
        const [added, ...rest] = names.map((name) => numbering(name));
        const [before, after] = [
          numberingAccountFor(rest, paymentId),
          numberingAccountFor([...rest, added as NumberingAccount], paymentId),
        ];
        assert.ok(after === added || after === before);
      }),
    );
  });

  it('is each one’s for its share of payments', () => {
    for (const { account } of all) assert.ok(paymentsIn(account, 200).length > 40, account);
  });
});

describe('signing through several numbering accounts', () => {
  const [own, a, b] = all.map(({ account }) => paymentsIn(account, 2)) as [string[], string[], string[]];
  const [first, second] = a as [string, string];

  async function world(payments: readonly string[] = [...own, ...a, ...b]) {
    const signing = await signingWorld({ payments: [...payments] });
    signing.around.accounts = all;
    const attempts = async (paymentId: string) =>
      (await signing.load(paymentId)).payout?.attempts.map(
        ({ signed, fate }) => `${signed.account} ${signed.nonce} ${fate}`,
      );
    const sign = (paymentId: string, more: object = {}) => signing.sign({ paymentId, ...more });
    /** The process died between the nonce's assignment and the signature. */
    const cutOff = (paymentId: string) =>
      assert.rejects(sign(paymentId, { crash: crashAt('payout.beforeSign') }), Crashed);
    const standing = (account: string, minedNonce: bigint, unused = false) => {
      signing.around.accounts = (signing.around.accounts ?? all).map((each) =>
        each.account === account ? { ...each, minedNonce, unused } : each,
      );
    };
    return { ...signing, sign, attempts, cutOff, standing };
  }
  const refusalOf = async (answer: ReturnType<Awaited<ReturnType<typeof world>>['sign']>) => {
    const outcome = await answer;
    return isRefusal(outcome) ? outcome.refused : 'none';
  };

  it('numbers each account’s payments separately', async () => {
    const { sign, attempts } = await world();
    for (const paymentId of [...a, ...b, ...own]) await accepted(sign(paymentId));
    for (const [account, payments] of [
      ['channel-a', a],
      ['channel-b', b],
      [treasuryAccount, own],
    ] as const) {
      assert.deepEqual(await attempts(payments[0] ?? ''), [`${account} 7 live`]);
      assert.deepEqual(await attempts(payments[1] ?? ''), [`${account} 8 live`]);
    }
  });

  it('continues with the nonce that was taken before a restart, in the same account', async () => {
    const { sign, attempts, cutOff, typesIn } = await world();
    await cutOff(first);
    await accepted(sign(first));
    assert.deepEqual(await attempts(first), ['channel-a 7 live']);
    assert.deepEqual(await typesIn(streamOf('channel-a')), ['TreasuryOpened', 'NonceAssigned']);
    assert.deepEqual(await typesIn(streamOf('channel-b')), []);
  });

  it('outbids in the account of the attempt, though that is configured no more', async () => {
    const { sign, attempts, around } = await world();
    await accepted(sign(first));
    around.accounts = without('channel-a');
    await accepted(sign(first));
    assert.deepEqual(await attempts(first), ['channel-a 7 live', 'channel-a 7 live']);
  });

  it('distinguishes equal nonces of two accounts', async () => {
    const { sign, attempts, record, around } = await world();
    await accepted(sign(first));
    await record(first, [died(1)]);
    around.accounts = without('channel-a');
    await accepted(sign(first));
    const [, now] = (await attempts(first)) ?? [];
    assert.match(now ?? '', / 7 live$/);
    await record(first, [died(2)]);
    around.accounts = all.map((each) => ({ ...each, minedNonce: 8n }));
    await accepted(sign(first));
    assert.deepEqual((await attempts(first))?.[2], 'channel-a 8 live');
  });

  describe('when an account is removed and added again', () => {
    it('pays a payment with a nonce there through another, and frees that nonce, because others wait behind it', async () => {
      const { sign, attempts, cutOff, around, typesIn, tend, pass } = await world();
      await cutOff(first);
      around.accounts = without('channel-a');
      await accepted(sign(first));
      assert.doesNotMatch((await attempts(first))?.[0] ?? '', /channel-a/);

      around.accounts = all;
      await accepted(sign(second));
      assert.deepEqual(await attempts(second), ['channel-a 8 live']);
      pass(minute_ms);
      await tend();
      assert.deepEqual(around.freed, ['channel-a 7']);
      assert.deepEqual((await typesIn(streamOf('channel-a'))).slice(-1), ['NonceCancelled']);
    });

    it('frees nothing of a payment that is in flight there, or about to be signed', async () => {
      const { sign, around, tend, pass, cutOff } = await world();
      await accepted(sign(first));
      await cutOff(second);
      pass(minute_ms);
      await tend();
      assert.deepEqual(around.freed, []);
    });

    it('frees the nonce of an attempt that lapsed while its account was gone', async () => {
      const { sign, record, around, tend, pass } = await world();
      await accepted(sign(first));
      await record(first, [died(1, { reason: 'validityPassed', detail: 'closed later' })]);
      around.accounts = without('channel-a');
      await accepted(sign(first));
      around.accounts = all;
      pass(minute_ms);
      await tend();
      assert.deepEqual(around.freed, ['channel-a 7']);
    });

    it('signs a payment once though two instances are configured differently', async () => {
      const { sign, attempts, start, outgoing, around } = await world();
      const known = await outgoing(first);
      await accepted(sign(first));
      around.accounts = without('channel-a');
      assert.equal(await refusalOf(sign(first, { known, handle: start() })), 'illegalStep');
      assert.equal((await attempts(first))?.length, 1);
    });
  });

  describe('signs nothing', () => {
    it('in any account while the treasury’s payouts are paused', async () => {
      const { sign, start, around } = await world();
      await accepted(sign(first));
      const pause = (state: Parameters<typeof pausePayouts>[0]) => pausePayouts(state, 'audit', minute(1));
      const instance = treasuryInstance(1, treasuryAccount);
      await accepted(start()(treasury, instance, pause, { cause: 'worker:test', appId: null }));
      for (const paymentId of [...own, second, ...b])
        assert.equal(await refusalOf(sign(paymentId ?? '')), 'treasuryPaused');
      assert.equal(around.signatures, 1);
    });

    it('in an account whose chain is ahead of the log; the others go on', async () => {
      const { sign, standing } = await world();
      for (const paymentId of [first, b[0] ?? '']) await accepted(sign(paymentId));
      standing('channel-a', 9n);
      assert.equal(await refusalOf(sign(second)), 'treasuryBehindChain');
      await accepted(sign(b[1] ?? ''));
    });

    it('in an account that begins while another is ahead: the log may be an old copy', async () => {
      const { sign, standing } = await world();
      await accepted(sign(first));
      standing('channel-a', 9n);
      assert.equal(await refusalOf(sign(b[0] ?? '')), 'treasuryBehindChain');
    });

    it('in an account that begins and was used already: its payments are not in the log', async () => {
      const { sign, standing, typesIn } = await world();
      standing('channel-a', 9n, false);
      assert.equal(await refusalOf(sign(first)), 'treasuryBehindChain');
      assert.deepEqual(await typesIn(streamOf('channel-a')), []);
    });
  });
});
