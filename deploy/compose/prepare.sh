#!/bin/sh
# Run by the service `prepare` of docker-compose.scale.yml, in the folder that is ./secrets outside: passwords and certificates. Makes what
# is missing, renews certificates that end within a month, and changes nothing else. Each folder is mounted where its files are used.
# Arguments are for its spec: the folder, and whose the files become.
set -eu
umask 077
cd "${1:-/secrets}"

# The user of the service and of the event store in their images.
owner=${2:-1000:1000}
renew_s=$((30 * 24 * 3600))

# Whole or not at all: a run may be cut short anywhere.
keep() {
  file=$1
  shift
  [ -s "$file" ] && return
  "$@" >"$file.new"
  [ -s "$file.new" ]
  mv "$file.new" "$file"
  echo "made $file"
}
copy() {
  cmp -s "$1" "$2" && return
  cp "$1" "$2.new"
  mv "$2.new" "$2"
}
random() { openssl rand -hex "$1"; }
# EventStoreDB reads RSA keys.
key() { openssl genrsa -traditional 2048 2>/dev/null; }

authority() {
  mkdir -p "authority/$1"
  keep "authority/$1/ca.key" key
  keep "authority/$1/ca.crt" openssl req -x509 -key "authority/$1/ca.key" -sha256 -days 3650 -subj "/CN=$2" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
}

# $1 authority, $2 folder and name of certificate, $3 of its key, $4 common name, $5 name in DNS
certificate() {
  keep "$3" key
  if [ -s "$2" ] && openssl x509 -checkend "$renew_s" -noout -in "$2" >/dev/null; then return; fi
  openssl req -new -key "$3" -subj "/CN=$4" -out request.new
  printf '%s\n' "subjectAltName=DNS:$5,DNS:localhost,IP:127.0.0.1" 'basicConstraints=CA:FALSE' \
    'keyUsage=critical,digitalSignature,keyEncipherment' 'extendedKeyUsage=serverAuth,clientAuth' >extensions.new
  openssl x509 -req -in request.new -CA "authority/$1/ca.crt" -CAkey "authority/$1/ca.key" -set_serial "0x$(random 16)" \
    -sha256 -days 397 -extfile extensions.new -out "$2.new" 2>/dev/null
  mv "$2.new" "$2"
  rm request.new extensions.new
  echo "made $2"
}

mkdir -p service subscribers signer postgres eventstore-users

keep service/master_key random 32
copy service/master_key signer/master_key
keep postgres/password random 24
keep service/database_url echo "postgres://payments:$(cat postgres/password)@postgres:5432/payments"

# The event store: names by which nodes and clients reach it. EventStoreDB wants all nodes to have this common name.
authority eventstore 'payment intents event store'
nodes=eventstore-a:2113,eventstore-b:2113,eventstore-c:2113
for node in eventstore-a eventstore-b eventstore-c; do
  mkdir -p "$node/ca"
  copy authority/eventstore/ca.crt "$node/ca/ca.crt"
  certificate eventstore "$node/node.crt" "$node/node.key" eventstoredb-node "$node"
done
copy authority/eventstore/ca.crt eventstore-users/ca.crt
for user in service signer; do
  keep "eventstore-users/$user" random 24
  copy authority/eventstore/ca.crt "$user/eventstore-ca.crt"
  keep "$user/eventstore_url" \
    echo "esdb+discover://payments-$user:$(cat eventstore-users/$user)@$nodes?tlsCaFile=/run/secrets/eventstore-ca.crt"
done

# The wire to the signer: an authority for this alone.
authority signing 'payment intents signing'
for end in signer subscribers; do
  copy authority/signing/ca.crt "$end/ca.pem"
  certificate signing "$end/cert.pem" "$end/key.pem" "$end" "$end.internal"
done
keep signer/passphrase random 32

chown -R "$owner" service subscribers signer eventstore-a eventstore-b eventstore-c eventstore-users
