-- Schema "analytics": for people who ask questions of their own. Views upon the public views; made anew whenever this file changes.
-- analytics.assets is made beside them, from the catalogue and the configured prices.
-- A query about a day reads the rows of that day: facts about a row are looked up row by row, and the time columns have indexes. No GROUP BY
-- or window stands between a query's WHERE and a large table. Only a balance is a sum of everything before it.

CREATE OR REPLACE VIEW analytics.payments AS
SELECT p.payment_id, p.app_id, p.order_id, p.status, p.error_code, p.type, p.keyless,
       p.source_chain_id, p.source_token_symbol AS source_token, p.destination_chain_id, p.destination_token_symbol AS destination_token,
       p.source_amount, p.source_fee AS fee, p.amount_came, p.destination_amount, p.excess, p.refunded,
       p.created_at, p.expires_at, p.payin_seen_at AS payin_block_at, m.seen_at, m.final_at,
       p.payin_confirmed_at AS funded_at, o.signed_at, p.payout_confirmed_at AS paid_out_at,
       p.payin_seen_at - p.created_at AS until_paid,
       m.seen_at - p.payin_seen_at AS until_seen,
       m.final_at - m.seen_at AS until_final,
       o.signed_at - p.payin_confirmed_at AS until_signed,
       p.payout_confirmed_at - o.signed_at AS until_paid_out,
       p.payout_confirmed_at - p.payin_seen_at AS whole,
       o.attempts AS payout_attempts, coalesce(m.was_held, false) AS was_held,
       w.reason AS waits_for, w.since AS waits_since,
       (SELECT array_agg(reason ORDER BY waited DESC, first_at) FROM ops.payout_waited h WHERE h.payment_id = p.payment_id) AS waited_for
  FROM public.payments p
  LEFT JOIN LATERAL (
    SELECT min(at) FILTER (WHERE type = 'PayinDetected') AS seen_at,
           coalesce(max(at) FILTER (WHERE type = 'PayinConfirmed' AND status IN ('payment_unpaid', 'payment_started')),
                    min(at) FILTER (WHERE type = 'PayinConfirmed')) AS final_at,
           bool_or(type = 'PayoutHeld') AS was_held
      FROM public.app_events e
     WHERE e.payment_id = p.payment_id AND e.type IN ('PayinDetected', 'PayinConfirmed', 'PayoutHeld')
  ) m ON true
  LEFT JOIN LATERAL (
    SELECT min(at) AS signed_at, count(*) AS attempts FROM public.transactions t WHERE t.payment_id = p.payment_id AND t.kind = 'payout'
  ) o ON true
  LEFT JOIN ops.payout_waits w ON w.payment_id = p.payment_id AND o.signed_at IS NULL AND p.payout_confirmed_at IS NULL;
COMMENT ON VIEW analytics.payments IS 'One row per payment: terms, progress, and the duration of each part. Amounts in whole tokens.';
COMMENT ON COLUMN analytics.payments.fee IS 'The service''s fee: part of source_amount, in the source token.';
COMMENT ON COLUMN analytics.payments.amount_came IS 'Everything that arrived in the source token on its chain, counted or not.';
COMMENT ON COLUMN analytics.payments.payin_block_at IS 'Time of the block that holds the first payin that counts.';
COMMENT ON COLUMN analytics.payments.seen_at IS 'When the service first recorded a payin.';
COMMENT ON COLUMN analytics.payments.final_at IS 'When the payin that completed the sum was recorded as final.';
COMMENT ON COLUMN analytics.payments.funded_at IS 'When the payment was funded.';
COMMENT ON COLUMN analytics.payments.signed_at IS 'Time when the first transaction of its payout was signed. The transaction is sent right afterwards.';
COMMENT ON COLUMN analytics.payments.paid_out_at IS 'When the payout was recorded as final.';
COMMENT ON COLUMN analytics.payments.until_paid IS 'From creation to the payin''s block: the customer''s part.';
COMMENT ON COLUMN analytics.payments.until_seen IS 'From the payin''s block to its record.';
COMMENT ON COLUMN analytics.payments.until_final IS 'From detection to finality: the chain''s part.';
COMMENT ON COLUMN analytics.payments.until_signed IS 'From funding to the signature: the service''s part, waits included.';
COMMENT ON COLUMN analytics.payments.until_paid_out IS 'From signed to final on the other chain.';
COMMENT ON COLUMN analytics.payments.whole IS 'From the payin''s block to the final payout.';
COMMENT ON COLUMN analytics.payments.payout_attempts IS 'Transactions that were signed for the payout: bumps of the fee count.';
COMMENT ON COLUMN analytics.payments.was_held IS 'Whether an operator held the payout at any time.';
COMMENT ON COLUMN analytics.payments.waits_for IS 'Why its payout is not signed now: a code such as float, gas, treasuryPaused; null when it does not wait.';
COMMENT ON COLUMN analytics.payments.waited_for IS 'Reasons for which its payout waited, the longest first; null without a wait. analytics.payout_waits has the durations.';

