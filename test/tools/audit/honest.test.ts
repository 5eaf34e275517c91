/** Honest worlds cause no finding. */
import assert from 'node:assert/strict';
import { minute_ms } from '../../../domain/time.ts';
import type { Witness } from '../../../tools/audit/chains.ts';
import { openOf } from '../../../tools/audit/sums.ts';
import { hashOf, minute, treasuryAccount } from '../../support/payments.ts';
import { honest, hook, moved, on, paymentA, shown, thief, treasuryStream, without } from './honest.ts';
import { audit, head, told, witnessOf, written } from './world.ts';

describe('the audit', () => {
  const first = head(honest);
  const whole = [...honest, first];

  it('finds nothing in an honest log, and its sums close', async () => {
    const report = await audit({ log: written(whole), grounds: shown });
    assert.deepEqual(report.findings, []);
    assert.deepEqual(report.gaps, []);
    for (const row of report.payments.filter(({ received }) => received > 0n)) assert.equal(openOf(row), 0n);
    assert.equal(report.transactions, 6);
    assert.deepEqual(
      report.accounts.map(({ open }) => open),
      [0n, 0n, 0n, 0n],
    );
  });

  it('reads an account whose books are not open yet from the log’s beginning, while the log is young', async () => {
    const log = written(without(whole, `books-8453-${treasuryAccount}`, 'BooksOpened'));
    const gap = { of: `${treasuryAccount} on chain 8453`, why: 'its books are not open: no balance is compared' };
    assert.deepEqual((await audit({ log, grounds: shown })).gaps, [gap]);
    const young = { patience_ms: 10_001 * minute_ms };
    assert.deepEqual((await audit({ log, grounds: shown, more: young })).gaps, []);
    const [ethereum, base] = shown;
    const quiet = { ...base, transactions: [moved(hashOf('stolen'), 300, '-1.00', thief)] };
    const unused = written(honest.filter(({ stream }) => stream.startsWith('addressBook-')));
    const stolen = await audit({ log: unused, grounds: [{ ...ethereum, transactions: [] }, quiet], more: young });
    assert.deepEqual(told(stolen), [`outflowUnrecorded treasury-8453-${treasuryAccount}`]);
    assert.deepEqual(
      stolen.gaps.map(({ of }) => of),
      ['heads'],
    );
  });

  it('accepts a node without old states as far as the account’s numbers prove that nothing is missing', async () => {
    const opened = { chainId: 1, account: treasuryAccount, firstNonce: '7', openedAt: minute(0) };
    const log = written([...whole, ...on(treasuryStream, { type: 'TreasuryOpened', data: opened })]);
    const forgetful = (sent: bigint) => {
      const all = shown.map(witnessOf);
      return all.map((witness, at): Witness => {
        const { history } = witness;
        const transactions: typeof history.transactions = async (asked, signal) => {
          const page = await history.transactions(asked, signal);
          const numbered = page.transactions.map((each, n) => ({
            ...each,
            nonce: each.outgoing ? BigInt(7 + n) : null,
          }));
          return { ...page, transactions: numbered, complete: false };
        };
        const standing: typeof history.standing = async (account, signal) => ({
          ...(await history.standing(account, signal)),
          sent,
        });
        return at === 0 ? { ...witness, history: { ...history, transactions, standing } } : witness;
      });
    };
    const gapsWith = async (sent: bigint) =>
      (await audit({ log, grounds: shown, more: { witnesses: forgetful(sent) } })).gaps;
    assert.deepEqual(await gapsWith(10n), []);
    assert.deepEqual(
      (await gapsWith(11n)).map(({ why }) => why),
      ['no node remembers all that it sent: ask an archive node'],
    );
  });

  it('without the key skips seals, and checks everything else', async () => {
    const log = written(whole).map((event) => ({ ...event, metadata: { ...event.metadata, seal: 'none' } }));
    assert.deepEqual(told(await audit({ log, grounds: shown, sealed: false })), []);
  });

  it('treats unfinished work as a finding only when it is old', async () => {
    const said = without(without(honest, paymentA, 'PayoutConfirmed'), hook, 'WebhookSendStarted');
    const young = await audit({ log: written(said), grounds: shown, now: minute(1) });
    assert.deepEqual(told(young), []);
    assert.deepEqual(told(await audit({ log: written(said), grounds: shown })), [`landedUnrecorded ${paymentA}`]);
  });
});
