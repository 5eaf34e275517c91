/** Which nodes belong to another network, though their chain id is right: by what tells networks apart, which takes them out, or by where they stand. */

import type { Chain } from '../../../domain/chains.ts';
import { epochMs, type Instant, minute_ms } from '../../../domain/time.ts';
import { boundedTimes } from '../../lib/boundedMap.ts';
import { begunAnew, createIdentityWatch, type IdentityDeps, type Stranger } from './chainIdentity.ts';
import type { Looked } from './chainStands.ts';

export interface ForeignDeps extends IdentityDeps {
  readonly chain: Pick<Chain, 'id' | 'name' | 'block_ms'>;
  /** How far the chain has been read by anybody; null before that. */
  readonly scannedTo: () => Promise<bigint | null>;
}

const toldAgain_ms = 30 * minute_ms;
/** A node that is behind by so much, and for so long, does not lag. */
const behind_ms = 3 * minute_ms;

export interface ForeignWatch {
  /** Takes part in each round of looks. @throws Unavailable */
  judge(all: readonly Looked[], at: Instant, signal: AbortSignal): Promise<void>;
}

export function createForeign(deps: ForeignDeps): ForeignWatch {
  const { chain, tell } = deps;
  const toldAt = boundedTimes();
  const behindSince = new Map<string, number>();
  let now_ms = 0;
  const identities = createIdentityWatch({ ...deps, tell: (stranger) => told(`${stranger.node} identity`, stranger) });

  const told = (key: string, foreign: Stranger) => {
    if (now_ms - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < toldAgain_ms) return;
    toldAt.set(key, now_ms);
    tell(foreign);
  };

  return {
    async judge(all, at, signal) {
      now_ms = epochMs(at);
      await judgePlaces(all);
      await identities.judge(now_ms, signal);
    },
  };

  async function judgePlaces(all: readonly Looked[]): Promise<void> {
    const scannedTo = await deps.scannedTo();
    for (const { node, look } of all) {
      if ('failure' in look) continue;
      const behind = scannedTo === null ? 0 : Number(scannedTo - look.head.blockNumber);
      if (behind * chain.block_ms <= behind_ms) behindSince.delete(node);
      else if (!behindSince.has(node)) behindSince.set(node, now_ms);
      const since_ms = behindSince.get(node);
      if (since_ms === undefined || now_ms - since_ms < behind_ms) continue;
      const message =
        `${chain.name}: ${node} stands at block ${look.head.blockNumber}, and ${scannedTo} was read before: it is of another network, was ` +
        `begun anew, or is far behind. Take it out of RPC_URLS_${chain.id} until it has come so far. ${begunAnew(chain)}`;
      told(`${node} place`, { node, message });
    }
  }
}
