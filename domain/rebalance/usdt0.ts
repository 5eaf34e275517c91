/**
 * USDT0: Tether's USDT as one token on several chains, moved by LayerZero's messages (standard OFT). The OFT contract of Ethereum locks USDT,
 * those of the other chains burn and mint it.
 *
 * Contracts: `docs.usdt0.to/technical-documentation/developer`, equal in the repositories of several independent integrators. The Endpoint and
 * the endpoint ids: `docs.layerzero.network/v2/deployments`. `npm run check-chain` compares them with the chain before the first move.
 *
 * Differences from CCTP:
 * - The send pays a message fee in coin. The order states the coin that is sent along. The contract returns the excess to the treasury in the
 *   same transaction, without a log, so the books record the coin sent as its cost and the excess as a top-up of coin.
 * - Only Ethereum's contract needs an allowance. The other contracts burn the sender's tokens directly.
 * - Messages have 6 decimals, as USDT has on these chains, so no dust is removed. The minimum amount equals the amount: a fee in tokens, which
 *   USDT0 does not charge in 2026, would revert the send.
 * - LayerZero's executor delivers the message, so the treasury signs no mint. The log `OFTReceived` with the id (guid) of our `OFTSent` proves
 *   the arrival. Received differs from sent only by a change of the contracts: the service does not record that arrival.
 * - Nothing is attested. The destination believes LayerZero's verifiers (DVNs), which are trusted for integrity: forged messages of theirs
 *   mint USDT0, and lost ones keep our money in transit.
 * - A verified message stays in the Endpoint until its delivery succeeds, and any account may call `lzReceive` for it.
 *
 * The "legacy mesh" (Solana, TRON, TON) is a pool with fees and limits, and is not used. Test networks have no USDT0.
 */
import { type ChainId, chainOf, onTestNetworks } from '../chains.ts';

/** Endpoint ids, LayerZero's numbers of chains. */
const endpointIds = { 1: 30_101, 42161: 30_110, 137: 30_109 } as const;
export type Usdt0ChainId = keyof typeof endpointIds;
export const usdt0ChainIds: readonly Usdt0ChainId[] = onTestNetworks ? [] : [1, 42161, 137];

export const isUsdt0Chain = (chainId: ChainId): chainId is Usdt0ChainId =>
  usdt0ChainIds.some((each) => each === chainId);
export const endpointIdOf = (chainId: Usdt0ChainId): number => endpointIds[chainId];
/** Undefined for an endpoint that we do not serve. */
export const chainOfEndpoint = (endpointId: number): Usdt0ChainId | undefined =>
  usdt0ChainIds.find((chainId) => endpointIds[chainId] === endpointId);

const ofts: Readonly<Record<Usdt0ChainId, string>> = {
  1: '0x6C96dE32CEa08842dcc4058c14d3aaAD7Fa41dee',
  42161: '0x14E4A1B13bf7F943c8ff7C51fb60FA964A298D92',
  137: '0x6BA10300f0DC58B7a1e4c0e41f5daBb7D7829e13',
};
/** Contract that sends and receives on a chain. */
export const oftOn = (chainId: Usdt0ChainId): string => ofts[chainId];

/** LayerZero's contract for messages (EndpointV2), equal on these chains. */
export const layerZeroEndpoint = '0x1a44076050125825900e736c501f859c50fE728c';

const nobody = `0x${'0'.repeat(40)}`;
/** Ethereum's contract locks: it needs an allowance, receives the tokens of a send, and sends those of an arrival. */
export const isLocking = (chainId: Usdt0ChainId): boolean => chainId === 1;
/** Account of the other side of the token's logs: tokens are burned to and minted from the zero address, or locked in the contract. */
export const counterpartyOn = (chainId: Usdt0ChainId): string => (isLocking(chainId) ? ofts[chainId] : nobody);

/**
 * Maximum coin of one send, in wei: about 30 dollars of 2026. An executor pays the gas of the destination, so sends to Ethereum cost most.
 * The signer refuses more.
 */
const messageFeeMax_wei: Readonly<Record<Usdt0ChainId, bigint>> = {
  1: 10n ** 16n,
  42161: 10n ** 16n,
  137: 100n * 10n ** 18n,
};
export const messageFeeLimit = (chainId: Usdt0ChainId): bigint => messageFeeMax_wei[chainId];

/** A message fee with a quarter more: prices change between the order and the send. The contract returns the excess. */
export const withFeeMargin = (quoted_wei: bigint): bigint => (quoted_wei * 5n + 3n) / 4n;

/**
 * Expected time from a send to the arrival, in ms: the verifiers wait for 15, 20 and 512 blocks of the source. These are LayerZero's defaults;
 * no page of USDT0 states its own.
 */
const travel_ms: Readonly<Record<Usdt0ChainId, number>> = { 1: 10 * 60_000, 42161: 5 * 60_000, 137: 30 * 60_000 };
export const messageTime_ms = (chainId: Usdt0ChainId): number => travel_ms[chainId];

/** The token that the protocol moves; undefined for a chain without one. */
export const sendableOn = (chainId: ChainId) =>
  isUsdt0Chain(chainId) ? chainOf(chainId).tokens.find(({ symbol }) => symbol === 'USDT') : undefined;

/** A route as an order states it. `feeMax` is a fee in tokens. @param messageFee_wei coin that is sent along */
export const usdt0Route = (from: Usdt0ChainId, to: Usdt0ChainId, messageFee_wei: bigint) => ({
  ...{ kind: 'oft' as const, sourceDomain: endpointIdOf(from), destinationDomain: endpointIdOf(to) },
  ...{ messenger: oftOn(from), transmitter: oftOn(to), minter: counterpartyOn(from) },
  ...{ feeMax: '0' as const, messageFee: messageFee_wei.toString() },
});
