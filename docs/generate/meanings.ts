import type { Category, streams } from '../../domain/streams.ts';

export const about: Readonly<Record<Category, { readonly name: string; readonly about: string }>> = {
  payment: {
    name: 'payment-<paymentId>',
    about: 'One payment: its terms, the money that came in, the payout, refunds. What is public is derived from these.',
  },
  treasury: {
    name: 'treasury-<chainId>-<account>',
    about:
      'One paying account on one chain. Nonces are handed out here, so that two signers can never use the same one.',
  },
  payoutBatch: {
    name: 'payoutBatch-<chainId>-<account>-<number>',
    about:
      'Payouts that are made in one transaction. What is signed for it and what became of it is decided here and copied to the streams of its payments.',
  },
  operation: {
    name: 'operation-<id>',
    about:
      'One thing that is done with the treasury’s money besides paying out: a withdrawal, a rebalance, a collection of deposits, a deployment, an anchor of a head.',
  },
  rebalance: {
    name: 'rebalance-<id>',
    about:
      'One move of the treasury’s money from one chain to another by Circle’s protocol: the burn, its attestation, the mint.',
  },
  books: {
    name: 'books-<chainId>-<account>',
    about:
      'The books of one account on one chain: what it held once, what came in from outside, and when recorded transfers made up what it holds.',
  },
  addressBook: {
    name: 'addressBook-treasury',
    about: 'Where the treasury’s money may be withdrawn to. There is one such stream.',
  },
  allowance: {
    name: 'allowance-treasury',
    about:
      'What withdrawals have taken of what may leave on one operator’s word within a day. There is one such stream.',
  },
  merchant: {
    name: 'merchant-<appId>',
    about:
      'One app that takes payments: whose it is, settings, API keys. Who stands behind a `developerId`, and what a profile says, is in Postgres alone and can be removed there.',
  },
  webhook: {
    name: 'webhook-<deliveryId>',
    about: 'One webhook delivery: at most one POST, claimed before it is made. A redelivery is a delivery of its own.',
  },
  unmatched: {
    name: 'unmatched-<transferId>',
    about:
      'One transfer to an address that payments share, without the memo of any payment. An operator decides about it, once.',
  },
  webhookTypes: {
    name: 'webhookTypes-introduced',
    about: 'Where each type of webhook begins that came after the first release. There is one such stream.',
  },
  sealing: {
    name: 'sealing-begun',
    about: 'Where seals begin in this log, and where their key changed. There is one such stream.',
  },
  heads: {
    name: 'heads-log',
    about:
      'What all streams looked like up to a position of the log, as one signed root; each entry names the hash of the one before. There is one such stream.',
  },
  credit: {
    name: 'credit-<address>',
    about:
      'What a buyer has earned by paying, and spends at merchants, in US cents. Each event says how the account stands after it.',
  },
  cashback: {
    name: 'cashback-<appId>',
    about:
      'What buyers have paid a merchant out of their credit, in US cents: every CreditSpent for it, in the order of the log; and what he withdraws.',
  },
  link: {
    name: 'link-<linkId>',
    about:
      'One reusable payment link. The id is derived from the app’s secret salt. Payments that were made with it name it in their metadata.',
  },
  signature: {
    name: 'signature-<reference>',
    about:
      'In the log of a signer of its own: what it has signed for one transfer, noted before the signature leaves it.',
  },
  fundingUse: {
    name: 'fundingUse-<transferId>',
    about:
      'Which payment an incoming transfer has paid for. It pays for no other. In the log of a separate signer, each transfer; in the service’s log, each transfer whose deposit is not derived from the payment’s id, if the service holds the keys.',
  },
  moneyUse: {
    name: 'moneyUse-<paymentId>',
    about:
      'In the log of a signer of its own: what it has signed of the money of one payment. Payout and refunds together take no more than came.',
  },
  signingHour: {
    name: 'signingHour-<minute>',
    about:
      'In the log of a signer of its own: what it signed in one minute of the clock, for its limits of an hour after a restart. Older streams hold an hour each.',
  },
};

