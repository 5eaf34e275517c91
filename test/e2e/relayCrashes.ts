/** One authorization while the real process is killed at each point of its relay: the payer pays once, and a repeat of the header gets the result. */
import assert from 'node:assert/strict';
import { type Address, parseAbiItem } from 'viem';
import { privateKeyToAddress } from 'viem/accounts';
import { verifyChain } from '../../commands/codec.ts';
import { chainOf, findToken } from '../../domain/chains.ts';
import { keepKeys } from '../../sandbox/keys.ts';
import { fund } from '../../sandbox/tokens.ts';
import { chainClient } from '../support/anvil.ts';
import { isCutOff } from '../support/customers.ts';
import { type Answer, createSandbox, type SandboxOptions } from '../support/sandbox.ts';
import { anyPayer, ask402, authorize, headerOf, nowSeconds } from '../support/x402.ts';

/** In the order of a relay's life. The request passes the first three, the worker the others. */
export const relayPoints = [
  'relay.afterReserve',
  'RelayOrdered.beforeAppend',
  'RelayOrdered.afterAppend',
  'TreasuryOpened+NonceAssigned.afterAppend',
  'relay.beforeSign',
  'relay.afterSign',
  'RelaySigned.beforeAppend',
  'RelaySigned.afterAppend',
  'relay.beforeBroadcast',
  'relay.afterBroadcast',
  'RelayConfirmed.beforeAppend',
  'RelayConfirmed.afterAppend',
];

const settings = { POLL_MS_1: '50', POLL_MS_8453: '50' };
const { address: usdc } = findToken(chainOf(8453), 'USDC') ?? assert.fail();
const held = 20_000000n;

export interface RelayCrashOptions extends Pick<SandboxOptions, 'eventStoreUrl'> {
  readonly points: readonly string[];
}

/** Specs of one world whose service dies at each of the points, in this order. */
export function survivesRelayCrashes({ points, eventStoreUrl }: RelayCrashOptions): void {
  const sandbox = createSandbox({ chains: [8453, 1], eventStoreUrl });
  after(() => sandbox.destroy());
  const payer = anyPayer();
  let payment: Answer['body'];
  let header: string;

  // The service has a new port after each start.
  const link = () => `${sandbox.file().baseUrl}${new URL(payment.paymentLink).pathname}`;

  before(async () => {
    assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    const order = {
      type: 'exactOut',
      display: { title: 'Tea' },
      source: { chainId: 8453, tokenSymbol: 'USDC' },
      destination: { amount: '5.00' },
    };
    ({ body: payment } = await sandbox.create(order, sandbox.file().merchant.ordersKey));
    const rpcUrl = sandbox.file().chains['8453']?.rpcUrl ?? '';
    await fund(rpcUrl, 8453, payer.address, { tokens: { USDC: held } });
    const [requirement] = (await ask402(link())).required.accepts;
    const validBefore = String(nowSeconds() + 3_000);
    header = headerOf(requirement, await authorize(payer, requirement, { validBefore }));
    await sandbox.stop();
  });

  for (const point of points) {
    it(`dies at ${point}`, async () => {
      if ((await sandbox.start({ ...settings, CRASH_AT: point })) === 'ready') {
        await ask402(link(), header).catch((error: unknown) => {
          if (!isCutOff(error)) throw error;
        });
      }
      assert.deepEqual(await sandbox.ended(), { code: null, signal: 'SIGKILL' }, sandbox.printed());
    });
  }

  describe('and without further crashes', () => {
    before(async () => {
      assert.equal(await sandbox.start(settings), 'ready', sandbox.printed());
    });

    it('the same header gets 200, and the payment is paid out', async () => {
      const { status, response } = await ask402(link(), header);
      assert.deepEqual([status, response.success, response.payer], [200, true, payer.address]);
      const { status: last, source } = await sandbox.follow(payment.id);
      assert.deepEqual([last, source.txHash], ['payment_payout_completed', response.transaction]);
    });

    it('the payer has paid once and no gas, and the relay account has sent one transaction', async () => {
      const client = chainClient(sandbox.file().chains['8453']?.rpcUrl ?? '');
      const logs = await client.getLogs({
        address: usdc as Address,
        event: parseAbiItem('event Transfer(address indexed from, address indexed to, uint256 value)'),
        args: { from: payer.address },
        fromBlock: 0n,
        strict: true,
      });
      assert.deepEqual(
        logs.map(({ args: { to } }) => to),
        [payment.source.receiverAddress],
      );
      assert.equal(await client.getBalance({ address: payer.address }), 0n);
      const relay = privateKeyToAddress(keepKeys(sandbox.dataDir).relay);
      assert.equal(await client.getTransactionCount({ address: relay }), 1);
    });

    it('the log has each step of the relay once, and its gas once', async () => {
      await sandbox.until(
        async () => (await sandbox.query("SELECT FROM transfers WHERE kind = 'relay' AND step = 'done'")).length > 0,
      );
      assert.deepEqual(await sandbox.stop(), { code: 0, signal: null }, sandbox.printed());
      const history = await sandbox.history();
      for (const [stream, events] of history) assert.equal(verifyChain(events), null, stream);
      const types = (prefix: string) =>
        [...history]
          .filter(([stream]) => stream.startsWith(prefix))
          .flatMap(([, events]) => events.map(({ type }) => type));
      assert.deepEqual(types('relay-'), ['RelayOrdered', 'RelaySigned', 'RelayConfirmed']);
      assert.deepEqual(types('relayGas-'), ['RelayGasReserved']);
    });
  });
}
