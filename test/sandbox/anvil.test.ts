import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, truncateSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Address } from 'viem';
import { chainOf, chains, findToken } from '../../domain/chains.ts';
import { type Anvil, startAnvil } from '../../sandbox/anvil.ts';
import { fund, plantForwarder, plantTokens, sandboxTokenAbi } from '../../sandbox/tokens.ts';
import { forwarderAddresses } from '../../src/chains/evm/addresses.ts';
import { accountOf, chainClient, treasury } from '../support/anvil.ts';
import { onStop } from '../support/hooks.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const rich = accountOf(601);
const usdc = findToken(chainOf(8453), 'USDC')!;

describe('sandbox chains', () => {
  let dir: string;
  let stateFile: string;
  beforeEach(() => {
    dir = temporaryDirectory();
    stateFile = join(dir, '8453.json');
  });

  it('all start side by side, each with the production tokens and decimals', async () => {
    const evm = chains.filter(({ family }) => family === 'evm');
    await Promise.all(
      evm.map(async ({ id, tokens }) => {
        const { rpcUrl } = await start({ chainId: id });
        await plantTokens(rpcUrl, id);
        await plantForwarder(rpcUrl, treasury);
        await fund(rpcUrl, id, rich, { gas: 7n, tokens: { USDC: 11n, USDT: 12n } });
        const client = chainClient(rpcUrl);
        assert.equal(await client.getBalance({ address: rich }), 7n);
        for (const token of tokens) {
          const contract = { address: token.address as Address, abi: sandboxTokenAbi } as const;
          assert.equal(await client.readContract({ ...contract, functionName: 'decimals' }), token.decimals);
          assert.equal(await balance(client, token.address), token.symbol === 'USDC' ? 11n : 12n);
        }
        assert.ok(await client.getCode({ address: forwarderAddresses(treasury).factory }));
      }),
    );
  });

  it('add money to balances, and plant existing contracts again without harm', async () => {
    const { rpcUrl } = await start({ chainId: 8453 });
    for (let round = 0; round < 2; round++) {
      await plantTokens(rpcUrl, 8453);
      await plantForwarder(rpcUrl, treasury);
      await fund(rpcUrl, 8453, rich, { gas: 5n, tokens: { USDC: 3n } });
    }
    assert.equal(await balance(chainClient(rpcUrl), usdc.address), 6n);
    assert.equal(await chainClient(rpcUrl).getBalance({ address: rich }), 10n);
  });

  it('continue after a stop: same blocks, transactions, receipts, logs and balances', async () => {
    const first = await start({ stateFile });
    await plantTokens(first.rpcUrl, 8453);
    await fund(first.rpcUrl, 8453, rich, { gas: 5n, tokens: { USDC: 3n } });
    await chainClient(first.rpcUrl).mine({ blocks: 20 });
    const before = await history(first);
    await first.stop();

    const second = await start({ stateFile });
    assert.deepEqual(await history(second), before);
    await fund(second.rpcUrl, 8453, rich, { tokens: { USDC: 3n } });
    assert.equal(await balance(chainClient(second.rpcUrl), usdc.address), 6n);
  });

  it('continue from the last good start when a kill left half a file', async () => {
    const first = await start({ stateFile });
    await plantTokens(first.rpcUrl, 8453);
    await fund(first.rpcUrl, 8453, rich, { tokens: { USDC: 3n } });
    await first.stop();
    await (await start({ stateFile })).stop();
    truncateSync(stateFile, Math.floor(readFileSync(stateFile).length / 2));

    const again = await start({ stateFile });
    assert.equal(await balance(chainClient(again.rpcUrl), usdc.address), 3n);
  });

  it('keep the states of their newest blocks alone if configured so, and all else of the older ones', async () => {
    const { rpcUrl } = await start({ mining: { blockTime_s: 600 }, statesMax: 4, stateFile });
    await plantTokens(rpcUrl, 8453);
    await fund(rpcUrl, 8453, rich, { tokens: { USDC: 3n } });
    const client = chainClient(rpcUrl);
    const funded = await client.getBlockNumber();
    await client.mine({ blocks: 10 });
    const head = await client.getBlockNumber();
    await client.getBalance({ address: rich, blockNumber: head - 2n });
    await assert.rejects(client.getBalance({ address: rich, blockNumber: funded }), /BlockOutOfRange/);
    assert.equal(await balance(client, usdc.address), 3n);
    const logs = await client.getLogs({ address: usdc.address as Address, fromBlock: 0n, toBlock: head });
    assert.deepEqual(
      logs.map(({ blockNumber }) => blockNumber),
      [funded],
    );
    const [hash] = (await client.getBlock({ blockNumber: funded })).transactions;
    assert.ok(hash && (await client.getTransactionReceipt({ hash })));
  });

  it('name the file to look at when they cannot start, and do not change the state', async () => {
    const first = await start({ stateFile });
    await first.stop();
    const before = readFileSync(stateFile, 'utf8');
    const taken = createServer().listen(0, '127.0.0.1');
    onStop(() => void taken.close());
    await once(taken, 'listening');
    const address = taken.address();
    assert.ok(typeof address === 'object' && address !== null);
    const logFile = join(dir, 'chain.log');
    await assert.rejects(start({ stateFile, port: address.port, logFile }), /chain\.log/);
    assert.equal(readFileSync(stateFile, 'utf8'), before);
  });
});

async function start(options: Partial<Parameters<typeof startAnvil>[0]>): Promise<Anvil> {
  const anvil = await startAnvil({ chainId: 8453, mining: 'manual', ...options });
  onStop(() => anvil.stop());
  return anvil;
}

async function history({ rpcUrl }: Anvil) {
  const client = chainClient(rpcUrl);
  const head = await client.getBlockNumber();
  const numbers = Array.from({ length: Number(head) + 1 }, (_, number) => BigInt(number));
  const blocks = await Promise.all(numbers.map((blockNumber) => client.getBlock({ blockNumber })));
  const hashes = blocks.flatMap(({ transactions }) => transactions);
  const receipts = await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })));
  return { blocks: blocks.map(({ hash }) => hash), receipts, balance: await balance(client, usdc.address) };
}

const balance = (client: ReturnType<typeof chainClient>, token: string) =>
  client.readContract({ address: token as Address, abi: sandboxTokenAbi, functionName: 'balanceOf', args: [rich] });