/** Complete by type: an event without a line here, or a line without an event, does not compile. */
export const meanings: {
  readonly [C in Category]: { readonly [T in keyof (typeof streams)[C]['schemas']]: string };
} = {
  payment: {
    PaymentCreated: 'All terms are fixed: parties, route, amounts, fee policy, deposit, webhook URL, expiry',
    SourceChosen: 'The payer chose what to pay from; the deposit of that chain’s family is disclosed with it',
    PayinRegistered: 'A transaction was announced through the API: a hint that starts a look-up, never proof',
    RegisteredPayinEmpty:
      'The registered transaction succeeded and transfers no accepted token to the payment; a payin of it that is found later counts all the same',
    PayinDetected: 'A transfer to the deposit was seen on its chain, not yet final',
    PayinOrphaned: 'The block that held a transfer left the chain',
    PayinLost: 'A transfer left the chain after the payment was funded with it: a loss for the operator',
    PayinConfirmed: 'A transfer to the deposit is final',
    PaymentFunded:
      'Decision, with its inputs: what was received and how it divides; received = payout + fee + excess + dust',
    PolicyApplied:
      'Decision, with its inputs: what the app’s policy says of money that is not what was agreed; what follows from it stands in the events around it',
    PayoutRequested: 'The receiver is to get this amount from the treasury',
    PayoutBatched: 'The payout is made with others: nothing is signed for it by itself until their batch lets it go',
    PayoutReleased: 'Nothing of its batch can pay it any more: it is paid by itself',
    PayoutSigned: 'A signed transaction, recorded before it is ever broadcast; only these bytes are sent',
    PayoutDied: 'An attempt can provably never land: only now may another be signed with another nonce',
    PayoutOrphaned: 'A settled payout left its chain: the process goes on from its recorded bytes',
    PayoutConfirmed: 'The payout is final on its chain',
    PayoutShort:
      'The payout is on its chain for good, and less than was ordered reached the receiver: nothing more is signed until an operator decides',
    PayoutAccepted: 'An operator found that the receiver has it all the same: the payout counts as settled',
    PayoutHeld: 'An operator put the payout on hold: nothing more is signed for it',
    PayoutRetried:
      'An operator has the payout tried again: his hold ends, as many attempts again are allowed, or one that brought nothing counts as dead',
    PaymentExpired: 'Not funded in time, by the source chain’s clock',
    PaymentBounced: 'Money came and cannot be paid out; it is held for refund',
    RefundAddressSet: 'Where a payer’s money goes back to, with what proves that it is his word',
    RefundRequested: 'Money is to go back from the treasury, less what sending it costs',
    RefundSigned: 'A signed refund, recorded before it is broadcast',
    RefundDied: 'A refund attempt can provably never land',
    RefundOrphaned: 'A settled refund left its chain: the process goes on from its recorded bytes',
    RefundShort:
      'The refund is on its chain for good, and less than was ordered reached the receiver: nothing more is signed until an operator decides',
    RefundAccepted: 'An operator found that the receiver has it all the same: the refund counts as settled',
    RefundRetried: 'An operator lets the refund go on: after a hundred attempts, or one that brought nothing',
    RefundCalledOff: 'An operator found that the refund cannot be sent: what it took is held again',
    RefundConfirmed: 'The refund is final on its chain',
  },
  treasury: {
    TreasuryOpened: 'The account’s history here begins, at the nonce that its chain had mined up to',
    NonceAssigned: 'A purpose got the next nonce; a restart finds it again by the purpose',
    NonceCancelled:
      'A transaction that does nothing but use the nonce up, because its purpose cannot; recorded before it is broadcast. Each further one outbids the last',
    NonceUsedUp: 'The cancelled nonce is used up for good, by a transaction that is recorded',
    NonceTaken: 'A transaction that is recorded nowhere has used the nonce up: the account signs nothing any more',
    NoncesExplained: 'An operator has found out what used the nonces below: the account signs again',
    OutflowSeen:
      'A transaction that nothing here records took money from the account, which signs nothing until it is adopted',
    TransactionAdopted: 'An operator says what a transaction was that nothing here records',
    SweepSigned: 'A signed collection of deposits into the treasury, recorded before it is broadcast',
    SweepConfirmed: 'The collection is final on its chain',
    PayoutsPaused:
      'Nothing is signed until payouts are resumed, no fee bump and no cancel either; what is recorded is still sent',
    PayoutsResumed: 'Payouts are signed again',
    TreasuryNetworkClosed:
      'The chain’s network began anew: nonces recorded before belong to the old network, and the next transfer opens a new history',
  },
  payoutBatch: {
    BatchOpened: 'These payouts are to be made in one transaction, as far as their payments agree',
    BatchGathered: 'Whose payments have recorded that they are in it: they alone are paid by it',
    BatchSigned: 'A signed transaction; the payments’ streams get the same bytes before they are sent',
    BatchDied: 'An attempt can never land, with the proof: so for all its payments',
    BatchOrphaned: 'The block of a settled attempt left its chain, for all its payments: its bytes are sent again',
    BatchConfirmed: 'It is on its chain for good, and every receiver got all',
    BatchShort: 'It is on its chain for good, and this is what each receiver got; nothing more is sent',
    BatchDissolved: 'Nothing of it can land: its payouts are made by themselves',
    BatchTold: 'The payments’ streams have so many of its changes',
  },
  operation: {
    OperationOrdered: 'An operator, or the service by its settings, wants this done; all that is needed to do it',
    OperationApproved: 'Another operator agrees to one that is above the limit',
    OperationCalledOff: 'It is not done: nothing that was signed for it can land',
    OperationSigned: 'A signed transaction, recorded before it is broadcast',
    OperationDied: 'An attempt can never land, with the proof',
    OperationOrphaned: 'The block of a settled attempt left its chain: its bytes are sent again',
    OperationConfirmed: 'It is on its chain for good',
    OperationShort: 'It is on its chain for good, and less than was ordered arrived; nothing more is sent',
    RebalanceArrived: 'The money of a rebalance has come to the other account, in this transaction',
  },
  rebalance: {
    RebalanceOrdered: 'An operator or the policy wants this moved; the route, the fee limit, and what the policy saw',
    RebalanceApproved: 'Another operator agrees to it',
    RebalanceCalledOff: 'It is not done: no burn that was signed for it can land',
    BurnSigned: 'A signed burn, recorded before it is broadcast',
    BurnDied: 'A burn can never land, with the proof',
    BurnOrphaned: 'The block of a settled burn left its chain: its bytes are sent again',
    BurnConfirmed: 'The money is burned for good: it is in transit from then on',
    BurnShort: 'The burn landed and destroyed less than was ordered; an operator must check it',
    BurnAttested: 'The attestation service signed the message of our burn, so the destination chain will mint for it',
    AttestationExpired: 'The destination chain refuses the message from now on: another attestation is requested',
    MintSigned: 'A signed mint, recorded before it is broadcast',
    MintDied: 'A mint can never land, with the proof',
    MintOrphaned: 'The block of a settled mint left its chain: its bytes are sent again',
    MintConfirmed: 'The money is in our account on the other chain for good; the rest of the burn was the fee',
    MintShort: 'The mint landed and less arrived than the message states; the rest stays in transit',
    MintedByOther: 'Somebody else submitted the message: the money is in our account all the same',
    MintByOtherOrphaned: 'The block of that transaction left its chain: the money is in transit again',
  },
  books: {
    BooksOpened: 'What the account held at the end of a final block: the books begin there',
    TopUpSeen: 'Money came in that belongs to no payment and no transfer of ours',
    BooksFoundOpen: 'What the account holds is not what the books say, for a while now',
    DifferenceExplained: 'An operator knows what the difference is, and it counts from then on',
    BooksClosed: 'Opening, receipts, transfers and costs make up what the account holds, to the last unit',
    BooksNetworkClosed:
      'The chain’s network began anew: movements recorded before belong to the old network, and the books open again on the new one',
  },
  addressBook: {
    AddressAdded: 'Money may be sent there, from a time on',
    AddressRemoved: 'Money may be sent there no more',
  },
  allowance: {
    AllowanceTaken: 'A withdrawal is about to be ordered on one operator’s word; what it is worth counts for a day',
    AllowanceReturned: 'The withdrawal was called off: it counts no more',
  },
  merchant: {
    MerchantRegistered: 'The app exists; payment ids of its orders are derived with its random salt',
    OwnerSet: 'Another person manages the app from now on',
    ProfileSet: 'What the app shows of itself changed; the digest is of the whole profile with a random salt in it',
    SettlementWalletSet: 'Where a merchant_ app is paid out to, from the next payment on',
    SettlementChangeRequested:
      'Its owner wants to be paid out elsewhere: so it is for payments created from `effectiveAt` on',
    SettlementChangeCancelled: 'The change was called off before its time: the wallet in force stays',
    WebhookUrlSet: 'Where webhooks of payments created from now on go; null stops them',
    WebhookSecretRotated: 'A new webhook secret, encrypted; the old one stops at once',
    WebhookSecretResealed: 'The same webhook secret, encrypted under a new master key; webhooks are signed as before',
    EmbeddingSitesSet: 'Which sites may show the app’s payment pages in a frame, all of them; an empty list is none',
    KeylessCreationSet: 'Whether payments of a wallet_ app may be created without a key',
    PolicySet: 'What happens with money that is not what was agreed: it pays, is held, or goes back',
    FeesSet: 'The operator agreed fees of its own with the app, route by route; the whole list',
    PayFromSet: 'What payers of the app may choose to pay from, from the next payment on',
    ApiKeyIssued: 'An API key, known by its SHA-256 alone',
    ApiKeyRenamed: 'What people call the key',
    ApiKeyRevoked: 'The key stops',
  },
  webhook: {
    WebhookSendStarted:
      'This process claimed the delivery; without an outcome nobody knows whether the receiver got it',
    WebhookDelivered: 'The receiver answered 2xx',
    WebhookExhausted: 'Any other answer, or none; it is not sent again by itself',
  },
  unmatched: {
    UnmatchedPayinSeen:
      'The transfer is final, and its memo is no payment’s, or its payment takes up no more transfers',
    UnmatchedPayinAssigned: 'Decision: the money is that payment’s, whose stream records it as a payin next',
    UnmatchedPayinRefundRequested: 'Decision: the money goes back to this receiver, less what sending it costs',
    UnmatchedRefundSigned: 'A signed transaction, recorded before it is ever broadcast; only these bytes are sent',
    UnmatchedRefundDied: 'An attempt can provably never land: only now may another be signed with another nonce',
    UnmatchedRefundCalledOff: 'An operator gave it up, nothing of it can land: the money waits for another decision',
    UnmatchedRefundConfirmed: 'The money is back, final on its chain',
    UnmatchedRefundOrphaned: 'What was settled left its chain: the process goes on from its recorded bytes',
    UnmatchedRefundShort:
      'It is on its chain for good, and less than was ordered reached the receiver: nothing more is signed until an operator decides',
    UnmatchedRefundAccepted: 'An operator found that the receiver has it all the same: the refund counts as settled',
    UnmatchedRefundRetried: 'An operator lets the refund go on: after a hundred attempts, or one that brought nothing',
  },
  webhookTypes: {
    WebhookTypeIntroduced:
      'Webhooks of this type are due from this place in the log on; of what happened before it no app is told',
  },
  sealing: {
    SealingBegun: 'From this place in the log on, what has no seal of the service is not believed',
    SealingKeyChanged:
      'From the next event of the log on, only seals of the new key are believed; `formerKeys` is what still checks older ones, encrypted under the new master key',
    SealingKeyChangeFinished: 'Every secret is under the new master key: the service may start with it',
  },
  heads: {
    HeadSigned:
      'All streams of these categories looked like this up to that position; published, and never signed otherwise',
    HeadKeyChanged: 'From the next head on another key signs: the former one says so',
    HeadKeyLost: 'From the next head on another key signs, and nobody but the operator says so',
    HeadAnchored: 'A transaction whose memo is the hash of that head is on its chain for good',
  },
  credit: {
    CreditEarned: 'A completed payment brought its payer the share that it promised',
    CreditSpent: 'Decision: a signed message pays a merchant out of the buyer’s credit; the message is used up',
  },
  cashback: {
    CashbackReceived: 'A buyer’s CreditSpent arrived in the merchant’s account',
    CashbackWithdrawn: 'Decision: the merchant takes this much out; a payment to his settlement wallet follows',
    WithdrawalOrdered: 'The withdrawal’s payment exists: from here on it is a payment like any other',
    WithdrawalReturned: 'The withdrawal’s receiver can never be paid: the cents are in the account again',
  },
  link: {
    LinkCreated: 'What payments with the link are about; whoever opens it makes one of his own',
    LinkClosed: 'No further payment can be made with it; those that exist go on',
  },
  signature: {
    TransferSigned: 'These bytes were signed. A signature that could land besides takes proof that these cannot',
  },
  fundingUse: {
    FundingUsed: 'What came in pays for this payment',
  },
  moneyUse: {
    MoneyUsed: 'A transfer takes so much of what came in for the payment',
  },
  signingHour: {
    SpendingCounted: 'A signature moves so much, and costs so much coin at most',
  },
};
