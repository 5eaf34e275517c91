/** Faults between a caller and a node, on demand. */

export const faultKinds = ['drop', 'lostAnswer', 'duplicate', 'tryAgainLater', 'unavailable'] as const;

/**
 * - `drop`: a transaction is accepted and never lands.
 * - `lostAnswer`: the request is carried out and the connection ends without an answer.
 * - `duplicate`: the request arrives twice and the second answer is returned; events appear twice in one page.
 * - `tryAgainLater`: a transaction is refused for now.
 * - `unavailable`: HTTP 503, nothing is carried out.
 */
export type FaultKind = (typeof faultKinds)[number];

export interface Fault {
  readonly kind: FaultKind;
  /** The affected RPC method. */
  readonly method: string;
  /** Number of times. Default: once. */
  readonly times?: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** Returns and uses up the fault for the next request of a method. */
  take(method: string): FaultKind | undefined;
  clear(): void;
}

export function createFaults(): Faults {
  const waiting: { method: string; kind: FaultKind; left: number }[] = [];
  return {
    add: ({ method, kind, times = 1 }) => void waiting.push({ method, kind, left: times }),
    take(method) {
      const at = waiting.findIndex((fault) => fault.method === method);
      const fault = waiting[at];
      if (!fault) return undefined;
      fault.left--;
      if (fault.left <= 0) waiting.splice(at, 1);
      return fault.kind;
    },
    clear: () => void waiting.splice(0),
  };
}
