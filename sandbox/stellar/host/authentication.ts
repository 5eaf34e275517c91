/** Checks that an authorization of a transaction was signed by its address, has not expired and was never used. */
import { Address, buildAuthorizationEntryPreimage, StrKey, xdr } from '@stellar/stellar-sdk';
import { isEd25519 } from '../../../src/chains/ed25519.ts';
import { accountKey, dataEntry, nonceKey } from '../ledger/entries.ts';
import { addressVal, inMap, sha256, symbol, symbolMap } from '../xdr.ts';
import type { GivenAuthorization } from './authorization.ts';
import { HostError } from './errors.ts';
import type { Invocation } from './invocation.ts';

/** The transaction's source needs no separate signature here: it signed the whole transaction. */
export function givenAuthorization(
  entry: xdr.SorobanAuthorizationEntry,
  source: string,
  invocation: () => Invocation,
): GivenAuthorization {
  const credentials = addressCredentials(entry.credentials());
  return {
    address: credentials ? Address.fromScAddress(credentials.address()).toString() : source,
    invocation: entry.rootInvocation(),
    authenticate() {
      if (credentials) authenticate(invocation(), entry, credentials);
    },
  };
}

function addressCredentials(credentials: xdr.SorobanCredentials): xdr.SorobanAddressCredentials | undefined {
  switch (credentials.switch().name) {
    case 'sorobanCredentialsSourceAccount':
      return undefined;
    case 'sorobanCredentialsAddress':
      return credentials.address();
    case 'sorobanCredentialsAddressV2':
      return credentials.addressV2();
    default:
      throw refused('delegated credentials are not modelled here');
  }
}

function authenticate(
  invocation: Invocation,
  entry: xdr.SorobanAuthorizationEntry,
  credentials: xdr.SorobanAddressCredentials,
): void {
  const address = Address.fromScAddress(credentials.address()).toString();
  const expiry = credentials.signatureExpirationLedger();
  if (expiry < invocation.ledger.sequence) {
    throw refused(`signature has expired at ledger ${expiry}, this is ${invocation.ledger.sequence}`);
  }
  useNonce(invocation, address, credentials.nonce());

  const payload = sha256(buildAuthorizationEntryPreimage(entry, expiry, invocation.network.passphrase).toXDR());
  if (StrKey.isValidContract(address)) askContract(invocation, address, payload, credentials.signature(), entry);
  else checkSignatures(invocation, address, payload, credentials.signature());
}

/** Each nonce counts once: its entry on the ledger proves its use. */
function useNonce(invocation: Invocation, address: string, nonce: xdr.Int64): void {
  const key = nonceKey(address, nonce);
  if (invocation.view().get(key)) throw new HostError('Auth', 'ExistingValue', `nonce already exists for ${address}`);
  invocation.view().put(key, dataEntry(key, xdr.ScVal.scvVoid()));
}

/** An account authorizes with signatures of its signers whose total weight reaches its medium threshold. */
function checkSignatures(invocation: Invocation, account: string, payload: Buffer, given: xdr.ScVal): void {
  const entry = invocation.view().get(accountKey(account))?.account();
  if (!entry) throw refused(`no account ${account}`);
  const signatures = given.switch().name === 'scvVec' ? (given.vec() ?? []) : [];
  if (signatures.length === 0) throw refused(`no signature of ${account}`);

  const [master = 0, , medium = 0] = entry.thresholds();
  const weights = new Map([[account, master]]);
  for (const signer of entry.signers()) {
    const key = signer.key();
    if (key.switch().name !== 'signerKeyTypeEd25519') continue;
    weights.set(StrKey.encodeEd25519PublicKey(key.ed25519()), signer.weight());
  }
  let weight = 0;
  for (const signature of signatures) {
    const signer = signerOf(signature, payload);
    weight += weights.get(signer) ?? 0;
    if (!weights.delete(signer)) throw refused(`${signer} signs twice or not for ${account}`);
  }
  if (weight < Math.max(1, medium)) throw refused(`signatures weigh ${weight} of ${medium} for ${account}`);
}

function signerOf(signature: xdr.ScVal, payload: Buffer): string {
  const publicKey = inMap(signature, 'public_key')?.bytes();
  const bytes = inMap(signature, 'signature')?.bytes();
  if (publicKey?.length !== 32 || !bytes) throw refused('a signature is a map of public_key and signature');
  const signer = StrKey.encodeEd25519PublicKey(publicKey);
  if (!isEd25519(publicKey, payload, bytes)) throw refused(`the signature of ${signer} does not match`);
  return signer;
}

/** A contract's own rules: `__check_auth` receives the signed payload, the signature and the calls to authorize. */
function askContract(
  invocation: Invocation,
  contract: string,
  payload: Buffer,
  signature: xdr.ScVal,
  entry: xdr.SorobanAuthorizationEntry,
): void {
  const contexts = xdr.ScVal.scvVec(contextsOf(entry.rootInvocation()));
  try {
    invocation.callReserved(contract, '__check_auth', [xdr.ScVal.scvBytes(payload), signature, contexts]);
  } catch (error) {
    if (error instanceof HostError) throw refused(`contract ${contract} refuses: ${error.message}`);
    throw error;
  }
}

function contextsOf(node: xdr.SorobanAuthorizedInvocation): xdr.ScVal[] {
  const what = node.function();
  if (what.switch().name !== 'sorobanAuthorizedFunctionTypeContractFn') {
    throw refused('contracts that authorize the creation of contracts are not modelled here');
  }
  const call = what.contractFn();
  const context = symbolMap({
    args: xdr.ScVal.scvVec(call.args()),
    contract: addressVal(Address.fromScAddress(call.contractAddress()).toString()),
    fn_name: symbol(call.functionName().toString()),
  });
  return [xdr.ScVal.scvVec([symbol('Contract'), context]), ...node.subInvocations().flatMap(contextsOf)];
}

const refused = (message: string) => new HostError('Auth', 'InvalidAction', `failed authentication: ${message}`);
