/**
 * Circle's cross-chain transfer protocol, version 2 (CCTP): it burns USDC on one chain and mints it on another.
 *
 * Domains and contracts: `@circle-fin/provider-cctp-v2` 1.14.0. The minters are from several independent integrators, Stellar's contracts
 * from `developers.circle.com/cctp/references/stellar-contracts`, Solana's programs from circlefin/solana-cctp-contracts (programs/v2).
 * `npm run check-chain` compares them with the chain before the first burn. The contracts have the same address on every EVM chain.
 */
import { type ChainId, chainOf, onTestNetworks } from '../chains.ts';
import { unitsText } from '../money.ts';

/** The protocol's number of a chain. BNB Chain has none for USDC. */
const domains = { 1: 0, 42161: 3, 501: 5, 8453: 6, 137: 7, 1500: 27 } as const;
export type CctpChainId = keyof typeof domains;
export const cctpChainIds: readonly CctpChainId[] = [1, 42161, 8453, 137, 501, 1500];

export const isCctpChain = (chainId: ChainId): chainId is CctpChainId => chainId in domains;
export const domainOf = (chainId: CctpChainId): number => domains[chainId];
/** Undefined for a domain that we do not serve. */
export const chainOfDomain = (domain: number | undefined): CctpChainId | undefined =>
  cctpChainIds.find((chainId) => domains[chainId] === domain);

export interface CctpContracts {
  /** Burns. It is the sender and the recipient of the protocol's messages. */
  readonly messenger: string;
  /** Mints for a message with an attestation. */
  readonly transmitter: string;
  /** Receives the tokens of a burn for the moment before they are destroyed. */
  readonly minter: string;
}

const mainNetworks: CctpContracts = {
  messenger: '0x28b5a0e9C621a5BadaA536219b3a228C8168cf5d',
  transmitter: '0x81D40F21F12A8F0E3252Bccb954D722d4c464B64',
  minter: '0xfd78EE919681417d192449715b2594ab58f5D002',
};

const testNetworks: CctpContracts = {
  messenger: '0x8FE6B999Dc680CcFDD5Bf7EB0974218be2542DAA',
  transmitter: '0xE737e5cEBEEBa77EFE34D4aa090756590b1CE275',
  minter: '0xb43db544E2c27092c107639Ad201b3dEfAbcF192',
};

/** Contracts of the EVM chains. */
export const cctpContracts: CctpContracts = onTestNetworks ? testNetworks : mainNetworks;

/** Stellar has one contract that burns and mints, and one that forwards a mint to an account: a message can only name a contract there. */
export interface StellarCctpContracts extends CctpContracts {
  /** Mints for a message and sends the money to the account that the message's hook data name. */
  readonly forwarder: string;
  /** USDC's own contract. */
  readonly token: string;
}

const stellarMain = {
  messenger: 'CAE2G5Z77UP7GYPYGFOWFGW7C7J6I4YP2AFGSADRKQY62SYUFLPNFTXL',
  transmitter: 'CACMENFFJPJMSDAJQLX4R7K3SFZIW2LJSE3R2UMLGSWHFHS353FVXAZV',
  forwarder: 'CBZL2IH7F6BIDAA3WBNXYKIXSATJGMSW7K5P5MJ6STX5RXN47TZJDF5T',
  token: 'CCW67TSZV3SSS2HXMBQ5JFGCKJNXKZM7UQUWUZPUTHXSTZLEO7SJMI75',
};
const stellarTest = {
  messenger: 'CDNG7HXAPBWICI2E3AUBP3YZWZELJLYSB6F5CC7WLDTLTHVM74SLRTHP',
  transmitter: 'CBJ6MTCKKZG73PMDZCJMSFRD7DQEMI4FKDH7CGDSV4W6FHCRBCQAVVJY',
  forwarder: 'CA66Q2WFBND6V4UEB7RD4SAXSVIWMD6RA4X3U32ELVFGXV5PJK4T4VSZ',
  token: 'CBIELTK6YBZJU5UP2WWQEUCYKLPU6AUNZ2BQ4WWFEIE3USCIHMXQDAMA',
};
const stellarContracts = onTestNetworks ? stellarTest : stellarMain;
export const stellarCctp: StellarCctpContracts = { ...stellarContracts, minter: stellarContracts.messenger };

/**
 * Programs of Solana, equal on its test network. A burn destroys the tokens in the treasury's own account, so no account receives them: an
 * order names the burning program instead. Source: Anchor.toml of circlefin/solana-cctp-contracts (programs/v2).
 */
