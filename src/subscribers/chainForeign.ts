/** Which nodes belong to another network, though their chain id is right: by what tells networks apart, or by where they stand. */
import type { Chain } from '../../domain/chains.ts';
import { epochMs, type Instant, minute_ms } from '../../domain/time.ts';
import type { WatchedNode } from '../chains/health.ts';
import type { Looked } from './chainStands.ts';
import { boundedTimes } from './worker.ts';

export interface Foreign {
  readonly node: string;
  readonly message: string;
}

export interface ForeignDeps {
  readonly chain: Pick<Chain, 'id' | 'name' | 'block_ms'>;
  readonly nodes: readonly Pick<WatchedNode, 'name' | 'identity'>[];
  /** What the network was when it was first read; null before that. */
  readonly remembered: () => Promise<string | null>;
  /** @returns what is remembered from now on */
  readonly remember: (identity: string) => Promise<string>;
  /** How far the chain has been read by anybody; null before that. */
  readonly scannedTo: () => Promise<bigint | null>;
  readonly tell: (foreign: Foreign) => void;
}

const identities_ms = 10 * minute_ms;
const toldAgain_ms = 30 * minute_ms;
/** A node that is behind by so much, and for so long, does not lag. */
const behind_ms = 3 * minute_ms;

export interface ForeignWatch {
  /** Takes part in each round of looks. @throws Unavailable */
  judge(all: readonly Looked[], at: Instant, signal: AbortSignal): Promise<void>;
}

export function createForeign(deps: ForeignDeps): ForeignWatch {
  const { chain, nodes, tell } = deps;
  const toldAt = boundedTimes();
  const behindSince = new Map<string, number>();
  let askedAt_ms = Number.NEGATIVE_INFINITY;

  const told = (key: string, now_ms: number, foreign: Foreign) => {
    if (now_ms - (toldAt.get(key) ?? Number.NEGATIVE_INFINITY) < toldAgain_ms) return;
    toldAt.set(key, now_ms);
    tell(foreign);
  };

  return {
    async judge(all, at, signal) {
      const now_ms = epochMs(at);
      await judgePlaces(all, now_ms);
      if (now_ms - askedAt_ms < identities_ms) return;
      askedAt_ms = now_ms;
      await judgeIdentities(now_ms, signal);
    },
  };

  async function judgeIdentities(now_ms: number, signal: AbortSignal): Promise<void> {
    const asked = await Promise.allSettled(nodes.map((node) => node.identity(signal)));
    const said = asked.flatMap((answer, at) =>
      answer.status === 'fulfilled' ? [{ node: nodes[at]?.name ?? '', identity: answer.value }] : [],
    );
    const known = (await deps.remembered()) ?? (await agreedOn(said.map(({ identity }) => identity)));
    for (const { node, identity } of said) {
      if (identity === known) continue;
      const other =
        known === undefined
          ? 'nodes name different networks, and none is remembered'
          : `the one that was read so far is ${known}`;
      const message =
        `${chain.name}: ${node} is of the network ${identity}, and ${other}: take it out of RPC_URLS_${chain.id}. If this is a test network ` +
        `that was begun anew: npm run check-chain -- ${chain.id} --begun-anew`;
      told(`${node} identity`, now_ms, { node, message });
    }
  }

  /** The first one is remembered when all that answer name it. */
  async function agreedOn(said: readonly string[]): Promise<string | undefined> {
    const [first, ...others] = [...new Set(said)];
    return first !== undefined && others.length === 0 ? deps.remember(first) : undefined;
  }

  async function judgePlaces(all: readonly Looked[], now_ms: number): Promise<void> {
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
        `begun anew, or is far behind. Take it out of RPC_URLS_${chain.id} until it has come so far. If this is a test network that was ` +
        `begun anew: npm run check-chain -- ${chain.id} --begun-anew`;
      told(`${node} place`, now_ms, { node, message });
    }
  }
}
