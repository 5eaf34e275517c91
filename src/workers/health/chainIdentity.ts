/**
 * Keeps nodes of other networks from being asked, though their chain id is right: by what tells networks apart, held against what the chain
 * was when it was first read.
 */
import type { Chain } from '../../../domain/chains.ts';
import { minute_ms } from '../../../domain/time.ts';
import type { WatchedNode } from '../../chains/health.ts';

/** A node whose network is not the one that is read, or nobody knows which is. */
export interface Stranger {
  readonly node: string;
  readonly message: string;
}

export interface IdentityDeps {
  readonly chain: Pick<Chain, 'id' | 'name'>;
  readonly nodes: readonly Pick<WatchedNode, 'name' | 'identity' | 'refuse'>[];
  /** What the network was when it was first read; null before that. */
  readonly remembered: () => Promise<string | null>;
  /** @returns what is remembered from now on */
  readonly remember: (identity: string) => Promise<string>;
  readonly tell: (stranger: Stranger) => void;
}

const usually_ms = 10 * minute_ms;
/** A node that is refused may have been set right. */
const refused_ms = minute_ms;

export interface IdentityWatch {
  /** Asks the nodes when it is time. Proven strangers are refused until they show the right network. @throws Unavailable */
  judge(now_ms: number, signal: AbortSignal): Promise<void>;
}

export function createIdentityWatch({ chain, nodes, remembered, remember, tell }: IdentityDeps): IdentityWatch {
  const refused = new Set<string>();
  let askedAt_ms = Number.NEGATIVE_INFINITY;

  return {
    async judge(now_ms, signal) {
      if (now_ms - askedAt_ms < (refused.size > 0 ? refused_ms : usually_ms)) return;
      askedAt_ms = now_ms;
      const asked = await Promise.allSettled(
        nodes.map(async (node) => ({ node, identity: await node.identity(signal) })),
      );
      const said = asked.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
      const known = (await remembered()) ?? (await agreedOn(said.map(({ identity }) => identity)));
      for (const { node, identity } of said) {
        if (identity === known) admit(node);
        else if (known === undefined) tell({ node: node.name, message: undecided(node.name, identity) });
        else refuse(node, identity, known);
      }
    },
  };

  /** The first one is remembered when all that answer name it. */
  async function agreedOn(said: readonly string[]): Promise<string | undefined> {
    const [first, ...others] = [...new Set(said)];
    return first !== undefined && others.length === 0 ? remember(first) : undefined;
  }

  function admit(node: IdentityDeps['nodes'][number]): void {
    if (refused.delete(node.name)) node.refuse(null);
  }

  function refuse(node: IdentityDeps['nodes'][number], identity: string, known: string): void {
    const why = `it is of the network ${identity}, and the one that was read so far is ${known}`;
    refused.add(node.name);
    node.refuse(why);
    const what = `${chain.name}: ${node.name} is not asked any more: ${why}. Take it out of RPC_URLS_${chain.id}`;
    tell({ node: node.name, message: `${what}. ${begunAnew(chain)}` });
  }

  function undecided(node: string, identity: string): string {
    const what = `${chain.name}: ${node} is of the network ${identity}; nodes name different networks, and none is remembered`;
    return `${what}: take out of RPC_URLS_${chain.id} those that are not meant. ${begunAnew(chain)}`;
  }
}

export const begunAnew = ({ id }: Pick<Chain, 'id'>): string =>
  `If this is a test network that was begun anew: npm run check-chain -- ${id} --begun-anew`;
