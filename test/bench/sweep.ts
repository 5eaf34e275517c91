/** Gas of sweeps from deposits to the treasury: per deposit, by the number of deposits in one transaction, from receipts. */
import { type Address, createTestClient, http, parseEther, publicActions, walletActions } from 'viem';
import { type Chain, chains, type Token } from '../../domain/chains.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { fund, plantTokens } from '../../sandbox/tokens.ts';
import { createEvmDeposits, flushCall, forwarderDeployment } from '../../src/chains/evm/addresses.ts';
import { table, whole } from './table.ts';

/** Holds a balance already, like real treasuries. */
const treasury: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const counts = [1, 10, 100] as const;
const gasMax = 16_000_000n;

/** Runs on a local chain of each network, with a token that is not behind a proxy. */
export async function benchSweep(): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const chain of chains) if (chain.family === 'evm') rows.push(await measured(chain));
  const each = counts.map((count) => (count === 1 ? 'one deposit' : `each of ${count}`));
  return table(['chain', 'the forwarder, once', ...each, 'each of 100 that were swept before'], rows);
}

async function measured(chain: Chain): Promise<readonly string[]> {
  const anvil = await startAnvil({ chainId: chain.id, mining: 'instant' });
  try {
    await plantTokens(anvil.rpcUrl, chain.id);
    const [token] = chain.tokens as readonly [Token];
    await fund(anvil.rpcUrl, chain.id, treasury, { gas: parseEther('10'), tokens: { [token.symbol]: 1n } });
    const send = sender(anvil.rpcUrl);
    const pay = async (deposits: readonly { readonly address: string }[]) => {
      for (const { address } of deposits)
        await fund(anvil.rpcUrl, chain.id, address as Address, { tokens: { [token.symbol]: 1_000_000n } });
    };
    const flush = async (deposits: readonly { readonly salt?: string | null }[]) => {
      const salts = deposits.map(({ salt }) => salt ?? '');
      return Number(await send(flushCall(treasury, salts, token.address))) / deposits.length;
    };
    const figures = [Number(await send(forwarderDeployment(treasury)))];
    for (const count of counts) {
      const deposits = await made(token, count);
      await pay(deposits);
      figures.push(await flush(deposits));
    }
    const again = await made(token, 100);
    await pay(again);
    figures.push(await flush(again));
    return [chain.name, ...figures.map(whole)];
  } finally {
    await anvil.stop();
  }
}

/** Returns the same deposits for the same count. */
const made = (token: Token, count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, at) => createEvmDeposits({ treasury }).assign(`${count}-${at}`, token, null)),
  );

/** @returns a function that sends a call from the treasury and returns its gas */
function sender(rpcUrl: string) {
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
  return async (call: ReturnType<typeof forwarderDeployment>): Promise<bigint> => {
    const hash = await client.sendTransaction({ account: treasury, chain: null, ...call, gas: gasMax });
    const { status, gasUsed } = await client.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`${hash} was reverted`);
    return gasUsed;
  };
}
