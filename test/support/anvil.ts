/** Local chains for tests: one shared process per chain and way of mining in a run, or a separate one for a test that reorganises it. */
import { type Address, createTestClient, type Hex, publicActions, walletActions } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { ChainId } from '../../domain/chains.ts';
import { type Anvil, type AnvilOptions, startAnvil } from '../../sandbox/anvil.ts';
import { localRpc } from '../../sandbox/localRpc.ts';
import { plantForwarder, plantTokens } from '../../sandbox/tokens.ts';
import { onStop } from './hooks.ts';

type Mining = AnvilOptions['mining'];

/** Keys of test accounts; worthless anywhere else. */
export const keyOf = (n: number): Hex => `0x${(n + 1).toString(16).padStart(64, '0')}`;
export const accountOf = (n: number): Address => privateKeyToAccount(keyOf(n)).address;
export const treasuryKey = keyOf(0xa11ce);
export const treasury: Address = privateKeyToAccount(treasuryKey).address;

const shared = new Map<string, Promise<Anvil>>();

/** A chain that other tests use too: never reorganise it, use accounts of your own. */
export function sharedAnvil(chainId: ChainId, { mining = 'manual' as Mining } = {}): Promise<Anvil> {
  const key = `${chainId}-${JSON.stringify(mining)}`;
  const running = shared.get(key) ?? isolatedAnvil(chainId, { mining });
  shared.set(key, running);
  return running;
}

/** A chain of the test's own with the tokens planted and the test treasury's forwarder deployed. */
export async function isolatedAnvil(
  chainId: ChainId,
  options: Partial<Omit<AnvilOptions, 'chainId'>> = {},
): Promise<Anvil> {
  const anvil = await startAnvil({ mining: 'manual', ...options, chainId });
  onStop(() => anvil.stop());
  await plantTokens(anvil.rpcUrl, chainId);
  await plantForwarder(anvil.rpcUrl, treasury);
  return anvil;
}

/** Reads, test controls and unlocked sends in one. */
export const chainClient = (rpcUrl: string) =>
  createTestClient({ mode: 'anvil', transport: localRpc(rpcUrl), cacheTime: 0 })
    .extend(publicActions)
    .extend(walletActions);
export type ChainClient = ReturnType<typeof chainClient>;
