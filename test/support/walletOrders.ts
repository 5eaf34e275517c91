/** Orders of the demo wallet app, which needs no key, and its receiver's webhooks. */
import assert from 'node:assert/strict';
import type { Answer, Json, Sandbox } from './sandbox.ts';

/** @param sandbox called at each use: it may be restarted */
export const walletOrders = (sandbox: Sandbox) => ({
  order: (type: string, source: Json, destination: Json, more: Json = {}): Json => ({
    appId: sandbox.file().wallet.appId,
    type,
    display: { title: 'Coffee' },
    source: { tokenSymbol: 'USDC', ...source },
    destination: { tokenSymbol: 'USDC', ...destination },
    ...more,
  }),

  async create(body: Json): Promise<Answer['body']> {
    const created = await sandbox.create(body);
    assert.equal(created.status, 201, `${JSON.stringify(created.body)}\n${sandbox.printed()}`);
    return created.body;
  },

  /** Both webhooks of a payment that ended well, as the receiver got them. */
  async webhooksOf(paymentId: string): Promise<readonly Answer['body'][]> {
    await sandbox.until(() => sandbox.webhooks(paymentId).length === 2);
    return sandbox.webhooks(paymentId).map(({ body, valid }) => {
      assert.ok(valid);
      return JSON.parse(body);
    });
  },
});
