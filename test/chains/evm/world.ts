/** A separate chain with a payer, an ingester, and an observer that follows one pass like the payins subscriber. */
import { type Address, encodeFunctionData, erc20Abi, type Hex } from 'viem';
import { type ChainId, chainOf, findToken, type TokenSymbol } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import type { Transfer } from '../../../domain/payment/events.ts';
import { transferId } from '../../../domain/payment/events.ts';
import { epochMs, instant } from '../../../domain/time.ts';
import { fund } from '../../../sandbox/tokens.ts';
import {
  defaultEvmChainConfig,
  type EvmChainConfig,
  type FinalityDepth,
  isEvmChain,
} from '../../../src/chains/evm/config.ts';
import { createEvmIngester, type EvmIngester } from '../../../src/chains/evm/payins/ingester.ts';
import type { Cursor, Pass } from '../../../src/chains/ports.ts';
import { accountOf, type ChainClient, chainClient, isolatedAnvil } from '../../support/anvil.ts';
import { patience_ms } from '../../support/patience.ts';

export const payer = accountOf(77);
export const { signal } = new AbortController();

export interface World {
  readonly rpcUrl: string;
  readonly client: ChainClient;
  mine(blocks: number): Promise<void>;
  /** Sends a transfer from the payer, without mining it. */
  send(to: Address, amount: bigint, symbol?: TokenSymbol): Promise<Hex>;
  /** Sends a transfer and mines it. */
  pay(to: Address, amount: bigint, symbol?: TokenSymbol): Promise<Hex>;
  call(to: Address, data: Hex): Promise<Hex>;
  reorg(depth: number, keep?: readonly [Hex, number][]): Promise<void>;
}

export async function createWorld(chainId: ChainId): Promise<World> {
  const { rpcUrl } = await isolatedAnvil(chainId);
  const client = chainClient(rpcUrl);
  await fund(rpcUrl, chainId, payer, { gas: 10n ** 18n, tokens: { USDC: 10n ** 24n, USDT: 10n ** 24n } });
  await client.impersonateAccount({ address: payer });
  const call = (to: Address, data: Hex) =>
    client.sendTransaction({ account: payer, chain: null, to, data, gas: 200_000n });
  const send = (to: Address, amount: bigint, symbol: TokenSymbol = 'USDC') =>
    call(
      findToken(chainOf(chainId), symbol)!.address as Address,
      encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amount] }),
    );
  const mine = (blocks: number) => client.mine({ blocks });
  return {
    rpcUrl,
    client,
    mine,
    send,
    call,
    async pay(to, amount, symbol) {
      const hash = await send(to, amount, symbol);
      await mine(1);
      return hash;
    },
    reorg: (depth, keep = []) => client.request({ method: 'anvil_reorg', params: [depth, keep] } as never),
  };
}

/** A chain's default settings, with short timeouts of nodes. */
export function evmConfig(chainId: ChainId, rpcUrls: readonly string[]): EvmChainConfig {
  assert(isEvmChain(chainId), `${chainId} is an EVM chain`);
  return { ...defaultEvmChainConfig(chainId, rpcUrls), callTimeout_ms: patience_ms };
}

/** An ingester of Base with shallow depths. */
export const ingesterOf = (
  urls: readonly string[],
  depths: { final?: FinalityDepth; finalLarge?: FinalityDepth } = {},
) =>
  createEvmIngester({
    ...evmConfig(8453, urls),
    rangeBlocksMax: 1_000,
    depths: { final: 3, finalLarge: 6, payout: 3, ...depths },
  });

export interface Observer {
  /** Scans to the end of the pass. */
  follow(): Promise<void>;
  /** Transfers that were seen and are not orphaned, by identity. */
  readonly seen: Map<string, Transfer>;
  readonly orphaned: string[];
  cursor(): Cursor;
}

/** @param from start of the pass. Default: the chain's first block */
export async function observe(ingester: EvmIngester, pass: Pass, from?: Cursor): Promise<Observer> {
  let cursor = from ?? (await ingester.start(pass, instant(0), signal));
  const seen = new Map<string, Transfer>();
  const orphaned: string[] = [];
  return {
    seen,
    orphaned,
    cursor: () => cursor,
    async follow() {
      for (;;) {
        const before = cursor;
        for await (const range of ingester.scan(cursor, signal)) {
          orphaned.push(...range.orphaned);
          for (const [id, { blockHash }] of seen) if (range.orphaned.includes(blockHash)) seen.delete(id);
          for (const log of range.logs) {
            const transfer = await ingester.resolve(log, signal);
            if (transfer) seen.set(transferId(transfer), transfer);
          }
          cursor = range.next;
        }
        if (cursor === before) return;
      }
    },
  };
}

/** Amount that an observer saw arriving at an address. */
export const receivedBy = (observer: Observer, to: string): bigint =>
  [...observer.seen.values()]
    .filter((transfer) => transfer.to === to)
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);

export const blockSeconds = (at: Cursor): number => epochMs(at.chainTime) / 1_000;
