-- The index of `reports.indexes.sql` for rows that an earlier version has filled: a new index alone needs no rebuild.

DO $$
DECLARE
  generation text;
BEGIN
  FOR generation IN
    SELECT table_schema FROM information_schema.tables
     WHERE table_name = 'treasury_movements' AND table_type = 'BASE TABLE' AND table_schema ~ '^reports_[0-9]+$'
  LOOP
    EXECUTE format(
      'CREATE INDEX IF NOT EXISTS treasury_movements_in_transit ON %I.treasury_movements (kind, reference)
         WHERE kind IN (''burn'', ''mint'') AND asset <> ''coin''',
      generation);
  END LOOP;
END $$;
