/** What a transfer does where it is no plain transfer of a token. */

export type Form =
  /** Of the chain's own coin. */
  | { readonly kind: 'coin' }
  /** Takes what deposits hold of the token to the treasury, which is the receiver. */
  | { readonly kind: 'flush'; readonly deposits: readonly FlushedDeposit[] }
  /** Puts one of our contracts on the chain. It moves nothing; the receiver is the contract's address. */
  | { readonly kind: 'deploy'; readonly contract: OurContract }
  /** Lets one of our contracts, the receiver, take so much of the token on the treasury's word, in smallest units. It moves nothing. */
  | { readonly kind: 'allow'; readonly contract: OurContract; readonly most: string }
  /** Writes a hash on the chain, as hex, for whoever looks it up there. It moves nothing; the receiver is the treasury itself. */
  | { readonly kind: 'anchor'; readonly hash: string }
  /** Pays several receivers in one transaction, in this order; the order's amount is their sum, its receiver the contract that does it. */
  | { readonly kind: 'payMany'; readonly payments: readonly PaidTogether[] };

export const ourContracts = ['forwarder', 'payMany'] as const;
export type OurContract = (typeof ourContracts)[number];

export interface PaidTogether {
  readonly paymentId: string;
  /** Whose limits it counts for. */
  readonly appId: string;
  readonly receiver: string;
  /** In smallest units. */
  readonly amount: bigint;
}

export interface FlushedDeposit {
  readonly address: string;
  /** What the address, or its key, is derived from. */
  readonly salt: string;
}

const movesNothing: ReadonlySet<string> = new Set<Form['kind']>(['flush', 'deploy', 'allow', 'anchor']);

/** What an order takes of the treasury's balance of its token: flushes, deployments, allowances and anchors pay nobody. */
export const floatTaken = ({ form, amount }: { readonly form?: Form; readonly amount: bigint }): bigint =>
  form && movesNothing.has(form.kind) ? 0n : amount;
