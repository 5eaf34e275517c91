/** A payer with USDC on a local EVM chain. */
import { type Address, createTestClient, encodeFunctionData, erc20Abi, type Hex, http, walletActions } from 'viem';
import { type ChainId, chainOf, findToken } from '../../domain/chains.ts';
import { fund, plantTokens } from '../../sandbox/tokens.ts';

/** The payer, a deposit address, and a foreign address: accounts without a known key. */
const [payer, ours, other] = [1n, 2n, 3n].map((n) => `0x${(0xbe0000n + n).toString(16).padStart(40, '0')}`) as [
  Address,
  Address,
  Address,
];

export const accounts = { ours, other };

/** @returns a function that sends a dollar to an account and resolves when the node has accepted the transaction */
export async function openPayer(rpcUrl: string, chainId: ChainId): Promise<(to: Address) => Promise<Hex>> {
  const client = createTestClient({ mode: 'anvil', transport: http(rpcUrl) }).extend(walletActions);
  await plantTokens(rpcUrl, chainId);
  await fund(rpcUrl, chainId, payer, { gas: 10n ** 24n, tokens: { USDC: 10n ** 24n } });
  await client.impersonateAccount({ address: payer });
  const token = findToken(chainOf(chainId), 'USDC');
  if (!token) throw new Error(`chain ${chainId} has no USDC`);
  return (to) => {
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, 1_000_000n] });
    return client.sendTransaction({
      account: payer,
      chain: null,
      to: token.address as Address,
      data,
      gas: 200_000n,
    });
  };
}
