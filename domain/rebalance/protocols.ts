/** Protocols that move floats: CCTP moves USDC, USDT0 moves USDT. */
import type { ChainId, Token } from '../chains.ts';
import { burnableOn, cctpChainIds, type Finality, fast, isCctpChain, standard, travelTime_ms } from './cctp.ts';
import { isUsdt0Chain, messageTime_ms, sendableOn, usdt0ChainIds } from './usdt0.ts';

/** Tokens whose floats the policy keeps. */
export const floatSymbols = ['USDC', 'USDT'] as const;
export type FloatSymbol = (typeof floatSymbols)[number];

/** How a move travels: by a burn of CCTP with its finality, or by a message of USDT0. */
export type MoveWay = Finality | 'message';

export interface Protocol {
  readonly name: 'CCTP' | 'USDT0';
  readonly chainIds: readonly ChainId[];
  /** The usual way first. */
  readonly ways: readonly MoveWay[];
  /** The token that it moves; undefined for a chain without one. */
  tokenOn(chainId: ChainId): Token | undefined;
  /** Expected time from a send to its arrival; undefined if the source has no such way. */
  time_ms(from: ChainId, way: MoveWay): number | undefined;
}

export const protocolOf: Readonly<Record<FloatSymbol, Protocol>> = {
  USDC: {
    name: 'CCTP',
    chainIds: cctpChainIds,
    ways: [standard, fast],
    tokenOn: burnableOn,
    time_ms: (from, way) => (isCctpChain(from) && way !== 'message' ? travelTime_ms(from, way) : undefined),
  },
  USDT: {
    name: 'USDT0',
    chainIds: usdt0ChainIds,
    ways: ['message'],
    tokenOn: sendableOn,
    time_ms: (from, way) => (isUsdt0Chain(from) && way === 'message' ? messageTime_ms(from) : undefined),
  },
};

export const hasRoute = (symbol: FloatSymbol, chainId: ChainId): boolean =>
  protocolOf[symbol].chainIds.includes(chainId);

/** Expected time of the usual way from the slowest source, in ms. */
export function slowestTime_ms(symbol: FloatSymbol): number {
  const { chainIds, ways, time_ms } = protocolOf[symbol];
  const [usual] = ways;
  return Math.max(0, ...chainIds.map((from) => (usual === undefined ? 0 : (time_ms(from, usual) ?? 0))));
}
