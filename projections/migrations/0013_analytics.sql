-- Views of schema "analytics" stand upon the public ones: where one of those is made anew they go with it, and are made again right after.

CREATE OR REPLACE FUNCTION ops.show_tables(source text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  shown record;
  said  record;
BEGIN
  FOR shown IN
    SELECT c.oid, c.relname AS name, obj_description(c.oid) AS comment
      FROM pg_class c WHERE c.relnamespace = source::regnamespace AND c.relkind = 'r'
  LOOP
    BEGIN
      EXECUTE format('CREATE OR REPLACE VIEW public.%I AS SELECT * FROM %I.%I', shown.name, source, shown.name);
    EXCEPTION WHEN invalid_table_definition THEN
      EXECUTE format('DROP VIEW public.%I CASCADE', shown.name);
      EXECUTE format('CREATE VIEW public.%I AS SELECT * FROM %I.%I', shown.name, source, shown.name);
    END;
    EXECUTE format('COMMENT ON VIEW public.%I IS %L', shown.name, shown.comment);
    FOR said IN
      SELECT a.attname AS name, col_description(shown.oid, a.attnum) AS comment
        FROM pg_attribute a WHERE a.attrelid = shown.oid AND a.attnum > 0 AND NOT a.attisdropped
         AND col_description(shown.oid, a.attnum) IS NOT NULL
    LOOP
      EXECUTE format('COMMENT ON COLUMN public.%I.%I IS %L', shown.name, said.name, said.comment);
    END LOOP;
  END LOOP;
END $$;
