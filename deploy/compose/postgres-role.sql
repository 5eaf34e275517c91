-- Run once by the image of Postgres when it initialises its folder, as the superuser `postgres` in the database `payments`.
-- The service's own role owns this database and no other. The superuser keeps no password: it logs in inside the container alone.
\set ON_ERROR_STOP on
\getenv password POSTGRES_PASSWORD

BEGIN;
-- CREATEROLE lets the service set the password of analysts; it gives no right that the role itself does not have.
CREATE ROLE payments LOGIN NOSUPERUSER NOCREATEDB CREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD :'password';
CREATE ROLE analyst NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION;
-- The service sets the password of analysts and ends their sessions.
GRANT analyst TO payments WITH ADMIN TRUE, INHERIT TRUE, SET FALSE;
ALTER DATABASE payments OWNER TO payments;
ALTER SCHEMA public OWNER TO payments;
REVOKE CONNECT ON DATABASE postgres, template1 FROM PUBLIC;
REVOKE TEMPORARY ON DATABASE payments FROM PUBLIC;

-- With these an analyst could hold up the service. Only a superuser can take them from everybody.
DO $$
DECLARE
  signature text;
BEGIN
  FOR signature IN
    SELECT oid::regprocedure::text FROM pg_proc
     WHERE pronamespace = 'pg_catalog'::regnamespace
       AND (proname ~ '^(pg_(try_)?advisory|lo_)'
            OR proname IN ('loread', 'lowrite', 'pg_notify', 'pg_logical_emit_message'))
       AND has_function_privilege('analyst', oid, 'EXECUTE')
  LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', signature);
    EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO payments', signature);
  END LOOP;
END
$$;

ALTER ROLE postgres PASSWORD NULL;
COMMIT;
