import { type ChainId, findChain } from '../../domain/chains.ts';
import { parseFloatLimits } from '../../domain/rebalance/floatUnits.ts';
import { type FloatLimits, type PolicySettings, policyModes } from '../../domain/rebalance/policy.ts';
import type { FloatSymbol } from '../../domain/rebalance/protocols.ts';
import { minute_ms } from '../../domain/time.ts';
import type { Reader } from './reader.ts';

export interface FloatNeeds {
  /** Chains with nodes. */
  readonly served: ReadonlySet<ChainId>;
  /** Without it, nothing is burned. */
  readonly hasAttestations: boolean;
  /** False: USDT is moved by hand, and its limits raise alarms alone. */
  readonly usdt0: boolean;
  /** Signer's limit of one transfer, in whole dollars. */
  readonly perTransfer_usd: bigint;
}

/** Settings of each token's policy. Each token has its own limits, and its own count of the other settings. */
export type FloatPolicies = Readonly<Record<FloatSymbol, PolicySettings>>;

const limitsIn: Readonly<Record<FloatSymbol, string>> = { USDC: 'FLOAT_LIMITS', USDT: 'FLOAT_LIMITS_USDT' };

/** Reads the settings of the policy that moves money between floats. Default: off, without limits. */
export function readFloatPolicy(
  read: Reader,
  { served, hasAttestations, usdt0, perTransfer_usd }: FloatNeeds,
): FloatPolicies {
  const mode = read.oneOf('FLOAT_POLICY', policyModes, 'off');
  const floats = { USDC: readLimits(read, 'USDC', served), USDT: readLimits(read, 'USDT', served) };
  const movesUsdt = usdt0 && floats.USDT.size > 0;
  if (mode !== 'off') {
    if (movesUsdt) read.check(floats.USDT.size >= 2, `FLOAT_POLICY=${mode} needs two chains in FLOAT_LIMITS_USDT`);
    if (floats.USDC.size > 0 || !movesUsdt) {
      read.check(floats.USDC.size >= 2, `FLOAT_POLICY=${mode} needs two chains in FLOAT_LIMITS`);
      read.check(hasAttestations, `FLOAT_POLICY=${mode} needs CCTP_ATTESTATIONS_URL`);
    }
  }
  const common = {
    dailyCap: read.microUsd('FLOAT_DAILY_CAP_USD', '50000'),
    coolDown_ms: read.integer('FLOAT_COOLDOWN_MINUTES', 60, 1, 10_080) * minute_ms,
    smallestMove: read.microUsd('FLOAT_SMALLEST_MOVE_USD', '100'),
    largestMove: perTransfer_usd * 1_000_000n,
    automaticBelow: read.microUsd('FLOAT_AUTOMATIC_BELOW_USD', '1000'),
    fastFeeMax_bps: read.integer('FLOAT_FAST_FEE_MAX_BPS', 14, 0, 20),
  };
  return {
    USDC: { mode, floats: floats.USDC, ...common },
    USDT: { mode: usdt0 ? mode : 'off', floats: floats.USDT, ...common },
  };
}

type Limits = ReadonlyMap<ChainId, FloatLimits>;

function readLimits(read: Reader, symbol: FloatSymbol, served: ReadonlySet<ChainId>): Limits {
  const floats = new Map<ChainId, FloatLimits>();
  const name = limitsIn[symbol];
  for (const text of read.list(name)) {
    const problem = addLimits(floats, text, { symbol, served });
    read.check(problem === undefined, `${name}: ${text}: ${problem}`);
  }
  return floats;
}

/** @returns the problem of the text; undefined if its limits were added */
function addLimits(
  floats: Map<ChainId, FloatLimits>,
  text: string,
  { symbol, served }: Pick<FloatNeeds, 'served'> & { readonly symbol: FloatSymbol },
): string | undefined {
  try {
    const [chainId, limits] = parseFloatLimits(text, findChain, symbol);
    if (!served.has(chainId)) return `set RPC_URLS_${chainId} first`;
    if (floats.has(chainId)) return 'the chain is named twice';
    floats.set(chainId, limits);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
