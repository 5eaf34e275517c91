/** Promises about money that hold in every situation, with the code that keeps each and the command that checks it on an installation. */
interface Invariant {
  readonly says: string;
  /** The mechanism, in a sentence. */
  readonly how: string;
  /** Files with the code. */
  readonly kept: readonly [string, ...string[]];
  readonly command: string;
}

export const invariants = {
  paidOnce: {
    says: 'A payout, refund or withdrawal arrives at most once on its chain.',
    how: 'The signed bytes are recorded before they are sent, all under one nonce. Another nonce needs proof that the first attempt can never arrive.',
    kept: ['src/workers/payouts/sign.ts', 'domain/transfer/record.ts', 'domain/signing/signature.ts'],
    command: 'npm run audit',
  },
  paidToOrder: {
    says: 'A transfer that arrives has the receiver, token and amount of its order.',
    how: 'The stream refuses an attempt that differs from its order. Success is the amount in the receipt.',
    kept: ['domain/transfer/record.ts', 'src/chains/evm/payouts/fate.ts'],
    command: 'npm run audit',
  },
  paidFor: {
    says: 'The service pays out no more for a payment than its payins, as nodes return them.',
    how: 'Payins, decimals, amount and receiver follow from terms, catalogue and chains. A separate signer counts each payin once.',
    kept: ['domain/payment/backing.ts', 'src/signer/backing.ts', 'domain/signing/moneyUse.ts'],
    command: 'npm run audit',
  },
  nonceOnce: {
    says: 'Each nonce of an account belongs to one transfer.',
    how: 'The service assigns nonces by appends to the account’s stream at an exact revision.',
    kept: ['domain/treasury/nonces.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  deadIsProven: {
    says: 'Only the chain’s proof makes a transfer failed, never a timeout or an error.',
    how: 'Every node that answers must return that another transaction used the nonce, at the deepest finality.',
    kept: ['src/chains/node/agreement.ts', 'src/workers/payouts/fate.ts'],
    command: 'npm run audit',
  },
  everyPayinKept: {
    says: 'Every final transfer to a disclosed address is recorded once: counted, held, or unmatched.',
    how: 'A cursor moves only past recorded blocks and never ahead of the address index. A transfer is identified by chain, transaction and index.',
    kept: ['src/workers/payins/payins.ts', 'src/workers/payins/range.ts', 'domain/payment/payins.ts'],
    command: 'npm run audit',
  },
  creditedWhenFinal: {
    says: 'Money counts only when it cannot leave its chain and enough nodes agree.',
    how: 'The final passes confirm each transfer with several nodes. The service follows forks block by block.',
    kept: ['src/workers/payins/confirmation.ts', 'src/chains/node/agreement.ts', 'src/chains/evm/payins/scanner.ts'],
    command: 'npm run audit',
  },
  splitAddsUp: {
    says: 'received = payout + fee + excess + dust, to the last unit, and the fee is the agreed one.',
    how: 'All amounts are integers. An indivisible rest is dust, and the service asserts the sum before it records it.',
    kept: ['domain/payment/close.ts', 'domain/payment/fees.ts', 'domain/money.ts'],
    command: 'npm run audit',
  },
  relayedOnce: {
    says: 'A payer’s authorization is sent for one payment, to its deposit, for the amount that is due; a bill has one under way.',
    how: 'terms decide, not what is sent; the streams number a payment’s relays; the relay key signs authorizations to our deposits alone; payins decide what is paid',
    kept: [
      'commands/relays.ts',
      'domain/relay/result.ts',
      'src/chains/evm/signer/signer.ts',
      'src/chains/stellar/signer/relaySigner.ts',
    ],
    command: 'npm run audit',
  },
  onePress: {
    says: 'One press in a wallet asks for one transfer of the due amount to the payment’s deposit, on its chain. No word of a wallet counts as a payment.',
    how: 'The page locks the list, checks the chain again before it sends, and keeps the sent transaction. Names and icons are texts and small pictures.',
    kept: ['web/client/wallets.js', 'web/client/evmWallet.js', 'src/api/preparedPayments.ts'],
    command: 'npm run audit',
  },
  refundsWithinHeld: {
    says: 'Refunds of a payment never exceed its held money.',
    how: 'The stream that orders a refund counts the held money and all earlier orders.',
    kept: ['domain/payment/refundOrder.ts'],
    command: 'npm run audit',
  },
  floatReserved: {
    says: 'No transfer is signed for money that is promised to another one, nor beyond the hourly limits.',
    how: 'Signed transactions that are not mined count as spent. A signature counts for its hour, whatever becomes of it.',
    kept: ['src/chains/money/spending.ts', 'domain/treasury/nonces.ts'],
    command: 'npm run treasury -- books',
  },
  moneyInTransit: {
    says: 'Money that a rebalance burns on one chain is minted for the treasury on another chain, less a bounded fee.',
    how: 'The key signs burns for its own account alone, and mints whose message names such a burn. Burned is minted, fee and in transit.',
    kept: ['src/chains/evm/signer/signer.ts', 'domain/rebalance/rebalance.ts', 'domain/rebalance/burnMessage.ts'],
    command: 'npm run audit',
  },
  twoPeople: {
    says: 'A withdrawal above the limit leaves only after a second operator has approved it.',
    how: 'The operation’s stream counts the approvals and refuses a signature before them.',
    kept: ['domain/treasury/operation.ts'],
    command: 'npm run treasury -- operations',
  },
  onePost: {
    says: 'One event of a payment causes at most one automatic POST, whatever crashes.',
    how: 'Only the process that appends the start of a delivery may send it. The delivery’s id follows from the event.',
    kept: ['domain/webhook.ts', 'commands/sendWebhook.ts'],
    command: 'npm run audit',
  },
  oneOrder: {
    says: 'Equal requests get the same payment, also at the same moment. Without a key, a different request gets a different payment.',
    how: 'The stream’s id is derived from the order, without a key also from its terms and texts. The first append expects no stream.',
    kept: ['commands/paymentId.ts', 'commands/createPayment.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  decidedOnce: {
    says: 'The store refuses one of two concurrent decisions, and the refused command decides again.',
    how: 'Every append expects an exact revision, and every event has a random id.',
    kept: ['src/store/append.ts', 'commands/codec.ts', 'commands/handle.ts'],
    command: 'npm run audit',
  },
  logIsOurs: {
    says: 'The service decides nothing on an event that it did not write, or that was moved.',
    how: 'Each event names its predecessor’s hash and carries a seal over its own hash. Each read checks both.',
    kept: ['src/store/sealed.ts', 'commands/codec.ts'],
    command: 'npm run audit',
  },
  fraudFound: {
    says: 'The audit finds a false event, and a movement without an event, within a day and to the unit.',
    how: 'The audit recomputes every stream with its own arithmetic and queries each transaction from its chain. Only a completed audit counts.',
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
    how: 'Rows and checkpoint commit in one transaction.',
    kept: ['projections/commit.ts'],
    command: 'npm run rebuild',
  },
  strangersBounded: {
    says: 'No request of a stranger, and no query of an analyst, costs more than its limit or stops the work of others.',
    how: 'Headers, hashes, places and mails have limits of their own. The database ends analysts’ sessions that hold others up.',
    kept: ['src/api/accept.ts', 'src/accounts/passcodes.ts', 'src/postgres/analytics.ts'],
    command: 'npm run doctor',
  },
} as const satisfies Readonly<Record<string, Invariant>>;
