/** The log is lost and restored from a backup that was made under load: nothing is paid twice, and the service names the missing part. */
import assert from 'node:assert/strict';
import { parseUnits } from 'viem';
import { createCustomers } from '../support/customers.ts';
import { outputOfTool } from '../support/operatorTools.ts';
import { createSandbox, type SandboxOptions } from '../support/sandbox.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

export interface BackupOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  /** Replaces the service's log by an empty one. The service has ended. */
  readonly loseLog: (dataDir: string) => Promise<void>;
}

/** Specs of one world that loses its log and restores it. */
export function restoresFromBackup({ loseLog, eventStoreUrl }: BackupOptions): void {
  const sandbox = createSandbox({ chains: [8453, 1], eventStoreUrl });
  const customers = createCustomers(sandbox);
  const backup = temporaryDirectory();
  before(() => sandbox.start());
  after(() => sandbox.destroy());

  const tool = (name: string, ...args: string[]) => outputOfTool(sandbox.dataDir, name, ...args);
  const ended = async () => {
    const states = await Promise.all(customers.orders.map(({ payment }) => payment && sandbox.read(payment.id)));
    return states.filter((state) => state?.status === 'payment_payout_completed').length;
  };
  /** Payments that the log knows and has not paid out. It has lost the others. */
  async function unpaidByTheLog(): Promise<readonly string[]> {
    const ids: string[] = [];
    for (const { payment } of customers.orders) {
      const { status, body } = await sandbox.call('GET', `/payment-api/payments/${payment.id}`);
      assert.ok(status === 200 || status === 404, JSON.stringify(body));
      if (status === 200 && body.status !== 'payment_payout_completed') ids.push(payment.id);
    }
    return ids;
  }
  async function onePaidEach(): Promise<void> {
    for (const { receiver, amount, payment } of customers.orders) {
      const paid = await sandbox.balance(1, 'USDC', receiver);
      assert.ok(paid === parseUnits(amount, 6) || (!payment && paid === 0n), `${receiver} got ${paid} for ${amount}`);
    }
  }

  it('pays nobody again, and states why it pays nobody', async () => {
    const closing = new AbortController();
    const coming = customers.come(8453, 1, closing.signal);
    await sandbox.until(async () => (await ended()) >= 1);
    // On a separate chain, so that no other transfer pays it. Its money arrives after the backup: the restored log has no payout of it.
    const late = customers.newOrder(1, 1);
    await customers.create(late);
    assert.match(await tool('backup', backup), /\d+ of them new/);
    await customers.pay(late);
    const before = await ended();
    await sandbox.until(async () => (await ended()) >= before + 2);
    closing.abort();
    await coming;
    await customers.finish();
    await sandbox.kill();

    await loseLog(sandbox.dataDir);
    assert.match(await tool('restore', backup), /events are in the log/);
    await tool('rebuild', '--log-restored');
    assert.equal(await sandbox.start(), 'ready', sandbox.printed());
    // It pauses before its first signature: it cannot know the payments of the lost part of the log.
    await sandbox.until(async () => {
      const { body } = await sandbox.operations('/metrics');
      return ['logRestored', 'treasuryPaused'].every((reason) => String(body).includes(`reason="${reason}"`));
    });
    await onePaidEach();
  });

  it('continues once an operator has held the payouts that were paid meanwhile', async () => {
    // The lost log had paid these: with `explain` the operator states that none of them still waits for its payout.
    const paid = await unpaidByTheLog();
    assert.ok(paid.length > 0);
    // After the start the money of each is read from its chain again.
    await sandbox.until(async () => {
      const open = await tool('payouts');
      return paid.every((id) => open.includes(id));
    });
    for (const id of paid) await tool('payouts', 'hold', id, '--reason', 'paid before the log was lost');
    await tool('treasury', 'explain', 'payouts that the lost log knew of', '1');
    await tool('treasury', 'resume');
    const next = customers.newOrder(8453, 1);
    await customers.create(next);
    await customers.pay(next);
    await sandbox.follow(next.payment.id);
    await onePaidEach();
  });
}
