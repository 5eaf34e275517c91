-- Projection set "work": what the service itself needs to act. Filled from the event log only.

CREATE TABLE payments (
  payment_id                text        PRIMARY KEY,
  app_id                    text        NOT NULL,
  order_id                  text,
  status                    text        NOT NULL,
  error_code                text,
  error_message             text,
  type                      text        NOT NULL,
  intent                    text,
  keyless                   boolean     NOT NULL,
  title                     text,
  description               text,
  currency                  text,
  line_items                json,
  metadata                  json,
  webhook_url               text,
  created_at                timestamptz NOT NULL,
  updated_at                timestamptz NOT NULL,
  expires_at                timestamptz NOT NULL,
  source_chain_id           integer     NOT NULL,
  source_token_symbol       text        NOT NULL,
  source_token_address      text        NOT NULL,
  source_amount             numeric,
  source_fee                numeric,
  deposit_address           text        NOT NULL,
  deposit_memo              text,
  deposit_contract          text,
  deposit_contract_memo     text,
  sender_address            text,
  payin_tx_hash             text,
  amount_received           numeric,
  amount_expected           numeric,
  amount_came               numeric     NOT NULL,
  amount_delta              numeric,
  excess                    numeric,
  dust                      numeric,
  refunded                  numeric     NOT NULL,
  refunds                   json        NOT NULL,
  payin_seen_at             timestamptz,
  payin_confirmed_at        timestamptz,
  destination_chain_id      integer     NOT NULL,
  destination_token_symbol  text        NOT NULL,
  destination_token_address text        NOT NULL,
  destination_amount        numeric,
  receiver_address          text        NOT NULL,
  receiver_memo             text,
  pay_from                  json,
  payout_tx_hash            text,
  payout_confirmed_at       timestamptz,
  missing                   numeric,
  held                      json,
  cancelled_at              timestamptz,
  refund_of                 text,
  note                      text,
  tags                      json,
  revision                  bigint      NOT NULL
);
COMMENT ON TABLE payments IS 'Every payment after its last event: the fields of the public API. Amounts in whole tokens.';
COMMENT ON COLUMN payments.source_amount IS 'Amount that the customer pays, fee included; null for anyAmount until funding.';
COMMENT ON COLUMN payments.line_items IS 'Name, quantity and amount of each line of the order; null without a list.';
COMMENT ON COLUMN payments.pay_from IS 'All sources that the payer can choose, with amounts; null without a choice. source_… is the current choice.';
COMMENT ON COLUMN payments.refund_of IS 'For a payment that funds a refund: the payment that is refunded. It is no sale.';
COMMENT ON COLUMN payments.source_fee IS 'In the source token, part of source_amount.';
COMMENT ON COLUMN payments.amount_expected IS 'Agreed amount, fee included; null for any amount.';
COMMENT ON COLUMN payments.amount_came IS 'Everything that arrived in the source token on its chain, counted or not.';
COMMENT ON COLUMN payments.amount_delta IS 'amount_came less amount_expected: negative for too little.';
COMMENT ON COLUMN payments.amount_received IS 'Sum of the counted payins, detected or confirmed.';
COMMENT ON COLUMN payments.excess IS 'Amount above source_amount: held and refundable. In the source token; null until funding.';
COMMENT ON COLUMN payments.dust IS 'Amount that the destination token cannot express, in the source token; null until funding.';
COMMENT ON COLUMN payments.refunded IS 'Refunded amount, final on its chain, in whole tokens of any token.';
COMMENT ON COLUMN payments.refunds IS 'Each refund: amount, network cost, receiver, status, transaction.';
COMMENT ON COLUMN payments.payin_seen_at IS 'Time of the block that holds the first payin that counts.';
COMMENT ON COLUMN payments.payin_confirmed_at IS 'When the payment was funded.';
COMMENT ON COLUMN payments.destination_amount IS 'Amount that the receiver gets; null for anyAmount until funding.';
COMMENT ON COLUMN payments.keyless IS 'Created without an API key (quick start).';
COMMENT ON COLUMN payments.missing IS 'Amount still due of an open payment that received too little; null otherwise.';
COMMENT ON COLUMN payments.held IS 'Money that is refundable only and has no ordered refund: chain, token, amount. Null for none.';
COMMENT ON COLUMN payments.cancelled_at IS 'Time at which the app ended the time to pay early; expires_at is that end.';
COMMENT ON COLUMN payments.note IS 'Note of the app''s people. Payers do not see it.';
COMMENT ON COLUMN payments.tags IS 'Tags of the app''s people, in lower case; null for none.';
COMMENT ON COLUMN payments.revision IS 'Number of the last event of the stream payment-<payment_id> that is in this row.';

