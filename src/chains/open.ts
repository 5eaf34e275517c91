import type { ChainFamily, ChainId } from '../../domain/chains.ts';
import type { Config } from '../config.ts';
import { openEvm } from './evm/index.ts';
import type { OpenChain, OpenFamily } from './family.ts';
import type { DepositScheme, ReceiverChecks } from './ports.ts';
import { openSolana, type SolanaNeeds } from './solana/index.ts';
import { openStellar } from './stellar/index.ts';

export interface Chains {
  readonly chains: ReadonlyMap<ChainId, OpenChain>;
  readonly deposits: Partial<Record<ChainFamily, DepositScheme>>;
  readonly receiverChecks: ReceiverChecks;
  /** What of the configuration does not fit the chains. A chain that cannot be asked in time is passed over: it may be away. */
  misfits(signal: AbortSignal): Promise<readonly string[]>;
}

/** Every chain that the configuration names. */
export function openChains({ chains, treasuries }: Pick<Config, 'chains' | 'treasuries'>, solana: SolanaNeeds): Chains {
  const families = [
    openEvm(chains, treasuries.evm),
    openSolana(chains, treasuries.solana, solana),
    openStellar(chains, treasuries.stellar),
  ];
  const open = families.filter((family): family is OpenFamily => family !== null);
  return {
    chains: new Map(open.flatMap((family) => family.chains.map((chain) => [chain.ingester.chainId, chain]))),
    deposits: Object.fromEntries(open.map(({ family, deposits }) => [family, deposits])),
    receiverChecks: Object.fromEntries(
      open.flatMap(({ family, canReceive }) => (canReceive ? [[family, canReceive]] : [])),
    ),
    async misfits(signal) {
      const asked = await Promise.all(open.map(({ misfit }) => misfit?.(signal).catch(() => undefined)));
      return asked.filter((problem) => problem !== undefined);
    },
  };
}
