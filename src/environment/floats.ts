import { type ChainId, findChain } from '../../domain/chains.ts';
import { parseFloatLimits } from '../../domain/rebalance/floatUnits.ts';
import { type FloatLimits, type PolicySettings, policyModes } from '../../domain/rebalance/policy.ts';
import { minute_ms } from '../../domain/time.ts';
import type { Reader } from './reader.ts';

export interface FloatNeeds {
  /** Chains with nodes. */
  readonly served: ReadonlySet<ChainId>;
  /** Without it, nothing is burned. */
  readonly hasAttestations: boolean;
  /** Signer's limit of one transfer, in whole dollars. */
  readonly perTransfer_usd: bigint;
}

/** Reads the settings of the policy that moves money between floats. Default: off, without limits. */
export function readFloatPolicy(
  read: Reader,
  { served, hasAttestations, perTransfer_usd }: FloatNeeds,
): PolicySettings {
  const mode = read.oneOf('FLOAT_POLICY', policyModes, 'off');
  const floats = new Map<ChainId, FloatLimits>();
  for (const text of read.list('FLOAT_LIMITS')) {
    const problem = addLimits(floats, text, served);
    read.check(problem === undefined, `FLOAT_LIMITS: ${text}: ${problem}`);
  }
  if (mode !== 'off') {
    read.check(floats.size >= 2, `FLOAT_POLICY=${mode} needs two chains in FLOAT_LIMITS`);
    read.check(hasAttestations, `FLOAT_POLICY=${mode} needs CCTP_ATTESTATIONS_URL`);
  }
  return {
    mode,
    floats,
    dailyCap: read.microUsd('FLOAT_DAILY_CAP_USD', '50000'),
    coolDown_ms: read.integer('FLOAT_COOLDOWN_MINUTES', 60, 1, 10_080) * minute_ms,
    smallestMove: read.microUsd('FLOAT_SMALLEST_MOVE_USD', '100'),
    largestMove: perTransfer_usd * 1_000_000n,
    automaticBelow: read.microUsd('FLOAT_AUTOMATIC_BELOW_USD', '1000'),
    fastFeeMax_bps: read.integer('FLOAT_FAST_FEE_MAX_BPS', 14, 0, 20),
  };
}

/** @returns the problem of the text; undefined if its limits were added */
function addLimits(floats: Map<ChainId, FloatLimits>, text: string, served: ReadonlySet<ChainId>): string | undefined {
  try {
    const [chainId, limits] = parseFloatLimits(text, findChain);
    if (!served.has(chainId)) return `set RPC_URLS_${chainId} first`;
    if (floats.has(chainId)) return 'the chain is named twice';
    floats.set(chainId, limits);
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return error.message;
    throw error;
  }
}
