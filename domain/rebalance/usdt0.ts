/**
 * USDT0: Tether's USDT as one token on several chains, moved by LayerZero's messages (standard OFT). The OFT contract of Ethereum locks USDT,
 * those of the other chains burn and mint it.
 *
 * Contracts: `docs.usdt0.to/technical-documentation/developer`, equal in the repositories of several independent integrators. The Endpoints and
 * the endpoint ids: `docs.layerzero.network/v2/deployments`. `npm run check-chain` compares them with the chain before the first move.
 *
 * Differences from CCTP:
 * - The send pays a message fee in coin. The order states the coin that is sent along. The contract returns the excess to the treasury in the
 *   same transaction, without a log, so the books record the coin sent as its cost and the excess as a top-up of coin.
 * - Only Ethereum's contract needs an allowance. The other contracts burn the sender's tokens directly.
 * - Messages have 6 decimals, as USDT has on EVM chains. On Stellar it has 7: the contract there would keep a seventh decimal back, so orders
 *   with one are refused. The minimum amount equals the amount: a fee in tokens, which USDT0 does not charge in 2026, would revert the send.
 * - LayerZero's executor delivers the message, so the treasury signs no mint. The log `OFTReceived` with the id (guid) of our `OFTSent` proves
 *   the arrival. Received differs from sent only by a change of the contracts: the service does not record that arrival.
 * - Nothing is attested. The destination believes LayerZero's verifiers (DVNs), which are trusted for integrity: forged messages of theirs
 *   mint USDT0, and lost ones keep our money in transit.
 * - A verified message stays in the Endpoint until its delivery succeeds, and any account may call `lzReceive` for it.
 *
 * Stellar's contract has the same interface with Soroban's names (`monorepo-external` of LayerZero-Labs, `apps/oft-app/contracts/stellar`):
 * - Its message fee is in lumens. The asset's own contract moves it to the Endpoint and the excess back, each with an event, so the books
 *   record the lumens that the message cost.
 * - A message names a recipient by 32 bytes. The contract pays the contract with these bytes if there is one, else the account. Nobody can
 *   make a contract whose bytes are the treasury's key, because those of a contract are a hash.
 * - The recipient needs a trustline. Without one the delivery fails, the message stays verified, and any account delivers it later.
 *
 * The "legacy mesh" (Solana, TRON, TON) is a pool with fees and limits, and is not used. Test networks have no USDT0.
 */
import { type ChainId, chainOf, findHeldToken, onTestNetworks } from '../chains.ts';

/** Endpoint ids, LayerZero's numbers of chains. */
const endpointIds = { 1: 30_101, 42161: 30_110, 137: 30_109, 1500: 30_600 } as const;
export type Usdt0ChainId = keyof typeof endpointIds;
export const usdt0ChainIds: readonly Usdt0ChainId[] = onTestNetworks ? [] : [1, 42161, 137, 1500];

export type EvmUsdt0ChainId = Exclude<Usdt0ChainId, 1500>;

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
  1500: 'CBOWOLFSDM5PZXNFIVDMP5NZ7U2GSIHED6H6R446QOHF266XINKUMMF6',
};
/** Contract that sends and receives on a chain. */
export const oftOn = (chainId: Usdt0ChainId): string => ofts[chainId];

/** LayerZero's contract for messages (EndpointV2), equal on EVM chains. */
export const layerZeroEndpoint = '0x1a44076050125825900e736c501f859c50fE728c';

/**
 * Stellar's Endpoint, and the contract of the asset. The asset's contract is computed from the asset (test/domain/rebalance/usdt0.test.ts).
 * The Endpoint is from the same page and a log of an integrator's calls of October 2026.
 */
export const stellarUsdt0 = {
  endpoint: 'CCQLLRE5JBAWYCW3KTWOIWLMFDUOKROQVZNSALQMGOSXNW3ERUOWTZGK',
  token: 'CBSJZEIO5C7KC2SF3MKSNXXJSW5G3VTNBX4ATMKUI3B2MR4JKM4R26YF',
  issuer: 'GATISXX6BZ6NC7IKQBY37CJD4SOZL3CYZJWXEDG6JVIY4WBS6KXJHN6Q',
} as const;

const nobody = `0x${'0'.repeat(40)}`;
/** Ethereum's contract locks: it needs an allowance, receives the tokens of a send, and sends those of an arrival. */
export const isLocking = (chainId: Usdt0ChainId): boolean => chainId === 1;
/**
 * Account of the other side of the token's logs: tokens are burned to and minted from the zero address, or locked in the contract. On Stellar
 * the issuer is that account: its events name nobody.
 */
export function counterpartyOn(chainId: Usdt0ChainId): string {
  if (chainId === 1500) return stellarUsdt0.issuer;
  return isLocking(chainId) ? ofts[chainId] : nobody;
}

/**
 * Maximum coin of one send, in wei, or stroops on Stellar: about 30 dollars of 2026. An executor pays the gas of the destination, so sends to
 * Ethereum cost most: 12 lumens from Stellar in October 2026. The signer refuses more.
 */
const messageFeeMax_wei: Readonly<Record<Usdt0ChainId, bigint>> = {
  1: 10n ** 16n,
  42161: 10n ** 16n,
  137: 100n * 10n ** 18n,
  1500: 100n * 10n ** 7n,
};
export const messageFeeLimit = (chainId: Usdt0ChainId): bigint => messageFeeMax_wei[chainId];

/** Smallest unit of the coin that pays a chain's messages. */
export const feeUnitOn = (chainId: Usdt0ChainId): string => (chainId === 1500 ? 'stroops' : 'wei');

/** A message fee with a quarter more: prices change between the order and the send. The contract returns the excess. */
export const withFeeMargin = (quoted_wei: bigint): bigint => (quoted_wei * 5n + 3n) / 4n;

/**
 * Expected time from a send to the arrival, in ms: the verifiers wait for 15, 20 and 512 blocks of the source. These are LayerZero's defaults;
 * no page of USDT0 states its own. On Stellar they wait for 320 ledgers, which the contracts there stated in October 2026.
 */
const travel_ms: Readonly<Record<Usdt0ChainId, number>> = {
  1: 10 * 60_000,
  42161: 5 * 60_000,
  137: 30 * 60_000,
  1500: 30 * 60_000,
};
export const messageTime_ms = (chainId: Usdt0ChainId): number => travel_ms[chainId];

/** The token that the protocol moves; undefined for a chain without one. */
export const sendableOn = (chainId: ChainId) =>
  isUsdt0Chain(chainId) ? findHeldToken(chainOf(chainId), 'USDT') : undefined;

/** A route as an order states it. `feeMax` is a fee in tokens. @param messageFee_wei coin that is sent along, in the coin's smallest unit */
export const usdt0Route = (from: Usdt0ChainId, to: Usdt0ChainId, messageFee_wei: bigint) => ({
  ...{ kind: 'oft' as const, sourceDomain: endpointIdOf(from), destinationDomain: endpointIdOf(to) },
  ...{ messenger: oftOn(from), transmitter: oftOn(to), minter: counterpartyOn(from) },
  ...{ feeMax: '0' as const, messageFee: messageFee_wei.toString() },
});
