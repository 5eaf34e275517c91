import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, encodeFunctionData, erc20Abi, type Hex, keccak256 } from 'viem';
import { chainOf, findToken } from '../../../domain/chains.ts';
import { endowOnGeth } from '../../../sandbox/realNodes/geth.ts';
import { createEvmIngester } from '../../../src/chains/evm/payins/ingester.ts';
import { evmConfig, observe } from '../../chains/evm/world.ts';
import { accountOf, keyOf } from '../../support/anvil.ts';
import { patience_ms } from '../../support/patience.ts';
import { describeOnReal, sharedRealGeth } from '../../support/realNodes.ts';
import { post } from '../comparison.ts';
import { signed } from '../evmTransactions.ts';

const usdc = (findToken(chainOf(1), 'USDC') ?? assert.fail('Ethereum has USDC')).address as Address;
const payer = 6_020;
const poll_ms = 200;
const polls = patience_ms / poll_ms;

describeOnReal(['GETH'], 'EVM payins', () => {
  let rpcUrl: string;

  before(async () => {
    ({ rpcUrl } = await sharedRealGeth(1));
    await endowOnGeth(rpcUrl, 1, [[accountOf(payer), { coin: 10n ** 18n, tokens: { USDC: 10n ** 9n } }]]);
  });

  async function request(method: string, params: readonly unknown[]): Promise<unknown> {
    const { body } = await post(rpcUrl, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    const { result, error } = body as { readonly result?: unknown; readonly error?: unknown };
    assert.equal(error, undefined);
    return result;
  }

  async function until(what: string, isThere: () => Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < polls; tries += 1) {
      if (await isThere()) return;
      await sleep(poll_ms);
    }
    assert.fail(`${what} never happened`);
  }

  it('are detected at the head, leave it with their block, and are detected again until they are final', async () => {
    const depths = { final: 3, finalLarge: 5, payout: 3 };
    const ingester = createEvmIngester({ ...evmConfig(1, [rpcUrl]), depths });
    const [head, final] = [await observe(ingester, 'head'), await observe(ingester, 'final')];
    const seen = async ({ follow, seen: transfers }: typeof head) => {
      await follow();
      return [...transfers.values()].some(({ txHash }) => txHash === hash);
    };

    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [accountOf(82), 5n] });
    const bytes = await signed(keyOf(payer), { to: usdc, value: 0n, gas: 100_000n, data });
    const hash: Hex = keccak256(bytes);
    await request('eth_sendRawTransaction', [bytes]);
    await until('the payin at the head', () => seen(head));
    assert.equal([...head.seen.values()].find(({ txHash }) => txHash === hash)?.amount, '5');

    const { blockNumber, blockHash } = (await request('eth_getTransactionReceipt', [hash])) as {
      readonly blockNumber: Hex;
      readonly blockHash: Hex;
    };
    await request('debug_setHead', [`0x${(BigInt(blockNumber) - 1n).toString(16)}`]);
    await until('the end of its block', async () => !(await seen(head)));
    assert.ok(head.orphaned.includes(blockHash));
    assert.equal(await seen(final), false);

    await request('eth_sendRawTransaction', [bytes]);
    await until('the payin at the head again', () => seen(head));
    await until('the final payin', () => seen(final));
    assert.ok(!final.orphaned.includes(blockHash));
  });
});