CREATE OR REPLACE VIEW analytics.payout_waits AS
SELECT payment_id, p.app_id, p.destination_token_symbol AS destination_token, w.chain_id, w.reason, w.first_at, w.last_at,
       w.waited + CASE WHEN w.last_at = max(w.last_at) OVER (PARTITION BY payment_id)
                       THEN greatest(s.at - w.last_at, '0') ELSE '0' END AS waited,
       w.times
  FROM ops.payout_waited w
  JOIN public.payments p USING (payment_id)
  CROSS JOIN LATERAL (
    SELECT min(at) AS at FROM public.transactions t WHERE t.payment_id = w.payment_id AND t.kind = 'payout'
  ) s;
COMMENT ON VIEW analytics.payout_waits IS 'Waits of payouts before their signature: one row per payment and reason. Waits are not in the log: a database that is rebuilt from the log begins without them.';
COMMENT ON COLUMN analytics.payout_waits.reason IS 'A code such as float, gas, appPerHour, treasuryPaused: docs/operate/alarms.md has them.';
COMMENT ON COLUMN analytics.payout_waits.first_at IS 'Start of the first wait for this reason.';
COMMENT ON COLUMN analytics.payout_waits.last_at IS 'Time of the last attempt with this reason.';
COMMENT ON COLUMN analytics.payout_waits.waited IS 'Total time until the signature or another reason. For a payout that still waits: until the last attempt.';
COMMENT ON COLUMN analytics.payout_waits.times IS 'Number of waits for this reason.';

CREATE OR REPLACE VIEW analytics.transfers AS
SELECT t.payment_id, t.app_id, t.kind, t.chain_id, t.tx_hash, t.index, t.status, t.standing, t.token_symbol AS token, t.amount,
       (t.amount * 10::numeric ^ a.decimals)::numeric(78, 0) AS units, t.from_address, t.to_address, t.block_number, t.at
  FROM public.transactions t
  LEFT JOIN analytics.assets a ON a.chain_id = t.chain_id AND a.asset = t.token_address;
COMMENT ON VIEW analytics.transfers IS 'One row per transfer of a payment: payins, and each attempt of payouts and refunds. Other movements of the treasury''s money are in analytics.treasury_movements.';
COMMENT ON COLUMN analytics.transfers.kind IS 'payin, payout or refund.';
COMMENT ON COLUMN analytics.transfers.status IS 'Payins: detected, confirmed, orphaned, lost. Payouts and refunds: live, settled, short, dead, lapsed.';
COMMENT ON COLUMN analytics.transfers.standing IS 'Payins: counted, or why the money is held.';
COMMENT ON COLUMN analytics.transfers.at IS 'Payins: block time. Payouts and refunds: when the attempt was signed.';

CREATE OR REPLACE VIEW analytics.webhooks AS
SELECT delivery_id, kind, first_delivery_id, payment_id, app_id, event_type, status, status_code, error, started_at, delivered_at, duration_ms
  FROM public.deliveries;
COMMENT ON VIEW analytics.webhooks IS 'One row per webhook that was attempted. Without addresses, which may hold a merchant''s secrets.';
COMMENT ON COLUMN analytics.webhooks.kind IS 'automatic, test or manual (a redelivery).';
COMMENT ON COLUMN analytics.webhooks.status IS 'delivered for a 2xx answer, else exhausted.';

CREATE OR REPLACE VIEW analytics.costs AS
SELECT m.chain_id, m.tx_hash, m.part, m.kind, m.reference, m.at, (m.at AT TIME ZONE 'UTC')::date AS day,
       -m.amount / 10::numeric ^ a.decimals AS coin, a.symbol AS coin_symbol,
       round(-m.amount / 10::numeric ^ a.decimals * a.price_usd, 6) AS usd
  FROM public.treasury_movements m
  JOIN analytics.assets a ON a.chain_id = m.chain_id AND a.asset = m.asset
 WHERE m.asset = 'coin' AND m.part IN ('fee', 'rent');
