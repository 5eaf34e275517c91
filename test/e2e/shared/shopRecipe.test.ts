/** The demo shop sells its recipe by x402 to programs that sign and have no gas. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { fund } from '../../../sandbox/tokens.ts';
import { chainClient } from '../../support/anvil.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { anyPayer, authorize, decoded, headerOf } from '../../support/x402.ts';

describe('the recipe of the demo shop', () => {
  const sandbox = sharedSandbox();
  before(startSharedSandbox);

  const ask = async (order: string, header?: string) => {
    const url = `${sandbox.file().shop.url}/recipe?order=${order}`;
    const answer = await fetch(url, { headers: header === undefined ? {} : { 'PAYMENT-SIGNATURE': header } });
    return {
      status: answer.status,
      body: await answer.json(),
      required: decoded(answer.headers.get('payment-required')),
      response: decoded(answer.headers.get('payment-response')),
    };
  };

  it('is sold for one signature, once for an order, and to nobody who has not paid', async () => {
    const order = randomUUID();
    const rpcUrl = sandbox.file().chains['8453']?.rpcUrl ?? '';
    const payer = anyPayer();
    await fund(rpcUrl, 8453, payer.address, { tokens: { USDC: 2_000000n } });
    const { status, required, body } = await ask(order);
    assert.equal(status, 402, JSON.stringify(body));
    const [bill] = required.accepts;
    assert.deepEqual((await ask(order)).required.accepts, required.accepts);
    const header = headerOf(bill, await authorize(payer, bill));
    const [bought, again] = await Promise.all([ask(order, header), ask(order, header)]);
    for (const { status: answered, body: recipe, response } of [bought, again]) {
      assert.equal(answered, 200, JSON.stringify(recipe));
      assert.deepEqual([recipe.name, response.success, response.payer], ['House blend', true, payer.address]);
    }
    assert.equal(bought.response.transaction, again.response.transaction);
    const client = chainClient(rpcUrl);
    assert.equal(await client.getBalance({ address: payer.address }), 0n);
    assert.equal(await sandbox.balance(8453, 'USDC', payer.address), 2_000000n - BigInt(bill.amount));
    assert.equal((await ask(randomUUID(), header)).status, 402);
  });

  it('needs an order id of the program', async () => {
    for (const order of ['', 'short', '../../../../etc/passwd', 'a'.repeat(65)])
      assert.equal((await ask(order)).status, 400, order);
  });
});
