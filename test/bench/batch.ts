/** Gas of payouts in batches: per payout, by the number of payouts in one transaction, from receipts. */
import {
  type Address,
  createTestClient,
  encodeFunctionData,
  erc20Abi,
  http,
  maxUint128,
  parseEther,
  publicActions,
  walletActions,
} from 'viem';
import { type Chain, chains, type Token } from '../../domain/chains.ts';
import { startAnvil } from '../../sandbox/anvil.ts';
import { fund, plantTokens } from '../../sandbox/tokens.ts';
import { allowanceCall } from '../../src/chains/evm/cctp.ts';
import { payManyCall, payManyDeployment } from '../../src/chains/evm/payMany.ts';
import { table, whole } from './table.ts';

const treasury: Address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const counts = [1, 10, 50] as const;
const gasMax = 16_000_000n;

/** Runs on a local chain of each network, with a token that is not behind a proxy. Pays receivers that never held the token, then the same receivers again. */
export async function benchBatch(): Promise<string> {
  const rows: (readonly string[])[] = [];
  for (const chain of chains) if (chain.family === 'evm') rows.push(...(await measured(chain)));
  const each = counts.map((count) => (count === 1 ? 'one in a batch' : `each of ${count}`));
  return table(['chain', 'to', 'by itself', ...each], rows);
}

async function measured(chain: Chain): Promise<readonly (readonly string[])[]> {
  const anvil = await startAnvil({ chainId: chain.id, mining: 'instant' });
  try {
    await plantTokens(anvil.rpcUrl, chain.id);
    const [token] = chain.tokens as readonly [Token];
    await fund(anvil.rpcUrl, chain.id, treasury, { gas: parseEther('10'), tokens: { [token.symbol]: 10n ** 24n } });
    const send = sender(anvil.rpcUrl);
    await send(payManyDeployment);
    await send(allowanceCall({ token, form: { kind: 'allow', contract: 'payMany', most: maxUint128.toString() } }));
    const round = async () => {
      const alone = await send({ to: token.address as Address, data: transferTo(receiverOf(0, 0)) });
      const figures = [Number(alone)];
      for (const count of counts)
        figures.push(Number(await send(payManyCall({ token, form: batchOf(count) }))) / count);
      return figures.map(whole);
    };
    return [
      [chain.name, 'new holders', ...(await round())],
      [chain.name, 'holders', ...(await round())],
    ];
  } finally {
    await anvil.stop();
  }
}

const receiverOf = (count: number, at: number): Address =>
  `0x${(0xbeef_0000 + count * 100 + at).toString(16).padStart(40, '0')}`;

const transferTo = (receiver: Address) =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [receiver, 1_000_000n] });

const batchOf = (count: number) => ({
  kind: 'payMany' as const,
  payments: Array.from({ length: count }, (_, at) => ({
    paymentId: `${at}`,
    appId: 'app',
    receiver: receiverOf(count, at),
    amount: 1_000_000n,
  })),
});

/** @returns a function that sends a call from the treasury and returns its gas */
function sender(rpcUrl: string) {
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
  return async (call: typeof payManyDeployment): Promise<bigint> => {
    const hash = await client.sendTransaction({ account: treasury, chain: null, ...call, gas: gasMax });
    const { status, gasUsed } = await client.waitForTransactionReceipt({ hash });
    if (status !== 'success') throw new Error(`${hash} was reverted`);
    return gasUsed;
  };
}
