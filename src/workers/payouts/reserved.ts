/**
 * What transfers that are being prepared will take of the treasury's tokens. They ask their chain side by side, before any of them has a
 * nonce: each counts those that reserved before it, so that all of them together stay within what the treasury holds.
 */
export interface Reserved {
  /** Reserves, and says what others have reserved of the token by then, in smallest units. A second time it says so anew. */
  take(reference: string, token: string, amount: bigint): bigint;
  release(reference: string): void;
}

/** The caller bounds how many are prepared at a time. */
export function createReserved(): Reserved {
  const held = new Map<string, { readonly token: string; readonly amount: bigint }>();
  return {
    take(reference, token, amount) {
      let others = 0n;
      for (const [own, each] of held) if (own !== reference && each.token === token) others += each.amount;
      held.set(reference, { token, amount });
      return others;
    },
    release: (reference) => void held.delete(reference),
  };
}