COMMENT ON VIEW analytics.costs IS 'One row per payment of gas or rent by the treasury.';
COMMENT ON COLUMN analytics.costs.kind IS 'Kind of the transaction: payout, refund, withdrawal, sweep, deployment, cancel, anchor …';
COMMENT ON COLUMN analytics.costs.reference IS 'Payment, operation or batch of the transaction.';
COMMENT ON COLUMN analytics.costs.coin IS 'In whole coins of the chain.';
COMMENT ON COLUMN analytics.costs.usd IS 'At the currently configured price (analytics.assets), not the past price.';

CREATE OR REPLACE VIEW analytics.daily AS
SELECT d.day, d.app_id, of_day.*
  FROM (SELECT DISTINCT app_id, (hour AT TIME ZONE 'UTC')::date AS day FROM public.hourly_payments) d
  CROSS JOIN LATERAL (
    SELECT source_chain_id, destination_chain_id, source_token_symbol AS source_token, destination_token_symbol AS destination_token,
           count(*) AS created,
           count(*) FILTER (WHERE payin_seen_at IS NOT NULL) AS seen,
           count(*) FILTER (WHERE payin_confirmed_at IS NOT NULL) AS funded,
           count(*) FILTER (WHERE payout_confirmed_at IS NOT NULL) AS paid_out,
           count(*) FILTER (WHERE status = 'payment_bounced') AS bounced,
           count(*) FILTER (WHERE status = 'payment_refunded') AS refunded_whole,
           count(*) FILTER (WHERE status = 'payment_expired') AS expired,
           coalesce(sum(source_amount) FILTER (WHERE payout_confirmed_at IS NOT NULL), 0) AS volume,
           coalesce(sum(source_fee) FILTER (WHERE payout_confirmed_at IS NOT NULL), 0) AS fees,
           coalesce(sum(destination_amount) FILTER (WHERE payout_confirmed_at IS NOT NULL), 0) AS paid_to_receivers,
           sum(refunded) AS refunded
      FROM public.payments p
     WHERE p.app_id = d.app_id
       AND created_at >= d.day::timestamp AT TIME ZONE 'UTC' AND created_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
     GROUP BY 1, 2, 3, 4
  ) of_day;
COMMENT ON VIEW analytics.daily IS 'Payments by the UTC day of their creation, app, route and tokens, in their current state. Amounts in whole tokens.';
COMMENT ON COLUMN analytics.daily.volume IS 'Amounts that customers paid for the paid-out payments, fees included.';
COMMENT ON COLUMN analytics.daily.refunded IS 'Refunded amounts, in any token.';

CREATE OR REPLACE VIEW analytics.profit AS
SELECT d.day, d.app_id, of_day.*, of_day.fees - of_day.cost AS profit
  FROM (SELECT DISTINCT app_id, (hour AT TIME ZONE 'UTC')::date AS day FROM public.hourly_stats) d
  CROSS JOIN LATERAL (
    SELECT source_chain_id, destination_chain_id, count(*) AS payments, sum(source_amount) AS volume, sum(source_fee) AS fees,
           round(coalesce(sum(cost.usd / shares.count), 0), 6) AS cost
      FROM public.payments p
      CROSS JOIN LATERAL (
        SELECT sum(usd) AS usd FROM analytics.costs c WHERE c.chain_id = p.destination_chain_id AND c.tx_hash = p.payout_tx_hash
      ) cost
      CROSS JOIN LATERAL (
        SELECT greatest(count(*), 1) AS count FROM public.transactions t
         WHERE t.kind = 'payout' AND t.status IN ('settled', 'short') AND t.chain_id = p.destination_chain_id AND t.tx_hash = p.payout_tx_hash
      ) shares
     WHERE p.app_id = d.app_id
       AND payout_confirmed_at >= d.day::timestamp AT TIME ZONE 'UTC' AND payout_confirmed_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
     GROUP BY 1, 2
  ) of_day;
COMMENT ON VIEW analytics.profit IS 'Fees earned and cost of the payouts'' transactions, by the UTC day of the payout, app and route. A transaction that made several payouts is divided among them.';
COMMENT ON COLUMN analytics.profit.cost IS 'In dollars, at the currently configured price. Cancels, sweeps and failed attempts are only in analytics.costs.';

