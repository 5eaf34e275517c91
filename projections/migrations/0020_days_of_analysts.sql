-- The indexes of `work.indexes.sql` and `reports.indexes.sql` for questions about a day, for rows that an earlier version has filled.

DO $$
DECLARE
  generation text;
BEGIN
  FOR generation IN
    SELECT table_schema FROM information_schema.tables
     WHERE table_name = 'payins' AND table_type = 'BASE TABLE' AND table_schema ~ '^work_[0-9]+$'
  LOOP
    EXECUTE format(
      'CREATE INDEX IF NOT EXISTS payments_failed    ON %1$I.payments (payment_id) WHERE status IN (''payment_bounced'', ''payment_refunded'');
       CREATE INDEX IF NOT EXISTS payments_exceeding ON %1$I.payments (payment_id) WHERE excess > 0;
       CREATE INDEX IF NOT EXISTS payins_uncounted   ON %1$I.payins (payment_id) WHERE phase = ''confirmed'' AND standing <> ''counted''',
      generation);
  END LOOP;
  FOR generation IN
    SELECT table_schema FROM information_schema.tables
     WHERE table_name = 'treasury_movements' AND table_type = 'BASE TABLE' AND table_schema ~ '^reports_[0-9]+$'
  LOOP
    EXECUTE format(
      'CREATE INDEX IF NOT EXISTS app_events_of_payins ON %1$I.app_events (payment_id)
         WHERE type IN (''PayinDetected'', ''PayinConfirmed'', ''PayoutHeld'');
       CREATE INDEX IF NOT EXISTS treasury_movements_costs ON %1$I.treasury_movements (tx_hash)
         WHERE asset = ''coin'' AND part IN (''fee'', ''rent'');
       CREATE INDEX IF NOT EXISTS treasury_movements_closed ON %1$I.treasury_movements (chain_id, account, position)
         WHERE kind = ''networkClosed'';
       CREATE INDEX IF NOT EXISTS treasury_movements_by_time ON %1$I.treasury_movements USING brin
         (at timestamptz_minmax_multi_ops, ((at AT TIME ZONE ''UTC'')::date) date_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on);
       CREATE INDEX IF NOT EXISTS transactions_by_time ON %1$I.transactions USING brin
         (at timestamptz_minmax_multi_ops) WITH (pages_per_range = 32, autosummarize = on)',
      generation);
  END LOOP;
END $$;
