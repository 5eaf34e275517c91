/** An operator's settings of one chain. A chain without a node is not served. */
import { membersMax } from '../../domain/batch/batch.ts';
import type { Chain, ChainId } from '../../domain/chains.ts';
import { parseAmount } from '../../domain/money.ts';
import type { Reader } from '../environment/reader.ts';
import { type CoinSettings, readCoin } from './money/coins.ts';
import { usuallyAgree } from './node/agreement.ts';

/** Depth of finality: a number of blocks or a time, a tag, or a tag plus a minimum of blocks or time. */
export interface DepthSetting {
  readonly blocks: number;
  readonly tag: 'safe' | 'finalized' | null;
  /** Instead of blocks. */
  readonly after_ms?: number;
}

/** Undefined: the chain's default. */
export interface DepthSettings {
  readonly confirmations?: DepthSetting;
  readonly confirmationsLarge?: DepthSetting;
  readonly payoutConfirmations?: DepthSetting;
}

/** For chains with gas. Undefined: the chain's default. */
export interface GasSettings {
  /** Maximum gas of one transfer. */
  readonly gasMax?: bigint;
  /** Maximum price per unit of gas. */
  readonly gasPriceMax_gwei?: bigint;
  /** Maximum tip within it. */
  readonly tipMax_gwei?: bigint;
}

export interface ChainSettings extends DepthSettings, GasSettings {
  readonly chainId: ChainId;
  /** In order of preference. They may contain API keys and are never logged. */
  readonly rpcUrls: readonly string[];
  /** Nodes that push notifications. They may contain API keys too. */
  readonly wsUrls?: readonly string[];
  /** Number of nodes that must agree, for usual and for large sums. */
  readonly agree: { readonly usual: number; readonly large: number };
  readonly largeFrom_usd?: bigint;
  readonly exposureMax_usd?: bigint;
  readonly poll_ms?: number;
  /** Maximum gas price of scheduled sweeps, in wei. */
  readonly sweepGasPriceMax?: bigint;
  /** Maximum payouts per transaction. Default: one payout per transaction. */
  readonly payoutBatch?: PayoutBatchSettings;
  readonly coin: CoinSettings;
}

export interface PayoutBatchSettings {
  readonly most: number;
  /** Maximum time that a payout waits for others. */
  readonly wait_s: number;
}

const depthNames = {
  confirmations: 'CONFIRMATIONS',
  confirmationsLarge: 'CONFIRMATIONS_LARGE',
  payoutConfirmations: 'PAYOUT_CONFIRMATIONS',
} as const satisfies Record<keyof DepthSettings, string>;

interface ChainTraits {
  /** True if users of the chain choose the depth of finality. */
  readonly choosesDepth: boolean;
  readonly hasPushes: boolean;
  readonly hasBatches: boolean;
  readonly coinDecimals: number;
  readonly production: boolean;
}

/** @returns undefined for a chain without a configured node */
export function readChainSettings(
  read: Reader,
  { id, name }: Chain,
  { choosesDepth, hasPushes, hasBatches, coinDecimals, production }: ChainTraits,
): ChainSettings | undefined {
  const rpcUrls = read.list(`RPC_URLS_${id}`);
  if (rpcUrls.length === 0) return undefined;
  const problem = rpcUrls.map((url) => urlProblem(url, production)).findIndex(Boolean);
  const wrong = rpcUrls[problem];
  // The URL may hold an API key, so the message names its number instead.
  if (wrong) read.check(false, `RPC_URLS_${id}: entry ${problem + 1} ${urlProblem(wrong, production)}`);
  else read.check(new Set(rpcUrls).size === rpcUrls.length, `RPC_URLS_${id}: a node is listed twice`);
  const wsUrls = read.list(`WS_URLS_${id}`);
  read.check(hasPushes || wsUrls.length === 0, `WS_URLS_${id}: ${name} is polled`);
  const badSocket = wsUrls.findIndex((url) => urlProblem(url, production, 'ws'));
  read.check(
    badSocket === -1,
    `WS_URLS_${id}: entry ${badSocket + 1} ${urlProblem(wsUrls[badSocket] ?? '', production, 'ws')}`,
  );
  const depths = readDepths(read, id);
  const fits = choosesDepth || Object.keys(depths).length === 0;
  read.check(fits, `CONFIRMATIONS_${id}: ${name} decides finality itself: unset the variable`);
  const largeFrom_usd = read.optionalWhole(`LARGE_FROM_USD_${id}`);
  const exposureMax_usd = read.optionalWhole(`EXPOSURE_USD_${id}`);
  read.check(
    choosesDepth || exposureMax_usd === undefined,
    `EXPOSURE_USD_${id}: ${name} has one finality for all amounts: unset the variable`,
  );
  const gas = readGas(read, id);
  read.check(choosesDepth || Object.keys(gas).length === 0, `GAS_MAX_${id}: ${name} has no gas: unset the variable`);
  const sweepGasPriceMax = readGwei(read, `SWEEP_GAS_PRICE_MAX_GWEI_${id}`);
  read.check(
    choosesDepth || sweepGasPriceMax === undefined,
    `SWEEP_GAS_PRICE_MAX_GWEI_${id}: ${name} has no gas: unset the variable`,
  );
  const most = read.integer(`PAYOUT_BATCH_${id}`, 0, 0, membersMax);
  read.check(most === 0 || hasBatches, `PAYOUT_BATCH_${id}: ${name} has no batches: unset the variable`);
  const payoutBatch = { most, wait_s: read.integer(`PAYOUT_BATCH_WAIT_SECONDS_${id}`, 5, 0, 600) };
  const poll_ms = read.optionalInteger(`POLL_MS_${id}`, 20, 600_000);
  return {
    chainId: id,
    rpcUrls,
    ...(wsUrls.length > 0 && { wsUrls }),
    agree: readAgree(read, id, { nodes: rpcUrls.length, production }),
    ...depths,
    ...(largeFrom_usd !== undefined && { largeFrom_usd }),
    ...(exposureMax_usd !== undefined && { exposureMax_usd }),
    ...gas,
    ...(poll_ms !== undefined && { poll_ms }),
    ...(sweepGasPriceMax !== undefined && { sweepGasPriceMax }),
    ...(most > 1 && { payoutBatch }),
    coin: readCoin(read, id, coinDecimals),
  };
}

