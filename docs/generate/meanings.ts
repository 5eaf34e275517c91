import type { Category, streams } from '../../domain/streams.ts';

export const about: Readonly<Record<Category, { readonly name: string; readonly about: string }>> = {
  payment: {
    name: 'payment-<paymentId>',
    about: 'One payment: its terms, payins, payout and refunds. The public status is computed from these events.',
  },
  treasury: {
    name: 'treasury-<chainId>-<account>',
    about: 'One paying account on one chain. The stream assigns nonces, so two signers can never use the same nonce.',
  },
  payoutBatch: {
    name: 'payoutBatch-<chainId>-<account>-<number>',
    about:
      'Payouts in one transaction. The stream decides the transaction’s signature and result, and they are copied to the streams of its payments.',
  },
  operation: {
    name: 'operation-<id>',
    about:
      'One operation of the treasury besides payouts: a withdrawal, a rebalance, a sweep of deposits, a deployment, or an anchor of a log head.',
  },
  rebalance: {
    name: 'rebalance-<id>',
    about:
      'One move of the treasury’s money from one chain to another: of USDC by Circle’s protocol (the burn, its attestation, the mint), of USDT by USDT0.',
  },
  floatPlan: {
    name: 'floatPlan-<token>',
    about:
      'The moves that the policy of floats has decided: its daily cap, its cool-down and one move per destination are enforced here. USDC and USDT have a stream each.',
  },
  books: {
    name: 'books-<chainId>-<account>',
    about:
      'The books of one account on one chain: its opening balance, receipts from outside, and the times when recorded transfers explained its balance.',
  },
  addressBook: {
    name: 'addressBook-treasury',
    about: 'The addresses that can receive withdrawals of the treasury. There is one such stream.',
  },
  allowance: {
    name: 'allowance-treasury',
    about: 'The used part of the daily sum that one operator can withdraw alone. There is one such stream.',
  },
  merchant: {
    name: 'merchant-<appId>',
    about:
      'One app: its owner, settings and API keys. The person of a `developerId` and the texts of a profile are only in Postgres and can be deleted there.',
  },
  relay: {
    name: 'relay-<paymentId>-<number>',
    about:
      'A payer’s signed authorization that the relay account sends to the token: the payer’s money goes to the payment’s deposit, and the operator pays the gas. The payin alone funds the payment.',
  },
  relayGas: {
    name: 'relayGas-<hour>',
    about: 'Gas limit of the relays in one hour of the clock: each takes its share before it is ordered.',
  },
  webhook: {
    name: 'webhook-<deliveryId>',
    about: 'One webhook delivery: at most one POST, claimed before it is sent. A redelivery is a separate delivery.',
  },
  unmatched: {
    name: 'unmatched-<transferId>',
    about:
      'One transfer to a shared address without the memo of a payment. An operator decides about the transfer once.',
  },
  webhookTypes: {
    name: 'webhookTypes-introduced',
    about: 'The position in the log from which each later type of webhook is sent. There is one such stream.',
  },
  sealing: {
    name: 'sealing-begun',
    about: 'The positions in the log where seals begin and where their key changed. There is one such stream.',
  },
  heads: {
    name: 'heads-log',
    about:
      'Signed log heads: each is a signed root over all streams up to a position of the log, with the hash of the previous head. There is one such stream.',
  },
  credit: {
    name: 'credit-<address>',
    about: 'One buyer’s cashback credit, earned and spent, in US cents. Each event has the balance after it.',
  },
  cashback: {
    name: 'cashback-<appId>',
    about:
      'One merchant’s payments from buyers’ credit, in US cents: every CreditSpent for the merchant in the order of the log, and the merchant’s withdrawals.',
  },
  link: {
    name: 'link-<linkId>',
    about:
      'One reusable payment link. The id is derived from the app’s secret salt. Payments of the link have its id in their metadata.',
  },
  signature: {
    name: 'signature-<reference>',
    about: 'In the log of a separate signer: the signatures for one transfer, each recorded before it is returned.',
  },
  fundingUse: {
    name: 'fundingUse-<transferId>',
    about:
      'The one payment that an incoming transfer has paid for. A separate signer records each transfer. A service with keys records each transfer whose deposit is not derived from the payment’s id.',
  },
  moneyUse: {
    name: 'moneyUse-<paymentId>',
    about:
      'In the log of a separate signer: the signed amounts of one payment. Payout and refunds together never exceed its payins.',
  },
  signingHour: {
    name: 'signingHour-<minute>',
    about:
      'In the log of a separate signer: the amounts signed in one minute, so that hourly limits hold after a restart. Older streams cover one hour each.',
  },
};