CREATE OR REPLACE VIEW analytics.treasury_movements AS
SELECT m.at, (m.at AT TIME ZONE 'UTC')::date AS day, m.chain_id, m.account, m.kind, m.part, coalesce(a.symbol, m.asset) AS symbol,
       m.amount / 10::numeric ^ a.decimals AS amount, m.amount AS units, m.tx_hash, m.reference, m.counterparty, m.block_number,
       (SELECT count(*)::integer FROM public.treasury_movements ended
         WHERE ended.kind = 'networkClosed' AND ended.chain_id = m.chain_id AND ended.account = m.account
           AND ended.position < m.position) AS network
  FROM public.treasury_movements m
  LEFT JOIN analytics.assets a ON a.chain_id = m.chain_id AND a.asset = m.asset;
COMMENT ON VIEW analytics.treasury_movements IS 'One row per movement of the treasury''s money: payouts, refunds, withdrawals, rebalances, sweeps, top-ups, gas and rent. Their sum for the newest network is the balance of each account.';
COMMENT ON COLUMN analytics.treasury_movements.kind IS 'opening, payin, unmatched, payout, refund, withdrawal, rebalance, sweep, deployment, anchor, cancel, adopted, topUp, flush (a deposit that another account emptied), explained, networkClosed (moves nothing: the chain''s network was reset).';
COMMENT ON COLUMN analytics.treasury_movements.part IS 'fee, rent, or the number of the transfer in the transaction.';
COMMENT ON COLUMN analytics.treasury_movements.amount IS 'In whole tokens or coins; negative for outgoing amounts.';
COMMENT ON COLUMN analytics.treasury_movements.units IS 'The same in smallest units.';
COMMENT ON COLUMN analytics.treasury_movements.reference IS 'Payment, operation or transfer of the movement.';
COMMENT ON COLUMN analytics.treasury_movements.counterparty IS 'The other account of the transfer.';
COMMENT ON COLUMN analytics.treasury_movements.network IS 'Number of earlier networks of the chain that were reset: 0 unless a test network was reset.';

CREATE OR REPLACE VIEW analytics.treasury_balances AS
WITH of_network AS (
  SELECT chain_id, account, asset, at, amount, kind, block_number,
         count(*) FILTER (WHERE kind = 'networkClosed') OVER (PARTITION BY chain_id, account ORDER BY position)::integer AS network
    FROM public.treasury_movements
), opened AS (
  SELECT *, max(block_number) FILTER (WHERE kind = 'opening') OVER (PARTITION BY chain_id, account, network) AS opening_block
    FROM of_network
), moved AS (
  SELECT chain_id, account, asset, network, (at AT TIME ZONE 'UTC')::date AS day, sum(amount) AS amount
    FROM opened
   WHERE kind <> 'networkClosed' AND (kind = 'opening' OR opening_block IS NULL OR block_number > opening_block)
   GROUP BY chain_id, account, asset, network, day
)
SELECT m.day, m.chain_id, m.account, coalesce(a.symbol, m.asset) AS symbol,
       m.amount / 10::numeric ^ a.decimals AS change,
       sum(m.amount) OVER (PARTITION BY m.chain_id, m.account, m.asset, m.network ORDER BY m.day) / 10::numeric ^ a.decimals AS balance,
       m.network
  FROM moved m
  JOIN analytics.assets a ON a.chain_id = m.chain_id AND a.asset = m.asset;
COMMENT ON VIEW analytics.treasury_balances IS 'Balance of each account of the treasury at the end of each UTC day on which it changed, from its opening balance and the movements of later blocks. In whole tokens or coins. Each network of a chain has separate balances.';
COMMENT ON COLUMN analytics.treasury_balances.change IS 'Change on that day; negative for outgoing amounts.';
COMMENT ON COLUMN analytics.treasury_balances.network IS 'Number of earlier networks of the chain that were reset: 0 unless a test network was reset.';

