/** Faults between a caller and a local chain, on demand. Each chain has its own kinds. */

/**
 * - `drop`: sendTransaction answers with the signature, the transaction is gone.
 * - `lostAnswer`: the request is carried out and the connection ends without an answer.
 * - `duplicate`: the request arrives twice and the second answer is given.
 * - `unavailable`: HTTP 503, nothing is carried out.
 * - `lagging`: a node answers that is some slots behind.
 */
export const solanaFaultKinds = ['drop', 'lostAnswer', 'duplicate', 'unavailable', 'lagging'] as const;

/**
 * - `drop`: a transaction is accepted and never lands.
 * - `lostAnswer`, `unavailable`: as on Solana.
 * - `duplicate`: the request arrives twice and the second answer is returned; events appear twice in one page.
 * - `tryAgainLater`: a transaction is refused for now.
 */
export const stellarFaultKinds = ['drop', 'lostAnswer', 'duplicate', 'tryAgainLater', 'unavailable'] as const;

export type SolanaFaultKind = (typeof solanaFaultKinds)[number];
export type StellarFaultKind = (typeof stellarFaultKinds)[number];

interface Affected<K> {
  readonly kind: K;
  /** The affected RPC method; `*` for any. */
  readonly method: string;
  /** Number of times. Default: once. */
  readonly times?: number;
}

export interface SolanaFault extends Affected<SolanaFaultKind> {
  /** For `lagging`: the number of slots. */
  readonly slots?: number;
}

export type StellarFault = Affected<StellarFaultKind>;

export interface Faults<F> {
  add(fault: F): void;
  /** Returns and uses up the fault for the next request of a method. Commands of the sandbox have none. */
  take(method: string): F | undefined;
  clear(): void;
}

export function createFaults<F extends Affected<string>>(): Faults<F> {
  const waiting: { readonly fault: F; left: number }[] = [];
  return {
    add: (fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    take(method) {
      if (method.startsWith('sandbox_')) return undefined;
      const at = waiting.findIndex(({ fault }) => fault.method === method || fault.method === '*');
      const found = waiting[at];
      if (!found) return undefined;
      found.left--;
      if (found.left <= 0) waiting.splice(at, 1);
      return found.fault;
    },
    clear: () => void waiting.splice(0),
  };
}
