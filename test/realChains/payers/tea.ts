/** A payment of 3 USDC that its payer's authorization pays, and the end of the relay that sends it. */
import assert from 'node:assert/strict';
import type { Sandbox } from '../../support/sandbox.ts';

export async function orderTea(sandbox: Sandbox, chainId: 501 | 1500) {
  const order = {
    type: 'exactOut',
    display: { title: 'Tea' },
    source: { chainId, tokenSymbol: 'USDC' },
    destination: { amount: '3.00' },
  };
  const { status, body } = await sandbox.create(order, sandbox.file().merchant.ordersKey);
  assert.equal(status, 201, JSON.stringify(body));
  return body;
}

export const untilRelayed = (sandbox: Sandbox, chainId: 501 | 1500): Promise<void> =>
  sandbox.until(async () => {
    const done = `SELECT FROM transfers WHERE kind = 'relay' AND step = 'done' AND chain_id = ${chainId}`;
    return (await sandbox.query(done)).length > 0;
  });
