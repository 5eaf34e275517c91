/** State of each node, shared by all users in this process: its rate, and its limits per call. */

import {
  createLimiter,
  createLimits,
  type Limiter,
  type LimiterDeps,
  type NodeLimits,
  systemTicker,
} from './limiter.ts';

/** Outcome of a call to a node. */
export type CallEnd = 'answered' | 'refused' | 'limited' | 'failed';

export interface Verification {
  readonly since_ms: number;
  /** Rejects with the reason why the node does not serve the chain. */
  readonly outcome: Promise<void>;
  readonly unfit: boolean;
}

export interface NodeLine {
  readonly limiter: Limiter;
  readonly limits: NodeLimits;
  /** Whether the node serves a chain, by chain id. */
  readonly verified: Map<number, Verification>;
  /** Reason why the node is not queried about a chain, while it is not. */
  readonly refused: Map<number, string>;
}

/** For metrics; a node is named by its chain and its number, never by its URL. */
export interface NodeSeen {
  readonly chainId: number;
  readonly node: number;
  /** Kind of call; there are few. */
  readonly kind: string;
  readonly end: CallEnd;
}

export interface NodeRate extends Pick<NodeSeen, 'chainId' | 'node'> {
  /** In usual calls. */
  readonly perSecond: number;
}

export interface NodeLines extends LimiterDeps {
  /** @param named chain and number of the node */
  of(url: string, named: Pick<NodeSeen, 'chainId' | 'node'>): NodeLine;
  seen(call: NodeSeen): void;
  /** Rates of the nodes that have refused calls. */
  rates(): readonly NodeRate[];
}

export function createLines({
  ticker = systemTicker,
  random = Math.random,
  seen = () => {},
}: Partial<LimiterDeps> & { readonly seen?: (call: NodeSeen) => void } = {}): NodeLines {
  const lines = new Map<string, NodeLine>();
  /** Chains and numbers under which a node is used. */
  const names = new Map<string, Pick<NodeSeen, 'chainId' | 'node'> & { readonly line: NodeLine }>();
  return {
    ticker,
    random,
    seen,
    of(url, { chainId, node }) {
      const line = lines.get(url) ?? {
        limiter: createLimiter({ ticker, random }),
        limits: createLimits(ticker),
        verified: new Map(),
        refused: new Map(),
      };
      lines.set(url, line);
      names.set(`${chainId} ${node}`, { chainId, node, line });
      return line;
    },
    rates: () =>
      [...names.values()].flatMap(({ chainId, node, line }) => {
        const perSecond = line.limiter.rate();
        return perSecond === null ? [] : [{ chainId, node, perSecond }];
      }),
  };
}
