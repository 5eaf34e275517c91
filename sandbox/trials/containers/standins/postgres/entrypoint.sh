#!/bin/sh
# What the official image's entry point does, as far as the compose files need it.
set -eu
export PGDATA=/var/lib/postgresql/18/docker
bin=/usr/local/postgres/bin
password=${POSTGRES_PASSWORD:-$(cat "${POSTGRES_PASSWORD_FILE:-/dev/null}")}
as_postgres() { setpriv --reuid=999 --regid=999 --clear-groups "$@"; }
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  install --directory --owner=999 --group=999 --mode=0700 /var/lib/postgresql/18 "$PGDATA"
  printf %s "$password" >/tmp/password
  chown 999 /tmp/password
  as_postgres "$bin/initdb" --pgdata="$PGDATA" --username="$POSTGRES_USER" --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C
  rm /tmp/password
  printf 'host all all all scram-sha-256\n' >>"$PGDATA/pg_hba.conf"
  printf 'CREATE DATABASE %s;\n' "$POSTGRES_DB" | as_postgres "$bin/postgres" --single -D "$PGDATA" postgres >/dev/null
  # Without psql: one statement per line, without comments and psql's own commands.
  for script in /docker-entrypoint-initdb.d/*.sql; do
    [ -e "$script" ] || continue
    awk -v password="$password" '
      /^ *--/ || /^\\/ { next }
      { line = line " " $0; inside = (inside + gsub(/\$\$/, "$$")) % 2 }
      !inside && /; *$/ { gsub(/:\047password\047/, "\047" password "\047", line); print line; line = "" }
    ' "$script" | as_postgres "$bin/postgres" --single -D "$PGDATA" "$POSTGRES_DB" >/dev/null
  done
fi
shift
exec setpriv --reuid=999 --regid=999 --clear-groups "$bin/postgres" -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories='' "$@"