/** Requires encryption for data that a network attacker could change. */
function urlProblem(url: string, production: boolean, scheme: 'http' | 'ws' = 'http'): string | undefined {
  if (!new RegExp(`^${scheme}s?://`).test(url) || !URL.canParse(url)) return `is not a ${scheme}(s) URL`;
  const { protocol, hostname } = new URL(url);
  const inClear = production && protocol === `${scheme}:` && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return inClear ? `uses ${scheme}: use ${scheme}s for a node on another machine` : undefined;
}

/** Large sums always need two nodes, except in trials. */
function readAgree(
  read: Reader,
  id: ChainId,
  { nodes, production }: { readonly nodes: number; readonly production: boolean },
): ChainSettings['agree'] {
  const name = `AGREE_${id}`;
  const usual = read.integer(name, Math.min(usuallyAgree, nodes), 1, 9);
  read.check(usual <= nodes, `${name}: ${usual} nodes must agree, but RPC_URLS_${id} lists ${nodes}`);
  return { usual, large: production ? Math.max(usual, usuallyAgree) : usual };
}

const gasNames = {
  gasMax: 'GAS_MAX',
  gasPriceMax_gwei: 'GAS_PRICE_MAX_GWEI',
  tipMax_gwei: 'TIP_MAX_GWEI',
} as const satisfies Record<keyof GasSettings, string>;

function readGas(read: Reader, id: ChainId): GasSettings {
  const stated = Object.entries(gasNames).map(([key, name]) => [key, read.optionalWhole(`${name}_${id}`)]);
  return Object.fromEntries(stated.filter(([, limit]) => limit !== undefined));
}

const gweiDecimals = 9;

/** Fractions are usual on chains that build on Ethereum. */
function readGwei(read: Reader, name: string): bigint | undefined {
  const text = read.text(name, '');
  if (text === '') return undefined;
  const wei = parseAmount(text, gweiDecimals);
  return read.check(typeof wei === 'bigint', `${name} is not a number like 0.05`) && typeof wei === 'bigint'
    ? wei
    : undefined;
}

function readDepths(read: Reader, id: ChainId): DepthSettings {
  const stated = Object.entries(depthNames).map(([key, name]) => [key, readDepth(read, `${name}_${id}`)]);
  return Object.fromEntries(stated.filter(([, depth]) => depth !== undefined));
}

function readDepth(read: Reader, name: string): DepthSetting | undefined {
  const value = read.text(name, '');
  if (value === '') return undefined;
  const match = /^(?:(\d{1,5}s?)|(safe|finalized)(?:\+(\d{1,5}s?))?)$/.exec(value);
  const known =
    'not a number of blocks (12), seconds (20s), a tag (finalized) or a tag with one of them (finalized+15)';
  if (!read.check(match !== null, `${name}: ${value} is ${known}`)) return undefined;
  const amount = match?.[1] ?? match?.[3] ?? '0';
  const tag = (match?.[2] as DepthSetting['tag']) ?? null;
  const count = Number.parseInt(amount, 10);
  return amount.endsWith('s') ? { blocks: 0, tag, after_ms: count * 1_000 } : { blocks: count, tag };
}