CREATE TABLE payins (
  transfer_id   text        NOT NULL,
  payment_id    text        NOT NULL,
  app_id        text        NOT NULL,
  chain_id      integer     NOT NULL,
  tx_hash       text        NOT NULL,
  index         bigint      NOT NULL,
  block_number  numeric(20) NOT NULL,
  block_hash    text        NOT NULL,
  block_time    timestamptz NOT NULL,
  token_symbol  text        NOT NULL,
  token_address text        NOT NULL,
  from_address  text        NOT NULL,
  to_address    text        NOT NULL,
  amount        numeric     NOT NULL,
  agreed_usd    bigint,
  phase         text        NOT NULL,
  standing      text        NOT NULL,
  PRIMARY KEY (payment_id, transfer_id)
);
COMMENT ON TABLE payins IS 'Transfers to deposit addresses, all of them: the agreed ones and those held.';
COMMENT ON COLUMN payins.transfer_id IS 'chain:transaction:index, the transfer''s identity.';
COMMENT ON COLUMN payins.index IS 'Number among the transaction''s logs.';
COMMENT ON COLUMN payins.agreed_usd IS 'Agreed amount in whole tokens, rounded up; it decides the required depth.';
COMMENT ON COLUMN payins.phase IS 'detected, confirmed (final), orphaned (its block left the chain) or lost (orphaned after funding).';
COMMENT ON COLUMN payins.standing IS 'counted towards the payment, or held: late, surplus, wrongToken, wrongChain, otherSender.';

CREATE TABLE deposits (
  address       text        NOT NULL,
  memo          text        NOT NULL,
  payment_id    text        NOT NULL,
  app_id        text        NOT NULL,
  chain_id      integer     NOT NULL,
  token_address text        NOT NULL,
  expires_at    timestamptz NOT NULL,
  agreed_usd    bigint,
  PRIMARY KEY (address, memo)
);
COMMENT ON TABLE deposits IS 'Deposit addresses of each payment. Permanent, so that late money is detected too.';
COMMENT ON COLUMN deposits.address IS 'EVM addresses in lower case, equal on every EVM chain.';
COMMENT ON COLUMN deposits.memo IS 'Empty if the address identifies the payment.';
COMMENT ON COLUMN deposits.chain_id IS 'Chain of the address; for an EVM address, the first chain that it was disclosed for.';
COMMENT ON COLUMN deposits.agreed_usd IS 'Agreed source amount in whole tokens, rounded up, of the most expensive source; null for any amount.';

CREATE TABLE unmatched (
  transfer_id    text        PRIMARY KEY,
  chain_id       integer     NOT NULL,
  tx_hash        text        NOT NULL,
  index          bigint      NOT NULL,
  block_number   numeric(20) NOT NULL,
  block_time     timestamptz NOT NULL,
  token_symbol   text        NOT NULL,
  token_address  text        NOT NULL,
  from_address   text        NOT NULL,
  to_address     text        NOT NULL,
  memo           text,
  amount         numeric     NOT NULL,
  beyond_payment text,
  seen_at        timestamptz NOT NULL,
  verdict        text        NOT NULL,
  decided_at     timestamptz,
  payment_id     text,
  app_id         text,
  refund_address text,
  refund_memo    text,
  refund_reason  text,
  refund_amount  numeric,
  refund_standing text,
  refund_tx_hash text
);
COMMENT ON TABLE unmatched IS 'Transfers that belong to no payment, and the decision about each.';
COMMENT ON COLUMN unmatched.transfer_id IS 'chain:transaction:index, the transfer''s identity.';
COMMENT ON COLUMN unmatched.memo IS 'Memo of the payer; null without one.';
COMMENT ON COLUMN unmatched.beyond_payment IS 'The payment that was paid but has recorded its maximum of transfers; null for money without a known memo.';
COMMENT ON COLUMN unmatched.refund_amount IS 'Refund less the network cost; null without a refund, or if an operator sent it by hand.';
COMMENT ON COLUMN unmatched.refund_standing IS 'ordered, signed, short (less arrived: an operator decides) or done.';
COMMENT ON COLUMN unmatched.refund_tx_hash IS 'Hash of the last transaction that was signed for the refund.';
COMMENT ON COLUMN unmatched.verdict IS 'open, assigned (to payment_id, whose payin it is) or refundRequested (to refund_address).';

