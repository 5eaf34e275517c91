/** What a transfer does where it is no plain transfer of a token. */

export type Form =
  /** Of the chain's own coin. */
  | { readonly kind: 'coin' }
  /** Takes what deposits hold of the token to the treasury, which is the receiver. */
  | { readonly kind: 'flush'; readonly deposits: readonly FlushedDeposit[] }
  /** Puts one of our contracts on the chain. It moves nothing; the receiver is the contract's address. */
  | { readonly kind: 'deploy'; readonly contract: string };

export interface FlushedDeposit {
  readonly address: string;
  /** What the address, or its key, is derived from. */
  readonly salt: string;
}

/** What an order takes of the treasury's balance of its token: flushes and deployments pay nobody. */
export const floatTaken = ({ form, amount }: { readonly form?: Form; readonly amount: bigint }): bigint =>
  form?.kind === 'flush' || form?.kind === 'deploy' ? 0n : amount;
