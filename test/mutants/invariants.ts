/** What must hold whatever happens, how it is kept, and which command checks it on an installation. */
interface Invariant {
  readonly says: string;
  /** How, in a sentence. */
  readonly how: string;
  /** Where. */
  readonly kept: readonly [string, ...string[]];
  readonly command: string;
}

export const invariants = {
  paidOnce: {
    says: 'A payout, refund or withdrawal lands at most once on its chain.',
    how: 'signed bytes are recorded before they are sent, all of one nonce; another nonce takes proof that the first can never land',
    kept: ['src/workers/payouts/sign.ts', 'domain/transfer/record.ts', 'domain/signing/signature.ts'],
    command: 'npm run audit',
  },
  paidToOrder: {
    says: 'What lands has the receiver, token and amount of the order.',
    how: 'the stream refuses an attempt that is not its order; success is what the receipt shows of the money',
    kept: ['domain/transfer/record.ts', 'src/chains/evm/payouts/fate.ts'],
    command: 'npm run audit',
  },
  paidFor: {
    says: 'What leaves for a payment is no more than its payins, as nodes return them.',
    how: 'payins, decimals, amount and receiver follow from terms, catalogue and chains; a signer of its own counts each payin once',
    kept: ['domain/payment/backing.ts', 'src/signer/backing.ts', 'domain/signing/moneyUse.ts'],
    command: 'npm run audit',
  },
  nonceOnce: {
    says: 'A nonce of an account is given to one transfer.',
    how: 'nonces are handed out by appending to the account’s stream at an exact revision',
    kept: ['domain/treasury/nonces.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  deadIsProven: {
    says: 'A transfer counts as failed only by what its chain shows, never by a timeout or an error.',
    how: 'all nodes that answer must show the nonce used by another transaction, at the deepest finality',
    kept: ['src/chains/node/agreement.ts', 'src/workers/payouts/fate.ts'],
    command: 'npm run audit',
  },
  everyPayinKept: {
    says: 'Every final transfer to a disclosed address is recorded once: counted, held, or unmatched.',
    how: 'a cursor moves only behind what is recorded and never ahead of the index of addresses; a transfer is known by chain, transaction and place in it',
    kept: ['src/workers/payins/payins.ts', 'src/workers/payins/range.ts', 'domain/payment/payins.ts'],
    command: 'npm run audit',
  },
  creditedWhenFinal: {
    says: 'Money counts when it can leave its chain no more, and enough nodes show it alike.',
    how: 'the final passes confirm, each transfer asked of several nodes; forks are followed block by block',
    kept: ['src/workers/payins/confirmation.ts', 'src/chains/node/agreement.ts', 'src/chains/evm/payins/scanner.ts'],
    command: 'npm run audit',
  },
  splitAddsUp: {
    says: 'received = payout + fee + excess + dust, to the last unit, and the fee is the agreed one.',
    how: 'integers alone; what cannot be divided is dust, and it is asserted before it is recorded',
    kept: ['domain/payment/close.ts', 'domain/payment/fees.ts', 'domain/money.ts'],
    command: 'npm run audit',
  },
  relayedOnce: {
    says: 'A payer’s authorization is sent for one payment, to its deposit, for the amount that is due; a bill has one under way.',
    how: 'terms decide, not what is sent; the streams number a payment’s relays; the relay key signs authorizations to our deposits alone; payins decide what is paid',
    kept: ['commands/relays.ts', 'domain/relay/result.ts', 'src/chains/evm/signer/relaySigner.ts'],
    command: 'npm run audit',
  },
  refundsWithinHeld: {
    says: 'Refunds of a payment never exceed what is held of it.',
    how: 'the stream that orders them counts what is held and what was ordered before',
    kept: ['domain/payment/refundOrder.ts', 'domain/payment/refundOrder.ts'],
    command: 'npm run audit',
  },
  floatReserved: {
    says: 'No transfer is signed for money that another one has been promised, nor beyond the hour’s limits.',
    how: 'what is signed and not mined counts as spent; what is signed counts for its hour whatever becomes of it',
    kept: ['src/chains/money/spending.ts', 'domain/treasury/nonces.ts'],
    command: 'npm run treasury -- books',
  },
  twoPeople: {
    says: 'A withdrawal above the limit leaves after a second operator agreed.',
    how: 'the operation’s stream counts who approved, and refuses its signature before',
    kept: ['domain/treasury/operation.ts'],
    command: 'npm run treasury -- operations',
  },
  onePost: {
    says: 'One event of a payment leads to one POST by itself, whatever crashes.',
    how: 'whoever appends the start of a delivery may POST; its id follows from the event',
    kept: ['domain/webhook.ts', 'commands/sendWebhook.ts'],
    command: 'npm run audit',
  },
  oneOrder: {
    says: 'The same request meets the same payment, also at the same moment; without a key, another request meets another one.',
    how: 'the stream’s id is derived from the order, without a key from its terms and words too; the first append expects no stream',
    kept: ['commands/paymentId.ts', 'commands/createPayment.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  decidedOnce: {
    says: 'Of two who decide at once, one is refused and decides again.',
    how: 'every append expects an exact revision, and every event has a random id',
    kept: ['src/store/append.ts', 'commands/codec.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  logIsOurs: {
    says: 'Nothing is decided on an event that this service did not write, or that is not where it was written.',
    how: 'each event names its predecessor’s hash and carries a seal over its own; both are checked at each read',
    kept: ['src/store/sealed.ts', 'commands/codec.ts'],
    command: 'npm run audit',
  },
  fraudFound: {
    says: 'What is in the log and did not happen, or happened and is not in it, is found within a day, to the unit.',
    how: 'every stream is reckoned again by arithmetic of its own, every transaction asked of its chain; only what an audit leaves at its end counts',
    kept: [
      'tools/audit/compare.ts',
      'tools/audit/streams.ts',
      'src/workers/audit/nightly.ts',
      'src/workers/audit/index.ts',
    ],
    command: 'npm run audit',
  },
  rowsFollowLog: {
    says: 'Each event counts exactly once in the read models.',
    how: 'rows and checkpoint are committed in one transaction',
    kept: ['projections/commit.ts'],
    command: 'npm run rebuild',
  },
  strangersBounded: {
    says: 'No request of a stranger, and no query of an analyst, costs more than its bound or stops the work of others.',
    how: 'headers, hashes, places and mails have limits of their own; the database takes from analysts what holds others up',
    kept: ['src/api/accept.ts', 'src/accounts/passcodes.ts', 'src/postgres/analyst.ts'],
    command: 'npm run doctor',
  },
} as const satisfies Readonly<Record<string, Invariant>>;
