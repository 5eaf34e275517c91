/** A quirk: one way in which a real node differs from an ideal one, between a caller and a local chain. */
import type { ChainFamily } from '../../domain/chains.ts';
import type { Ask, Call, HttpReply } from './call.ts';

/** Node behind a quirk. */
export interface QuirkyNode {
  readonly family: ChainFamily;
  /** From 0 up to 1, the same sequence at each start with the same seed. */
  random(): number;
  /** Milliseconds of the clock on the wall. */
  now(): number;
  /** The local chain itself, past all quirks. */
  readonly chain: Ask;
}

export type CallEffect = (call: Call, next: Ask) => Promise<unknown>;
export type HttpEffect = (next: () => Promise<HttpReply>) => Promise<HttpReply>;

/** Effect of a quirk on one HTTP request: on each call in it, or on the reply as a whole. */
export interface Effect {
  readonly call?: CallEffect;
  readonly http?: HttpEffect;
}

export interface Quirk<Settings> {
  /** The families whose nodes are known for it. */
  readonly families: readonly ChainFamily[];
  /** In a few words, for people. */
  readonly says: string;
  /** Called once when the quirk is switched on; its result is called for each HTTP request. */
  begin(settings: Settings, node: QuirkyNode): (calls: readonly Call[]) => Effect;
}

/** Frequency of a quirk. */
export interface Often {
  /** Affected share of the calls (or replies), from 0 to 1. Default: all. */
  readonly chance?: number;
  /** Affected methods. Default: all. */
  readonly methods?: readonly string[];
}

export const everywhere: readonly ChainFamily[] = ['evm', 'solana', 'stellar'];

/** A quirk that treats every call alike. */
export const onCalls = (call: CallEffect) => () => ({ call });
/** A quirk that treats every reply alike. */
export const onReplies = (http: HttpEffect) => () => ({ http });

const keysMax = 10_000;

/** Returns true for the first `most` calls with a key, including this one. Default: always. */
export function firstAsks(most = Number.POSITIVE_INFINITY): (key: string) => boolean {
  const asked = new Map<string, number>();
  return (key) => {
    const times = (asked.get(key) ?? 0) + 1;
    if (asked.size >= keysMax) asked.clear();
    asked.set(key, times);
    return times <= most;
  };
}
