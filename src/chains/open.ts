import type { Clock } from '../../commands/ports.ts';
import { type ChainFamily, type ChainId, chainOf } from '../../domain/chains.ts';
import { allFamilies, type Treasuries } from './families.ts';
import type { FamilyNeeds, OpenChain, RelaySignerNeeds } from './family.ts';
import { createSpending, type SpendingLimits, type SpentLately } from './money/spending.ts';
import type { DepositScheme, ReceiverChecks, Signer } from './ports.ts';
import type { ChainSettings } from './settings.ts';

export interface Chains {
  readonly chains: ReadonlyMap<ChainId, OpenChain>;
  readonly deposits: Partial<Record<ChainFamily, DepositScheme>>;
  readonly receiverChecks: ReceiverChecks;
  /**
   * Mismatches between configuration and chains, and nodes that cannot serve them. Omits chains that do not answer in time: nodes may be
   * temporarily unavailable.
   */
  misfits(signal: AbortSignal): Promise<readonly string[]>;
}

interface Configured {
  readonly chains: readonly ChainSettings[];
  readonly treasuries: Treasuries;
}

/** Opens every configured chain. */
export function openChains({ chains, treasuries }: Configured, needs: FamilyNeeds): Chains {
  const open = allFamilies.flatMap((family) => {
    const [first, ...others] = chains.filter(({ chainId }) => chainOf(chainId).family === family.name);
    const treasury = treasuries[family.name];
    return first && treasury ? [family.open([first, ...others], treasury, needs)] : [];
  });
  return {
    chains: new Map(open.flatMap((family) => family.chains.map((chain) => [chain.ingester.chainId, chain]))),
    deposits: Object.fromEntries(open.map(({ family, deposits }) => [family, deposits])),
    receiverChecks: Object.fromEntries(
      open.flatMap(({ family, canReceive }) => (canReceive ? [[family, canReceive]] : [])),
    ),
    async misfits(signal) {
      const unfit = open.flatMap(({ chains }) => chains.map(async (chain) => (await chain.unfitNodes?.(signal)) ?? []));
      const asked = open.map(async ({ misfit }) => (await misfit?.(signal).catch(() => undefined)) ?? []);
      return (await Promise.all([...unfit, ...asked])).flat();
    },
  };
}

/**
 * A signer of the relay account for each family whose relay key this instance holds. Its limits of coin count apart from the treasury's.
 * @param depositOwner as in `RelaySignerNeeds`
 */
export function openRelaySigners(
  { treasuries, chains }: Configured,
  clock: Pick<Clock, 'now'>,
  depositOwner: RelaySignerNeeds['depositOwner'],
): Signers {
  const coinPerHour = new Map(chains.map(({ chainId, coin }) => [chainId, coin.perHour]));
  const spending = createSpending({ perTransfer_usd: 0n, perHour_usd: 0n, coinPerHour }, clock);
  const open = allFamilies.flatMap((family) => {
    const treasury = treasuries[family.name];
    const signer = treasury && family.openRelaySigner?.(treasury, { clock, spending, settings: chains, depositOwner });
    return signer ? [[family.name, signer] as const] : [];
  });
  return new Map(open);
}

export type Signers = ReadonlyMap<ChainFamily, Signer>;

/** One signer per family whose treasury key this instance holds. Their limits are common to all chains. */
export function openSigners(
  { treasuries, signer, chains }: Configured & { readonly signer: SpendingLimits },
  clock: Pick<Clock, 'now'>,
  lately?: SpentLately,
): Signers {
  const coinPerHour = new Map(chains.map(({ chainId, coin }) => [chainId, coin.perHour]));
  const coinPrices = new Map(chains.map(({ chainId, coin }) => [chainId, coin]));
  const spending = createSpending({ ...signer, coinPerHour, coinPrices }, clock, lately);
  const accountOf = (family: ChainFamily) => treasuries[family]?.address;
  const open = allFamilies.flatMap((family) => {
    const treasury = treasuries[family.name];
    const signer = treasury && family.openSigner(treasury, { clock, spending, settings: chains, accountOf });
    return signer ? [[family.name, signer] as const] : [];
  });
  return new Map(open);
}
