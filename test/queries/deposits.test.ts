import assert from 'node:assert/strict';
import { payinAddress } from '../../domain/payment/payins.ts';
import { terminalStatuses } from '../../domain/payment/view.ts';
import type { Instant } from '../../domain/time.ts';
import {
  knownDeposits,
  type ListedDeposit,
  lateDeposits,
  matchDeposits,
  openDeposits,
  paidDeposits,
} from '../../queries/payins.ts';
import { append, createWorld, paymentIdOf } from '../support/histories.ts';
import * as p from '../support/payments.ts';
import { addressOf, givenReadModels } from './given.ts';

describe('deposits', () => {
  const given = givenReadModels();

  describe('the accounts to poll', () => {
    const chainId = 8453;
    const endingSince =
      (since: Instant): typeof openDeposits =>
      (sql, chain, page) =>
        lateDeposits(sql, chain, { ...page, since });
    /** Reads a whole list, page by page. */
    const pages = async (list: typeof openDeposits, on = chainId) => {
      const found: ListedDeposit[] = [];
      for (;;) {
        const page = await list(given.database, on, { after: found.at(-1) ?? null, max: 1 });
        if (page.length === 0) return found.map(({ address }) => address);
        found.push(...page);
      }
    };

    it('are the deposits of open payments', async () => {
      await given.payments(p.unpaid, [...p.unpaid, p.detected()], p.paid, p.done);
      const open = [addressOf(1), addressOf(2)].map((address) => address.toLowerCase());
      assert.deepEqual((await pages(openDeposits)).toSorted(), open);
      assert.deepEqual(await openDeposits(given.database, 1, { after: null, max: 10 }), []);
    });

    it('include disclosed deposits, whatever the payment was created on', async () => {
      const created = p.created({ alternatives: [p.polygonUsdc, p.solanaUsdc] });
      await given.payments([created, p.chose(p.solanaUsdc)], [created]);
      const watched = async () => [await pages(openDeposits, 501), await pages(endingSince(p.minute(59)), 501)];
      assert.deepEqual(await watched(), [['deposit on solana'], ['deposit on solana']]);
      given.world = createWorld();
      await given.payments([created, p.chose(p.solanaUsdc), ...p.done.slice(1)]);
      assert.deepEqual(await watched(), [[], ['deposit on solana']]);
    });

    it('and for a time the deposits of ended payments', async () => {
      await given.payments(p.unpaid, p.done);
      const all = [addressOf(1), addressOf(2)].map((address) => address.toLowerCase());
      assert.deepEqual(await pages(endingSince(p.minute(59))), all.toSorted().toReversed());
      assert.deepEqual(await pages(endingSince(p.minute(61))), []);
      assert.deepEqual([...(await knownDeposits(given.database, [...all, 'nobody’s']))].toSorted(), all);
    });
  });

  describe('the deposits to sweep', () => {
    const over = { statuses: terminalStatuses, after: '', max: 10 };

    const late = p.payin({ tx: 'late', amount: '3' });

    it('are those with final money, on its chain, of payments that are over', async () => {
      await given.payments(p.unpaid, p.paid, p.done, [...p.done, p.detected(late), p.confirmed(late)]);
      const paid = await paidDeposits(given.database, 8453, over);
      assert.deepEqual(
        paid.map(({ paymentId }) => paymentId),
        [paymentIdOf(3), paymentIdOf(4)],
      );
      assert.deepEqual(
        await paidDeposits(given.database, 8453, { ...over, max: 1, after: paymentIdOf(3) }),
        paid.slice(1),
      );
      assert.deepEqual(await paidDeposits(given.database, 1, over), []);
      assert.deepEqual(await paidDeposits(given.database, 8453, { ...over, since: p.minute(10_000) }), []);
    });
  });

  describe('the deposit index', () => {
    it('finds many addresses at once, in every letter case of a chain', async () => {
      await given.payments(p.unpaid, p.unpaid);
      const asked = [addressOf(1).toLowerCase(), addressOf(2).toUpperCase().replace('0X', '0x'), p.customerWallet];
      const found = await matchDeposits(
        given.database,
        asked.map((address) => payinAddress(address, null)),
      );
      assert.deepEqual(
        found.map(({ paymentId, agreed_usd }) => [paymentId, agreed_usd]).sort(),
        [1, 2].map((n) => [paymentIdOf(n), 11n]),
      );
      assert.deepEqual(await matchDeposits(given.database, []), []);
    });

    it('finds deposits that share an address by their memo, and a contract’s at the contract and the treasury', async () => {
      const [first] = p.unpaid;
      assert.ok(first?.type === 'PaymentCreated');
      const account = { address: 'GTREASURY', memo: '17' };
      const contract = { address: 'GTREASURY', memo: null, contract: 'CPAYIN', contractMemo: 'x' };
      const either = { ...contract, memo: 'y', contractMemo: 'y' };
      for (const [index, deposit] of [account, contract, either].entries()) {
        const data = {
          ...first.data,
          paymentId: paymentIdOf(index + 1),
          deposit: { ...first.data.deposit, ...deposit },
        };
        await append(given.world, `payment-${data.paymentId}`, [{ type: 'PaymentCreated', data }]);
      }
      await given.project();
      const owners = async (...addresses: [string, string | null][]) =>
        (
          await matchDeposits(
            given.database,
            addresses.map(([address, memo]) => payinAddress(address, memo)),
          )
        )
          .map(({ paymentId, memo }) => [paymentId, memo])
          .sort();
      assert.deepEqual(await owners(['GTREASURY', '17'], ['CPAYIN', 'x']), [
        [paymentIdOf(1), '17'],
        [paymentIdOf(2), 'x'],
      ]);
      for (const place of ['CPAYIN', 'GTREASURY'])
        assert.deepEqual(await owners([place, 'y']), [[paymentIdOf(3), 'y']]);
      assert.deepEqual(await owners(['GTREASURY', null], ['GTREASURY', 'x'], ['CPAYIN', '17'], ['CPAYIN', null]), []);
    });
  });
});
