/** An agent without gas, which pays through the MCP server of clients/mcp: the protocol's own client starts it as a process. */
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { fund } from '../../../sandbox/tokens.ts';
import { childEnvironment } from '../../../src/process/system.ts';
import { sharedSandbox, startSharedSandbox } from '../../support/sharedSandbox.ts';
import { walletOrders } from '../../support/walletOrders.ts';

const program = fileURLToPath(new URL('../../../clients/mcp/src/main.ts', import.meta.url));
const receiver = '0x4444444444444444444444444444444444444444';

describe('an agent with an MCP client', () => {
  const sandbox = sharedSandbox();
  const privateKey = generatePrivateKey();
  const client = new Client({ name: 'agent', version: '1' });
  before(async () => {
    await startSharedSandbox();
    const { baseUrl, chains } = sandbox.file();
    await fund(chains['8453']?.rpcUrl ?? '', 8453, privateKeyToAddress(privateKey), { tokens: { USDC: 5_000_000n } });
    const env = {
      ...childEnvironment(),
      PAYMENT_INTENTS_URL: baseUrl,
      AGENT_PRIVATE_KEY: privateKey,
      SPEND_LIMIT: '3',
    };
    const own = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program],
      env: Object.fromEntries(own),
      stderr: 'inherit',
    });
    await client.connect(transport);
  });
  after(() => client.close());

  async function call(name: string, args: Record<string, unknown>) {
    const { content, isError = false } = await client.callTool({ name, arguments: args });
    const [{ text }] = content as [{ text: string }];
    return { isError, text };
  }

  async function bill(amount: string) {
    const { order, create } = walletOrders(sandbox);
    const to = { chainId: 1, receiverAddress: receiver, amount };
    return create(order('exactOut', { chainId: 8453 }, to, { display: { title: 'Tea' } }));
  }

  it('pays a bill without gas, once, and sees that it is paid out', async () => {
    const payment = await bill('2.00');
    const before = await sandbox.balance(1, 'USDC', receiver);
    const read = JSON.parse((await call('read_bill', { link: payment.paymentLink })).text);
    assert.deepEqual([read.authorizations[0].chainName, read.last], ['Base', null]);
    // The result arrives when the payin is final. The same bill is never signed twice.
    await sandbox.until(async () => {
      const { text } = await call('pay', { link: payment.paymentLink });
      return JSON.parse(text).status === 'paid';
    });
    assert.equal((await sandbox.follow(payment.id)).status, 'payment_payout_completed');
    assert.equal((await sandbox.balance(1, 'USDC', receiver)) - before, 2_000_000n);
    const seen = JSON.parse((await call('get_payment', { paymentId: payment.id })).text);
    assert.equal(seen.status, 'payment_payout_completed');
    assert.equal(JSON.parse((await call('pay', { link: payment.paymentLink })).text).signed, null);
  });

  it('is refused a bill above its limit, and nothing is signed', async () => {
    const payment = await bill('4.00');
    const { isError, text } = await call('pay', { link: payment.paymentLink });
    assert.equal(isError, true);
    assert.match(text, /above the limit of 3/);
    assert.equal((await sandbox.read(payment.id)).status, 'payment_unpaid');
  });
});