CREATE TABLE todo_payments (
  payment_id text        NOT NULL,
  chain_id   integer     NOT NULL,
  due_at     timestamptz NOT NULL,
  PRIMARY KEY (payment_id, chain_id)
);
COMMENT ON TABLE todo_payments IS 'Payments that wait for money, with the end of the wait. A hint: workers read the stream before they act.';
COMMENT ON COLUMN todo_payments.chain_id IS 'Every chain that the payment can be paid on. The payment expires after each of them has passed its end.';

CREATE TABLE transfers (
  reference     text        PRIMARY KEY,
  kind          text        NOT NULL,
  chain_id      integer     NOT NULL,
  token_address text        NOT NULL,
  amount        numeric     NOT NULL,
  app_id        text        NOT NULL,
  step          text        NOT NULL,
  due_at        timestamptz NOT NULL,
  signed        boolean     NOT NULL,
  settled_at    timestamptz
);
COMMENT ON TABLE transfers IS 'Outgoing transfers of the treasury, with the next step of each. A hint: workers read the stream before they act.';
COMMENT ON COLUMN transfers.reference IS 'The payment''s id for a payout; <payment>/refund-<number>, unmatched-<transfer>, operation-<id>, batch-<id>, relay-<id>.';
COMMENT ON COLUMN transfers.kind IS 'Kind, as in the limits: payout, refund, withdrawal, sweep, deployment, anchor or relay; batch: several payouts in one transaction.';
COMMENT ON COLUMN transfers.token_address IS 'The contract; "coin" for the chain''s own.';
COMMENT ON COLUMN transfers.amount IS 'In whole tokens.';
COMMENT ON COLUMN transfers.app_id IS 'App whose limits the transfer uses; empty for the treasury''s own transfers.';
COMMENT ON COLUMN transfers.step IS 'order, sign, broadcast; tell: copy the decision of a batch to its members; batched: the batch pays it; hold: the payin was reorganised out, an operator holds it, or it moved too little; done.';
COMMENT ON COLUMN transfers.due_at IS 'Since when the step is due.';
COMMENT ON COLUMN transfers.signed IS 'Whether a transaction was ever signed for the transfer.';

CREATE TABLE todo_webhooks (
  delivery_id    text        PRIMARY KEY,
  payment_id     text        NOT NULL,
  app_id         text        NOT NULL,
  event_type     text        NOT NULL,
  event_id       text        NOT NULL,
  event_revision bigint      NOT NULL,
  url            text        NOT NULL,
  created_at     timestamptz NOT NULL,
  endpoint_id    text
);
COMMENT ON TABLE todo_webhooks IS 'Payment events whose webhook is not sent yet; the start of the attempt removes the row.';
COMMENT ON COLUMN todo_webhooks.endpoint_id IS 'Further endpoint of the app; null for its webhook URL.';
COMMENT ON COLUMN todo_webhooks.event_revision IS 'The webhook has the payment after this event of its stream.';