/** Complete by type: an event without a line here, or a line without an event, does not compile. */
export const meanings: {
  readonly [C in Category]: { readonly [T in keyof (typeof streams)[C]['schemas']]: string };
} = {
  payment: {
    PaymentCreated: 'All terms are fixed: parties, route, amounts, fee policy, deposit, webhook URL, expiry',
    SourceChosen: 'The payer chose a source; the deposit of that chain’s family is disclosed with it',
    PayinRegistered: 'A transaction was announced over the API: a hint that starts a check, never proof',
    RegisteredPayinEmpty:
      'The registered transaction succeeded and transfers no accepted token to the payment; a payin that is found in it later still counts',
    PayinDetected: 'A transfer to the deposit was detected on its chain and is not final yet',
    PayinOrphaned: 'The block with the transfer was reorganised out of the chain',
    PayinLost: 'A transfer was reorganised out after it funded the payment: a loss for the operator',
    PayinConfirmed: 'A transfer to the deposit is final',
    PaymentFunded:
      'Decision with its inputs: the received amount and its parts; received = payout + fee + excess + dust',
    PolicyApplied:
      'Decision with its inputs: the verdict of the app’s policy on money that differs from the agreed amount or token; the events around it have the effects',
    PayoutRequested: 'The treasury owes this amount to the receiver',
    PayoutBatched: 'The payout is in a batch: it is not signed alone until the batch releases it',
    PayoutReleased: 'Its batch can no longer pay it: the payout is signed alone',
    PayoutSigned: 'A signed transaction, recorded before it is broadcast; only these bytes are sent',
    PayoutDied: 'Proof that an attempt can never land: only now can another one be signed with another nonce',
    PayoutOrphaned: 'A settled payout was reorganised out: the recorded bytes are sent again',
    PayoutConfirmed: 'The payout is final on its chain',
    PayoutShort:
      'The payout is final, and the receiver got less than the ordered amount: nothing more is signed until an operator decides',
    PayoutAccepted: 'An operator accepted the smaller amount: the payout counts as settled',
    PayoutHeld: 'An operator put the payout on hold: nothing more is signed for the payout',
    PayoutRetried:
      'An operator retries the payout: a hold ends, further attempts are allowed, or an attempt that moved no money counts as dead',
    PaymentCancelled: 'The app ended the time to pay early; money in a block by then still counts',
    PaymentAnnotated: 'The app’s people wrote a note or tags on the payment. Payers do not see them',
    PaymentExpired: 'Not funded in time, by the source chain’s clock',
    PaymentBounced: 'Money arrived and cannot be paid out; it is held for a refund',
    RefundAddressSet: 'The payer’s refund address, with the proof that the payer stated it',
    RefundAddressConfirmed:
      'A person of the app confirmed a refund address for a sender; refunds may go there after a delay',
    RefundAddressWithdrawn: 'A person of the app withdrew a confirmed refund address',
    FundedRefundOrdered:
      'The app refunds money that was paid out: a payment of its own funds the refund and pays the payer',
    FundedRefundEnded: 'The funding payment has paid the payer, or has ended without a payout',
    RefundRequested: 'The treasury owes this refund, less the network cost',
    RefundSigned: 'A signed refund, recorded before it is broadcast',
    RefundDied: 'Proof that a refund attempt can never land',
    RefundOrphaned: 'A settled refund was reorganised out: the recorded bytes are sent again',
    RefundShort:
      'The refund is final, and the receiver got less than the ordered amount: nothing more is signed until an operator decides',
    RefundAccepted: 'An operator accepted the smaller amount: the refund counts as settled',
    RefundRetried: 'An operator retries the refund: after 100 attempts, or after an attempt that moved no money',
    RefundCalledOff: 'An operator gave up the refund because it cannot be sent: its money is held again',
    RefundConfirmed: 'The refund is final on its chain',
  },
  treasury: {
    TreasuryOpened: 'The account’s history begins, at the number of nonces that its chain had mined',
    NonceAssigned: 'A transfer got the next nonce; after a restart the transfer finds the same nonce',
    NonceCancelled:
      'A transaction that only uses up the nonce, because its transfer cannot be sent; recorded before it is broadcast. Each further one outbids the last',
    NonceUsedUp: 'The cancelled nonce is finally used up by a recorded transaction',
    NonceTaken: 'An unrecorded transaction has used the nonce: the account signs nothing more',
    NoncesExplained: 'An operator explained the nonces up to this one: the account signs again',
    OutflowSeen:
      'An unrecorded transaction took money from the account, which signs nothing until the transaction is adopted',
    TransactionAdopted: 'An operator stated the purpose of an unrecorded transaction',
    SweepSigned: 'A signed sweep of deposits into the treasury, recorded before it is broadcast',
    SweepConfirmed: 'The sweep is final on its chain',
    PayoutsPaused:
      'Nothing is signed until payouts are resumed, fee bumps and cancels included; recorded transactions are still sent',
    PayoutsResumed: 'Payouts are signed again',
    TreasuryNetworkClosed:
      'The chain’s network was reset: earlier nonces belong to the old network, and the next transfer opens a new history',
  },
  payoutBatch: {
    BatchOpened: 'These payouts share one transaction if their payments’ streams accept it',
    BatchGathered: 'The payments that have recorded their membership: the batch pays only these',
    BatchSigned: 'A signed transaction; the payments’ streams get the same bytes before they are sent',
    BatchDied: 'Proof that an attempt can never land, for all its payments',
    BatchOrphaned: 'A settled attempt was reorganised out, for all its payments: its bytes are sent again',
    BatchConfirmed: 'The transaction is final, and every receiver got the full amount',
    BatchShort: 'The transaction is final, with the amount that each receiver got; nothing more is sent',
    BatchDissolved: 'The batch can never land: its payouts are signed alone',
    BatchTold: 'The number of its changes that are copied to the payments’ streams',
  },
  operation: {
    OperationOrdered: 'An operator, or a setting of the service, ordered the operation; the event has all its terms',
    OperationApproved: 'Another operator approved an operation above the limit',
    OperationCalledOff: 'The operation is cancelled: nothing that was signed for it can land',
    OperationSigned: 'A signed transaction, recorded before it is broadcast',
    OperationDied: 'Proof that an attempt can never land',
    OperationOrphaned: 'A settled attempt was reorganised out: its bytes are sent again',
    OperationConfirmed: 'The transaction is final',
    OperationShort: 'The transaction is final, and less than the ordered amount arrived; nothing more is sent',
    RebalanceArrived: 'The money of a rebalance arrived at the other account, in this transaction',
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
  floatPlan: {
    MovePlanned: 'The policy decided a move between floats; its stream gets the same order next',
    PlannedMoveEnded: 'The planned move has arrived, or it was called off before its burn or send',
  },
  books: {
    BooksOpened: 'The balance of the account at the end of a final block: the books begin here',
    TopUpSeen: 'Money arrived that belongs to no payment and no transfer of ours',
    BooksFoundOpen: 'The balance of the account has differed from the books for some time',
    DifferenceExplained: 'An operator explained the difference, and it counts from now on',
    BooksClosed: 'Opening, receipts, transfers and costs equal the account’s balance, to the last unit',
    BooksNetworkClosed:
      'The chain’s network was reset: earlier movements belong to the old network, and the books open again on the new one',
  },
  addressBook: {
    AddressAdded: 'The address can receive withdrawals from a stated time',
    AddressRemoved: 'The address can receive no more withdrawals',
  },
  allowance: {
    AllowanceTaken: 'One operator is about to order a withdrawal alone; its value counts for one day',
    AllowanceReturned: 'The withdrawal was cancelled: its value counts no more',
  },
  merchant: {
    MerchantRegistered: 'The app exists; payment ids of its orders are derived with its random salt',
    OwnerSet: 'Another person manages the app from now on',
    ProfileSet: 'The app’s profile changed; the digest covers the whole profile and a random salt',
    SettlementWalletSet: 'The settlement wallet of a merchant_ app, from the next payment on',
    SettlementChangeRequested: 'The owner changed the settlement wallet, for payments created from `effectiveAt` on',
    SettlementChangeCancelled: 'The change was cancelled before it took effect: the current wallet stays',
    WebhookUrlSet: 'The webhook URL of payments created from now on; null stops webhooks',
    WebhookTypesSet: 'The webhook types that the app gets besides the first two, for payments created from now on',
    WebhookSecretRotated: 'A new webhook secret, encrypted; the old one stops at once',
    WebhookSecretResealed: 'The same webhook secret, encrypted under a new master key; webhooks are signed as before',
    WebhookEndpointAdded: 'Another endpoint, with its own types and encrypted secret, for payments created from now on',
    WebhookEndpointTypesSet: 'The only types that the endpoint gets, for payments created from now on',
    WebhookEndpointSecretRotated: 'A new secret of the endpoint, encrypted; the old one stops at once',
    WebhookEndpointSecretResealed: 'The same secret of the endpoint, encrypted under a new master key',
    WebhookEndpointRemoved: 'The endpoint gets nothing more, also of existing payments',
    EmbeddingSitesSet: 'All sites that can frame the app’s payment pages; empty: none',
    KeylessCreationSet: 'Whether payments of a wallet_ app can be created without a key',
    PolicySet: 'The policy for money that differs from the agreed amount or token: accept, hold or refund',
    FeesSet: 'The app’s own fees per route; the whole list',
    PayFromSet: 'The sources that payers of the app can choose, from the next payment on',
    ApiKeyIssued: 'An API key; only its SHA-256 is stored',
    ApiKeyRenamed: 'The new name of the key',
    ApiKeyRevoked: 'The key is no longer accepted',
    MemberInvited: 'The person can join the app’s team with this role until `expiresAt`',
    InvitationEnded: 'The owner cancelled the invitation, or the invited person declined it',
    MemberJoined: 'The person acts for the app with this role from now on',
    MemberRoleSet: 'The member has another role from now on',
    MemberRemoved: 'The person no longer acts for the app',
    NotificationsSet: 'The kinds of notifications that the person gets of this app, by mail and in the dashboard',
  },
  relay: {
    RelayOrdered: 'A payer’s authorization was checked and accepted. The worker sends it to the token',
    RelaySigned: 'A signed transaction with the authorization, recorded before it is broadcast',
    RelayAccountOpened:
      'The relay account opened the deposit’s token account on Solana. The payer’s transaction is signed next',
    RelayDied: 'A transaction of the relay can provably never land, or was reverted',
    RelayOrphaned: 'A landed relay left its chain: the service continues with the recorded bytes',
    RelayConfirmed: 'The relay is final on its chain: the payer’s money is at the deposit',
    RelayShort: 'The relay is final, and less than was authorized reached the deposit',
    RelayEnded: 'The relay ended, with the reason: no signed transaction of it can land any more',
  },
  relayGas: {
    RelayGasReserved: 'A relay took its share of the hour’s gas limits: in all, of its app and of its payer',
  },
  webhook: {
    WebhookSendStarted:
      'A process claimed the delivery; without a result, it is unknown whether the receiver got the webhook',
    WebhookDelivered: 'The receiver answered 2xx',
    WebhookExhausted: 'Any other answer, or none; the webhook is not retried automatically',
  },
  unmatched: {
    UnmatchedPayinSeen: 'The transfer is final, and no payment has its memo, or its payment accepts no more transfers',
    UnmatchedPayinAssigned: 'Decision: the money belongs to a payment, whose stream records it as a payin next',
    UnmatchedPayinRefundRequested: 'Decision: the money is refunded to this receiver, less the network cost',
    UnmatchedRefundSigned: 'A signed transaction, recorded before it is broadcast; only these bytes are sent',
    UnmatchedRefundDied: 'Proof that an attempt can never land: only now can another one be signed with another nonce',
    UnmatchedRefundCalledOff:
      'An operator gave up the refund, and nothing of it can land: the money waits for another decision',
    UnmatchedRefundConfirmed: 'The refund is final on its chain',
    UnmatchedRefundOrphaned: 'A settled refund was reorganised out: the recorded bytes are sent again',
    UnmatchedRefundShort:
      'The refund is final, and the receiver got less than the ordered amount: nothing more is signed until an operator decides',
    UnmatchedRefundAccepted: 'An operator accepted the smaller amount: the refund counts as settled',
    UnmatchedRefundRetried:
      'An operator retries the refund: after 100 attempts, or after an attempt that moved no money',
  },
  webhookTypes: {
    WebhookTypeIntroduced:
      'Webhooks of this type are sent for events after this position in the log, not for earlier ones',
  },
  sealing: {
    SealingBegun: 'From this position in the log on, events without a seal of the service are ignored',
    SealingKeyChanged:
      'From the next event of the log on, only seals of the new key are valid; `formerKeys` verifies older ones, encrypted under the new master key',
    SealingKeyChangeFinished: 'Every secret is under the new master key: the service can start with it',
  },
  heads: {
    HeadSigned:
      'The signed root of all streams of these categories up to this position; published, and never signed differently',
    HeadKeyChanged: 'From the next log head on another key signs; the former key signed this change',
    HeadKeyLost: 'From the next log head on another key signs; only the operator states this change',
    HeadAnchored: 'A transaction with the hash of that log head as its memo is final',
  },
  credit: {
    CreditEarned: 'A completed payment credited its payer with the promised share',
    CreditSpent: 'Decision: a signed message pays a merchant from the buyer’s credit; the message cannot be used again',
  },
  cashback: {
    CashbackReceived: 'A buyer’s CreditSpent arrived in the merchant’s account',
    CashbackWithdrawn: 'Decision: the merchant withdraws this amount; a payment to the settlement wallet follows',
    WithdrawalOrdered: 'The withdrawal’s payment exists and continues like any other payment',
    WithdrawalReturned: 'The withdrawal’s receiver can never be paid: the cents are credited again',
  },
  link: {
    LinkCreated: 'The terms of payments with the link; each payer who opens the link starts their own payment',
    LinkClosed: 'The link creates no further payments; existing ones continue',
  },
  signature: {
    TransferSigned:
      'These bytes were signed. A further signature that could also land requires proof that these bytes cannot',
  },
  fundingUse: {
    FundingUsed: 'The transfer pays for this payment',
  },
  moneyUse: {
    MoneyUsed: 'An outgoing transfer uses this amount of the payment’s payins',
  },
  signingHour: {
    SpendingCounted: 'A signature moves this amount, and costs at most this amount of coin',
  },
};
