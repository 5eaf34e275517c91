import { type Chain, chains, findChain } from '../domain/chains.ts';

/**
 * The chains that a sandbox runs: all, or those that `SANDBOX_CHAINS` names by id, separated by commas. Fewer chains take less
 * memory.
 *
 * @throws Error for what is no chain
 */
export function chosenChains(setting: string | undefined): readonly Chain[] {
  if (!setting?.trim()) return chains;
  return setting.split(',').map((text) => {
    const chain = findChain(text.trim());
    if (!chain) throw new Error(`SANDBOX_CHAINS: ${text} is none of ${chains.map(({ id }) => id).join(', ')}`);
    return chain;
  });
}