CREATE TABLE apps (
  app_id                     text        PRIMARY KEY,
  id_salt                    text        NOT NULL,
  developer_id               text,
  registered_at              timestamptz NOT NULL,
  profile_digest             text,
  webhook_url                text,
  webhook_secret_fingerprint text,
  webhook_secret_rotated_at  timestamptz,
  settlement_chain_id        integer,
  settlement_token_symbol    text,
  settlement_token_address   text,
  settlement_address         text,
  settlement_memo            text,
  next_change_id             text,
  next_chain_id              integer,
  next_token_symbol          text,
  next_token_address         text,
  next_address               text,
  next_memo                  text,
  next_effective_at          timestamptz,
  keyless_creation           boolean     NOT NULL,
  embedding_sites            text[]      NOT NULL,
  pay_from                   json        NOT NULL,
  policy                     json        NOT NULL,
  fees                       json        NOT NULL,
  webhook_types              text[]      NOT NULL,
  webhook_endpoints          json        NOT NULL
);
COMMENT ON TABLE apps IS 'Apps and their settings now. Holds a secret (the salt): not for analysts.';
COMMENT ON COLUMN apps.id_salt IS 'Salt of the payment ids of orders. Its owner can guess the ids.';
COMMENT ON COLUMN apps.developer_id IS 'The owner: see ops.people. Null for an app of the operator.';
COMMENT ON COLUMN apps.profile_digest IS 'Digest of the profile in ops.profiles.';
COMMENT ON COLUMN apps.pay_from IS 'Sources that payers can choose: a list of chainId and tokenSymbol.';
COMMENT ON COLUMN apps.policy IS 'Policy for money that differs from the agreed amount or token (domain/payment/amountPolicy.ts).';
COMMENT ON COLUMN apps.fees IS 'Its own fees, route by route, in millionths of a dollar and basis points.';
COMMENT ON COLUMN apps.webhook_types IS 'Types of webhooks that the app gets besides the first two.';
COMMENT ON COLUMN apps.webhook_endpoints IS 'Endpoints besides the webhook URL, with their types and the fingerprints of their secrets.';
COMMENT ON COLUMN apps.embedding_sites IS 'Origins that can frame its payment pages.';
COMMENT ON COLUMN apps.settlement_address IS 'Settlement wallet of a merchant_ app, until next_effective_at.';
COMMENT ON COLUMN apps.next_address IS 'Settlement wallet from next_effective_at on; null without a requested change.';

CREATE TABLE app_members (
  app_id        text        NOT NULL,
  developer_id  text        NOT NULL,
  role          text        NOT NULL,
  invited_until timestamptz,
  PRIMARY KEY (app_id, developer_id)
);
COMMENT ON TABLE app_members IS 'Members of each app besides its owner, and people with an invitation. The owner is in apps.';
COMMENT ON COLUMN app_members.developer_id IS 'The person: see ops.people.';
COMMENT ON COLUMN app_members.role IS 'developer, operations or readOnly.';
COMMENT ON COLUMN app_members.invited_until IS 'End of the invitation of a person who has not accepted it; null for a member.';

CREATE TABLE app_notifications (
  app_id       text    NOT NULL,
  developer_id text    NOT NULL,
  mail         text[]  NOT NULL,
  bell         text[]  NOT NULL,
  large        numeric NOT NULL,
  PRIMARY KEY (app_id, developer_id)
);
COMMENT ON TABLE app_notifications IS 'Notifications that people chose for an app. A row gives no right: readers check the team first.';
COMMENT ON COLUMN app_notifications.mail IS 'Kinds that are sent by mail (domain/merchant/notifications.ts).';
COMMENT ON COLUMN app_notifications.bell IS 'Kinds that the dashboard lists.';
COMMENT ON COLUMN app_notifications.large IS 'Payments from this amount on are large, in dollars.';

CREATE TABLE api_keys (
  key_id     text        PRIMARY KEY,
  hash       text        NOT NULL,
  app_id     text        NOT NULL,
  scope      text        NOT NULL,
  hint       text        NOT NULL,
  name       text        NOT NULL,
  expires_at timestamptz,
  revoked_at timestamptz
);
COMMENT ON TABLE api_keys IS 'API keys by the SHA-256 of the key; the key itself is stored nowhere.';
COMMENT ON COLUMN api_keys.hint IS 'Prefix and last four characters, for people.';

CREATE TABLE todo_credits (
  payment_id   text        NOT NULL,
  account      text        NOT NULL,
  app_id       text        NOT NULL,
  chain_id     integer     NOT NULL,
  basis_points integer     NOT NULL,
  cents        bigint      NOT NULL,
  due_at       timestamptz NOT NULL,
  PRIMARY KEY (payment_id, account)
);
COMMENT ON TABLE todo_credits IS 'Cashback that completed payments still owe their payers: CreditEarned in the payer''s account removes the row.';
COMMENT ON COLUMN todo_credits.account IS 'Address of the payer.';
COMMENT ON COLUMN todo_credits.chain_id IS 'Chain of the payin.';
COMMENT ON COLUMN todo_credits.basis_points IS 'The share that the payment promised when it was created.';

