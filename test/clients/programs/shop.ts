/** Steps and reports of both programs: a shop that creates a payment, looks it up in every way, and makes mistakes. */

export interface At {
  readonly url: string;
  readonly key: string;
  readonly adminKey: string;
  readonly orderId: string;
  readonly receiverAddress: string;
  readonly txHash: string;
}

export interface Seen {
  readonly id: string;
  readonly location: string | null;
  readonly toPay: string | null;
  readonly repeated: { readonly id: string; readonly replayed: string | null };
  readonly foundStatus: string;
  readonly foundByOrder: string;
  /** The order id in the answer without a key. */
  readonly publicOrderId: string | null;
  readonly listed: readonly string[];
  readonly registered: { readonly success: boolean; readonly txHash: string | null };
  readonly errors: readonly Failure[];
}

export interface Failure {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly pointer: string | undefined;
}

/** Returns the answer as a payment. @throws Error for a quote, which only `dryrun` requests and which has no id */
export function made<A extends object>(answer: A): Extract<A, { id: string }> {
  if (!('id' in answer)) throw new Error('a quote was answered, though none was asked for');
  return answer as Extract<A, { id: string }>;
}