CREATE OR REPLACE VIEW analytics.held_money AS
WITH part AS (
  SELECT payment_id, standing AS reason, block_time AS since, amount
    FROM public.payins
   WHERE phase = 'confirmed' AND standing <> 'counted'
  UNION ALL
  SELECT payment_id, error_code, block_time, amount
    FROM public.payments JOIN public.payins USING (payment_id)
   WHERE status IN ('payment_bounced', 'payment_refunded') AND phase = 'confirmed' AND standing = 'counted'
  UNION ALL
  SELECT payment_id, 'excess', payin_confirmed_at, excess FROM public.payments
   WHERE excess > 0 AND status NOT IN ('payment_bounced', 'payment_refunded')
), payment AS (
  SELECT payment_id, (array_agg(reason ORDER BY amount DESC, reason))[1] AS reason, min(since) AS since,
         sum(amount) - coalesce((SELECT sum((refund ->> 'amount')::numeric + (refund ->> 'networkFee')::numeric)
                                   FROM public.payments AS own, json_array_elements(own.refunds) AS refund
                                  WHERE own.payment_id = part.payment_id AND refund ->> 'status' <> 'calledOff'), 0) AS amount
    FROM part
   GROUP BY payment_id
), held AS (
  SELECT payment_id, app_id, NULL::text AS transfer_id, reason, amount, created_at, since
    FROM payment JOIN public.payments USING (payment_id)
   WHERE amount > 0
  UNION ALL
  SELECT beyond_payment, NULL, transfer_id, 'unmatched', amount, block_time, block_time
    FROM public.unmatched
   WHERE verdict = 'open'
)
SELECT held.*, now() - since AS age,
       CASE WHEN now() - since < interval '1 day' THEN 'under a day'
            WHEN now() - since < interval '7 days' THEN 'under a week'
            WHEN now() - since < interval '30 days' THEN 'under 30 days'
            ELSE 'older' END AS age_class
  FROM held;
COMMENT ON VIEW analytics.held_money IS 'Held money now: neither paid out nor being refunded, by payment, or by transfer for unmatched funds. In whole tokens.';
COMMENT ON COLUMN analytics.held_money.transfer_id IS 'Transfer of unmatched funds; otherwise null.';
COMMENT ON COLUMN analytics.held_money.since IS 'Time when the first of the money arrived, or became an excess.';
COMMENT ON COLUMN analytics.held_money.age_class IS 'under a day, under a week, under 30 days, older: as in the report.';
COMMENT ON COLUMN analytics.held_money.app_id IS 'Null for money that no payment takes up.';
COMMENT ON COLUMN analytics.held_money.created_at IS 'Time of the payment''s creation; for a transfer without a payment, the time of its block.';
COMMENT ON COLUMN analytics.held_money.reason IS 'late, surplus, wrongToken, wrongChain, otherSender, excess, unmatched, or why its payment bounced; of several the one with most money.';

CREATE OR REPLACE VIEW analytics.conversion AS
SELECT day, app_id, sum(created) AS created, sum(seen) AS seen, sum(funded) AS funded, sum(paid_out) AS paid_out,
       sum(expired) AS abandoned, sum(bounced) + sum(refunded_whole) AS bounced,
       round(sum(paid_out) / nullif(sum(created), 0), 4) AS conversion
  FROM analytics.daily
 GROUP BY day, app_id;
COMMENT ON VIEW analytics.conversion IS 'Payments of a UTC day by the furthest step that they reached, by app.';
COMMENT ON COLUMN analytics.conversion.abandoned IS 'No counted payin arrived before the payment window closed.';
COMMENT ON COLUMN analytics.conversion.conversion IS 'Share of the created ones that were paid out, from 0 to 1; those of today may still be.';

CREATE OR REPLACE VIEW analytics.durations AS
SELECT d.day, d.app_id, of_day.*
  FROM (SELECT DISTINCT app_id, (hour AT TIME ZONE 'UTC')::date AS day FROM public.hourly_stats) d
  CROSS JOIN LATERAL (
    SELECT source_chain_id, destination_chain_id, count(*) AS payments,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY extract(epoch FROM payout_confirmed_at - payin_seen_at)) AS p50_s,
           percentile_cont(0.95) WITHIN GROUP (ORDER BY extract(epoch FROM payout_confirmed_at - payin_seen_at)) AS p95_s,
           max(extract(epoch FROM payout_confirmed_at - payin_seen_at))::double precision AS most_s
      FROM public.payments p
     WHERE p.app_id = d.app_id
       AND payout_confirmed_at >= d.day::timestamp AT TIME ZONE 'UTC' AND payout_confirmed_at < (d.day + 1)::timestamp AT TIME ZONE 'UTC'
     GROUP BY 1, 2
  ) of_day;
COMMENT ON VIEW analytics.durations IS 'Seconds from the payin''s block to the final payout, by the UTC day of the payout, app and route.';