const solanaMessenger = 'CCTPV2vPZJS2u2BBsUoscuikbYjnpFmbFsvVuJdgUMQe';
export interface SolanaCctpContracts extends CctpContracts {
  /** Owner of the token account from which mints are paid: the address that the messenger derives from `token_minter`. */
  readonly custodian: string;
}
export const solanaCctp: SolanaCctpContracts = {
  messenger: solanaMessenger,
  transmitter: 'CCTPV2Sm4AdWt5296sk4P66VBZ7bEhcARwFaaS9YPbeC',
  minter: solanaMessenger,
  custodian: 'E1bQJ8eMMn3zmeSewW3HQ8zmJr7KR75JonbwAtWx2bux',
};

/** Contracts of one chain. */
export const contractsOn = (chainId: CctpChainId): CctpContracts =>
  chainId === 1500 ? stellarCctp : chainId === 501 ? solanaCctp : cctpContracts;

/** Contract that a mint calls. */
const mintingOn = (chainId: CctpChainId): string =>
  chainId === 1500 ? stellarCctp.forwarder : contractsOn(chainId).transmitter;

/** The token as the messages of a chain's burns name it; undefined for a chain without one. On Stellar it is a contract. */
export const burnTokenOn = (chainId: CctpChainId): string | undefined =>
  chainId === 1500 ? stellarCctp.token : burnableOn(chainId)?.address;

/** Contracts of a route, as an order states them: the burn calls the messenger, the mint calls the transmitter (on Stellar the forwarder). */
export const routeContracts = (from: CctpChainId, to: CctpChainId): CctpContracts => {
  const { messenger, minter } = contractsOn(from);
  return { messenger, transmitter: mintingOn(to), minter };
};

/** USDC has this many decimals in every message, and on every chain but Stellar, where it has 7. */
export const messageDecimals = 6;

/** An amount in smallest units of 6 decimals, rounded down. A burn's amounts are whole there: `isWholeInMessages`. */
export const inMessageUnits = (units: bigint, { decimals }: { readonly decimals: number }): bigint =>
  units / 10n ** BigInt(decimals - messageDecimals);
export const fromMessageUnits = (units: bigint, { decimals }: { readonly decimals: number }): bigint =>
  units * 10n ** BigInt(decimals - messageDecimals);
/** False for an amount with a seventh decimal: no message can state it. */
export const isWholeInMessages = (units: bigint, token: { readonly decimals: number }): boolean =>
  fromMessageUnits(inMessageUnits(units, token), token) === units;

interface Source {
  readonly chainId: CctpChainId;
  readonly token: { readonly decimals: number };
}

/** A route as an order states it. @param feeMax in the 6 decimals of messages */
export const cctpRoute = (
  { chainId, token }: Source,
  to: CctpChainId,
  { finality, feeMax }: { readonly finality: Finality; readonly feeMax: bigint },
) => ({
  ...{ kind: 'cctp' as const, sourceDomain: domainOf(chainId), destinationDomain: domainOf(to) },
  ...routeContracts(chainId, to),
  finality,
  feeMax: unitsText(fromMessageUnits(feeMax, token)),
});

/** Finality that a burn waits for before it is attested. The protocol has no value between them. */
export const fast = 1_000;
export const standard = 2_000;
export const finalities = [fast, standard] as const;
export type Finality = (typeof finalities)[number];

/** The highest fee that a burn may allow, in hundredths of a percent of its amount. Circle's fees were 0 to 14 in 2026. */
export const feeMax_bps = 20n;

/** Returns the highest fee that a burn of this amount may allow, in smallest units, rounded up. */
export const feeLimit = (amount: bigint): bigint => (amount * feeMax_bps + 9_999n) / 10_000n;

/** Expected time from a burn to the mint, in ms. Sources: the protocol's pages, upper ends of the ranges there. */
const standard_ms: Readonly<Record<CctpChainId, number>> = {
  1: 19 * 60_000,
  42161: 19 * 60_000,
  8453: 19 * 60_000,
  137: 30_000,
  501: 25_000,
  1500: 30_000,
};
const fast_ms: Readonly<Partial<Record<CctpChainId, number>>> = {
  1: 30_000,
  42161: 15_000,
  8453: 15_000,
  501: 8_000,
};

/** Returns the expected time of a route, in ms; undefined if the source chain has no fast burns. */
export const travelTime_ms = (from: CctpChainId, finality: Finality): number | undefined =>
  finality === standard ? standard_ms[from] : fast_ms[from];

/** The token that the protocol moves; undefined for a chain without one. */
export const burnableOn = (chainId: ChainId) =>
  isCctpChain(chainId) ? chainOf(chainId).tokens.find(({ symbol }) => symbol === 'USDC') : undefined;
