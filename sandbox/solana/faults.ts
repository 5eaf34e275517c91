/** Faults between a caller and a node, on demand. */

export const faultKinds = ['drop', 'lostAnswer', 'duplicate', 'unavailable', 'lagging'] as const;

/**
 * - `drop`: sendTransaction answers with the signature, the transaction is gone.
 * - `lostAnswer`: the request is carried out and the connection ends without an answer.
 * - `duplicate`: the request arrives twice and the second answer is given.
 * - `unavailable`: HTTP 503, nothing is carried out.
 * - `lagging`: a node answers that is some slots behind.
 */
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The affected RPC method; `*` for any. */
  readonly method: string;
  /** Number of times. Default: once. */
  readonly times?: number;
  /** For `lagging`: the number of slots. */
  readonly slots?: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** Returns and uses up the fault for the next request of a method. */
  take(method: string): Fault | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const waiting: { readonly fault: Fault; left: number }[] = [];
  return {
    add: (fault) => void waiting.push({ fault, left: fault.times ?? 1 }),
    take(method) {
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
