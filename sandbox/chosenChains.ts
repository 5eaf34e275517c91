import { type Chain, chains, findChain } from '../domain/chains.ts';

/**
 * Chains of a sandbox: all, or those in `SANDBOX_CHAINS` by id, separated by commas. Fewer chains need less memory.
 *
 * @throws Error for an unknown chain
 */
export function chosenChains(setting: string | undefined): readonly Chain[] {
  if (!setting?.trim()) return chains;
  return setting.split(',').map((text) => {
    const chain = findChain(text.trim());
    if (!chain) throw new Error(`SANDBOX_CHAINS: ${text} is none of ${chains.map(({ id }) => id).join(', ')}`);
    return chain;
  });
}
