/** What both programs do and tell: a shop that takes a payment, looks it up in every way, and makes mistakes. */

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
  /** The order id that somebody without a key is shown. */
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

/** A payment, and no quote: that is what dryrun alone answers with, and it has no id. */
export function made<A extends object>(answer: A): Extract<A, { id: string }> {
  if (!('id' in answer)) throw new Error('a quote was answered, though none was asked for');
  return answer as Extract<A, { id: string }>;
}
