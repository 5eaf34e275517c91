#!/bin/sh
# Run by the service `eventstore-users` of docker-compose.scale.yml: makes the service's users of the event store. One that is there stays.
set -eu

# $1 name, $2 groups as JSON. A cluster without a leader yet refuses: tried for two minutes.
create() {
  body="{\"loginName\": \"payments-$1\", \"fullName\": \"payments-$1\", \"password\": \"$(cat "/run/secrets/$1")\", \"groups\": $2}"
  for _ in $(seq 60); do
    status=$(curl --silent --output /dev/null --write-out '%{http_code}' --max-time 5 --cacert /run/secrets/ca.crt \
      --user "admin:$ADMIN_PASSWORD" --header 'Content-Type: application/json' --data "$body" https://eventstore-a:2113/users) || true
    case "$status" in
      201 | 409) echo "payments-$1 is there" && return ;;
      401) echo "the event store does not take EVENTSTORE_ADMIN_PASSWORD: it was another one at the first start" && return 1 ;;
    esac
    sleep 2
  done
  echo "the event store did not make the user payments-$1 ($status)"
  return 1
}

# Who follows the whole log must be an administrator; the signer reads single streams.
create service '["$admins"]'
create signer '[]'
