/** A developer's own nodes: a chain whose RPC_URLS_<chainId> is set when the sandbox starts runs there, not on a chain of the sandbox. */
import { type ChainId, chainOf } from '../domain/chains.ts';

export type OwnNodes = ReadonlyMap<ChainId, string>;

/** Reads the first URL of each chain's RPC_URLS_<chainId>. */
export function ownNodes(env: NodeJS.ProcessEnv, chainIds: readonly ChainId[]): OwnNodes {
  return new Map(
    chainIds.flatMap((id) => {
      const url = env[`RPC_URLS_${id}`]?.split(',')[0]?.trim();
      return url ? [[id, url] as const] : [];
    }),
  );
}

export interface Funded {
  readonly treasury: string;
  readonly customer: string;
}

/**
 * Prepares the sandbox's accounts and contracts on a developer's node.
 * @throws Error that names the accounts to fund, if the node does not let the sandbox fund them
 */
export async function prepareOwnNode(
  chainId: ChainId,
  { treasury, customer }: Funded,
  prepare: () => Promise<void>,
): Promise<void> {
  try {
    await prepare();
  } catch (error) {
    const { name } = chainOf(chainId);
    const reason = error instanceof Error ? error.message.split('\n', 1)[0] : String(error);
    throw new Error(
      `${name}: the sandbox cannot prepare your node (${reason}). Send the chain's coin and USDC to the treasury ${treasury} and to the customer ${customer}, then start again: both addresses stay the same`,
      { cause: error },
    );
  }
}