CREATE TABLE todo_cashback (
  digest text        PRIMARY KEY,
  app_id text        NOT NULL,
  due_at timestamptz NOT NULL
);
COMMENT ON TABLE todo_cashback IS 'Payments by credit that have not arrived in their merchant''s account: CashbackReceived removes the row.';
COMMENT ON COLUMN todo_cashback.digest IS 'SHA-256 of the message that paid.';

CREATE TABLE credit_accounts (
  account    text        PRIMARY KEY,
  cents      bigint      NOT NULL,
  changed_at timestamptz NOT NULL
);
COMMENT ON TABLE credit_accounts IS 'Credit of buyers, by address. In US cents.';

CREATE TABLE credit_signers (
  account    text        PRIMARY KEY,
  changed_at timestamptz NOT NULL
);
COMMENT ON TABLE credit_signers IS 'Buyers who have paid with credit by a signed message, which proves that they control their accounts.';

CREATE TABLE cashback_payments (
  app_id         text        NOT NULL,
  ordinal        bigint      NOT NULL,
  digest         text        NOT NULL,
  account        text        NOT NULL,
  cents          bigint      NOT NULL,
  amount_local   numeric,
  currency_local text,
  order_id       text,
  about          text,
  signed_at      timestamptz NOT NULL,
  spent_at       timestamptz NOT NULL,
  PRIMARY KEY (app_id, ordinal)
);
COMMENT ON TABLE cashback_payments IS 'Payments by credit, numbered for each merchant in the order of the log. In US cents.';
COMMENT ON COLUMN cashback_payments.digest IS 'SHA-256 of the message that paid.';
COMMENT ON COLUMN cashback_payments.account IS 'Address of the buyer.';
COMMENT ON COLUMN cashback_payments.amount_local IS 'In currency_local, as the buyer stated it. Not used in computations.';
COMMENT ON COLUMN cashback_payments.signed_at IS 'The time that the message names.';

CREATE TABLE cashback_accounts (
  app_id          text        PRIMARY KEY,
  received        bigint      NOT NULL,
  received_cents  bigint      NOT NULL,
  withdrawn_cents bigint      NOT NULL,
  balance_cents   bigint      NOT NULL,
  changed_at      timestamptz NOT NULL
);
COMMENT ON TABLE cashback_accounts IS 'Payments of merchants from buyers'' credit. In US cents.';
COMMENT ON COLUMN cashback_accounts.received IS 'Number of payments.';
COMMENT ON COLUMN cashback_accounts.balance_cents IS 'received_cents less withdrawn_cents.';

CREATE TABLE todo_withdrawals (
  payment_id text        PRIMARY KEY,
  app_id     text        NOT NULL,
  due_at     timestamptz NOT NULL
);
COMMENT ON TABLE todo_withdrawals IS 'Withdrawals whose payments are not created yet: WithdrawalOrdered removes the row.';
COMMENT ON COLUMN todo_withdrawals.payment_id IS 'The payment that pays it out.';

CREATE TABLE todo_policy_refunds (
  payment_id text        PRIMARY KEY,
  app_id     text        NOT NULL,
  proven     boolean     NOT NULL,
  due_at     timestamptz NOT NULL
);
COMMENT ON TABLE todo_policy_refunds IS 'Payments with a refund by their app''s policy: RefundRequested removes the row.';
COMMENT ON COLUMN todo_policy_refunds.proven IS 'Whether a sender has proven a refund address. Without a proof the refund waits.';

CREATE TABLE todo_funded_refunds (
  funding_payment_id text        PRIMARY KEY,
  payment_id         text        NOT NULL,
  app_id             text        NOT NULL,
  refund             integer     NOT NULL,
  due_at             timestamptz NOT NULL
);
COMMENT ON TABLE todo_funded_refunds IS 'Funded refunds whose payment is missing or has ended: FundedRefundEnded removes the row. A hint: the worker reads the streams before it acts.';
COMMENT ON COLUMN todo_funded_refunds.funding_payment_id IS 'The payment of the app that funds the refund.';
COMMENT ON COLUMN todo_funded_refunds.payment_id IS 'The payment that is refunded.';
COMMENT ON COLUMN todo_funded_refunds.due_at IS 'End of the funding payment; before it exists, the time at which it is given up.';

CREATE TABLE cashback_withdrawals (
  payment_id   text        PRIMARY KEY,
  app_id       text        NOT NULL,
  cents        bigint      NOT NULL,
  withdrawn_at timestamptz NOT NULL
);
COMMENT ON TABLE cashback_withdrawals IS 'Withdrawals of merchants'' credit. In US cents.';
COMMENT ON COLUMN cashback_withdrawals.payment_id IS 'The payment that pays it out.';