-- What means the same wherever it stands. A column that says something else has said so above.
DO $$
DECLARE
  own record;
BEGIN
  FOR own IN
    SELECT c.relname AS view, a.attname AS name, said.means
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
      JOIN (VALUES
        ('account', 'An account of the treasury.'),
        ('age', 'Since then, as of the query.'),
        ('amount', 'In whole tokens.'),
        ('app_id', 'The app that the payment belongs to.'),
        ('at', 'When it was recorded.'),
        ('attempts', 'How many transactions were signed.'),
        ('balance', 'At the end of that day.'),
        ('block_number', 'Time of its block; null without a block.'),
        ('bounced', 'Payments that ended with money which is held.'),
        ('chain', 'As people call it.'),
        ('chain_id', 'Id of the chain, such as 8453 for Base. 501 is Solana, 1500 is Stellar.'),
        ('coin_symbol', 'The chain''s own coin.'),
        ('counterparty', 'The other account of the transfer.'),
        ('created', 'Payments that were created that day.'),
        ('created_at', 'When the payment was created.'),
        ('day', 'In UTC.'),
        ('decimals', 'So many digits the smallest unit is away from a whole one.'),
        ('delivered_at', 'Time of the answer or of the time-out; null while no outcome is recorded.'),
        ('delivery_id', 'The webhook-id header that the receiver got.'),
        ('destination_amount', 'Amount that the receiver gets, in whole tokens; null until it is settled.'),
        ('destination_chain_id', 'Where it is paid out.'),
        ('destination_token', 'In which token it is paid out.'),
        ('duration_ms', 'Until the answer came.'),
        ('error', 'Why no answer came; null where one did.'),
        ('error_code', 'Reason why the payment bounced; null otherwise.'),
        ('event_type', 'payment_payin_completed or payment_payout_completed.'),
        ('excess', 'Held excess over the amount due, in whole tokens.'),
        ('expired', 'Payments whose time was over.'),
        ('expires_at', 'When its time is over.'),
        ('fees', 'Fees of the paid-out payments.'),
        ('first_delivery_id', 'For a redelivery: the first, automatic delivery.'),
        ('from_address', 'Account that the money left.'),
        ('funded', 'Payments whose money is final.'),
        ('index', 'Payins: place among the transaction''s logs. Payouts and refunds: number of the attempt.'),
        ('keyless', 'Whether it was created without an API key.'),
        ('most_s', 'The longest.'),
        ('order_id', 'The merchant''s own name of it.'),
        ('p50_s', 'Half of them took less.'),
        ('p95_s', 'Nineteen of twenty took less.'),
        ('paid_out', 'Payments whose payout is final.'),
        ('paid_to_receivers', 'Amounts that the receivers got, in whole tokens.'),
        ('part', 'fee or rent.'),
        ('payment_id', 'The payment; null where there is none.'),
        ('payments', 'How many.'),
        ('profit', 'fees less cost.'),
        ('refunded', 'Refunded amount, in whole tokens.'),
        ('refunded_whole', 'Payments of which all went back.'),
        ('seen', 'Payments to which money came.'),
        ('source_amount', 'Amount that the customer pays, in whole tokens; null while unknown.'),
        ('source_chain_id', 'Where it is paid.'),
        ('source_token', 'In which token it is paid.'),
        ('started_at', 'When the attempt began.'),
        ('status', 'As in the API.'),
        ('status_code', 'Status code of the receiver''s answer; null without an answer.'),
        ('symbol', 'Symbol of the token or coin.'),
        ('to_address', 'Account that the money reached or was meant to reach.'),
        ('token', 'Its symbol.'),
        ('tx_hash', 'Hash of its transaction, in the spelling of its chain.'),
        ('type', 'exactIn, exactOut or anyAmount.'),
        ('units', 'The same in smallest units; null where the token is in no catalogue.'),
        ('volume', 'Amounts that customers paid for the paid-out payments, fees included.'),
        ('waits_since', 'Since when it waits for that.')
      ) AS said (name, means) ON said.name = a.attname
     WHERE c.relnamespace = 'analytics'::regnamespace AND c.relkind = 'v' AND col_description(c.oid, a.attnum) IS NULL
  LOOP
    EXECUTE format('COMMENT ON COLUMN analytics.%I.%I IS %L', own.view, own.name, own.means);
  END LOOP;
END
$$;