CREATE TABLE links (
  link_id             text        PRIMARY KEY,
  app_id              text        NOT NULL,
  type                text        NOT NULL,
  amount              numeric,
  min_amount          numeric,
  max_amount          numeric,
  title               text,
  description         text,
  source_chain_id     integer,
  source_token_symbol text,
  created_at          timestamptz NOT NULL,
  closed_at           timestamptz
);
COMMENT ON TABLE links IS 'Reusable payment links. Amounts in dollars, which are whole tokens.';
COMMENT ON COLUMN links.link_id IS 'Everybody with this id can pay with the link.';
COMMENT ON COLUMN links.amount IS 'Null if the payer chooses, from min_amount to max_amount.';
COMMENT ON COLUMN links.source_chain_id IS 'Chain of the payin; null if the payer chooses.';

CREATE TABLE app_changes (
  event_id     text        PRIMARY KEY,
  app_id       text        NOT NULL,
  changed_at   timestamptz NOT NULL,
  changed_by   text        NOT NULL,
  kind         text        NOT NULL,
  title        text,
  amount       numeric,
  token_symbol text,
  chain_id     integer,
  payment_id   text,
  receiver     text
);
COMMENT ON TABLE app_changes IS 'Actions of people outside of the app''s own stream: payment links created and closed, refunds ordered and cancelled.';
COMMENT ON COLUMN app_changes.changed_by IS 'The event’s cause.';
COMMENT ON COLUMN app_changes.kind IS 'linkMade, linkClosed, refundOrdered, refundCalledOff.';
COMMENT ON COLUMN app_changes.title IS 'Title of a link.';
COMMENT ON COLUMN app_changes.amount IS 'For a link: dollars, null if the payer chooses. For a refund: whole tokens.';
COMMENT ON COLUMN app_changes.receiver IS 'Receiver of a refund.';

CREATE TABLE operations (
  operation_id      text        PRIMARY KEY,
  kind              text        NOT NULL,
  chain_id          integer     NOT NULL,
  account           text        NOT NULL,
  token_symbol      text        NOT NULL,
  token_address     text        NOT NULL,
  amount            numeric     NOT NULL,
  value_usd         numeric     NOT NULL,
  receiver_address  text        NOT NULL,
  receiver_memo     text,
  standing          text        NOT NULL,
  reason            text        NOT NULL,
  ordered_by        text        NOT NULL,
  approved_by       text,
  ordered_at        timestamptz NOT NULL,
  changed_at        timestamptz NOT NULL,
  tx_hash           text,
  tx_hashes         json        NOT NULL,
  arrived           numeric,
  expects_chain_id  integer,
  expects_account   text,
  arrived_tx_hash   text
);
COMMENT ON TABLE operations IS 'Operations of the treasury besides payouts: withdrawals, rebalances, sweeps of deposits, deployments, anchors of log heads. Amounts in whole tokens or coins.';
COMMENT ON COLUMN operations.account IS 'Account of the treasury.';
COMMENT ON COLUMN operations.token_address IS 'The token''s contract; coin for the chain''s own coin.';
COMMENT ON COLUMN operations.standing IS 'waitsForApproval, ordered, signed, done, short (final, less than the ordered amount arrived) or calledOff.';
COMMENT ON COLUMN operations.ordered_by IS 'An operator''s name, or a worker''s.';
COMMENT ON COLUMN operations.approved_by IS 'Operator who approved an operation above the limit; null without an approval.';
COMMENT ON COLUMN operations.tx_hash IS 'Hash of its settled transaction, otherwise of the latest signed one; null before.';
COMMENT ON COLUMN operations.tx_hashes IS 'Hashes of all transactions that were signed for the operation.';
COMMENT ON COLUMN operations.arrived IS 'Amount that arrived, if it differs from the ordered amount.';
COMMENT ON COLUMN operations.expects_chain_id IS 'For a rebalance: the chain where its money arrives.';
COMMENT ON COLUMN operations.expects_account IS 'For a rebalance: our account that it tops up.';
COMMENT ON COLUMN operations.arrived_tx_hash IS 'For a rebalance: the transaction that brought its money; null before.';
