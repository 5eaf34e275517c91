/** What a contract call would do, need and cost. */
import { randomBytes } from 'node:crypto';
import { Address, SorobanDataBuilder, xdr } from '@stellar/stellar-sdk';
import { type HostCall, type HostResult, runAuthorized, runWith } from '../contracts/hostFunction.ts';
import { type CallTree, type NeededAuthorization, recording } from '../host/authorization.ts';
import { HostError, hostErrorText } from '../host/errors.ts';
import { accountKey, instanceKey, nonceKey } from '../ledger/entries.ts';
import { ledgerEntry } from '../ledger/state.ts';
import { type Change, recordingView, type Touched } from '../ledger/view.ts';
import { resourceFee } from '../operations/invokeHostFunction.ts';
import { type OperationOf, plainAccount } from '../operations/operation.ts';
import { parseEnvelope, type Submitted } from '../transactions/envelope.ts';
import { base64, int64 } from '../xdr.ts';
import { invalid, type Method, type Params, textParam } from './method.ts';

/** Written into transactions; nothing is metered. */
const resources = { instructions: 2_000_000, readBytes: 5_000, writeBytes: 5_000 };

/** Authorizations of the transaction are checked; without any, the needed ones are recorded, as nodes do by default. */
export const simulateTransaction: Method = ({ chain }, params) => {
  const latestLedger = chain.history.head().sequence;
  const submitted = parsed(textParam(params, 'transaction'), chain.network.passphrase);
  const [operation] = submitted.transaction.operations;
  if (operation?.type !== 'invokeHostFunction' || submitted.transaction.operations.length > 1) {
    return { error: 'Transaction contains unsupported operation type', latestLedger };
  }
  const layer = chain.state.view();
  const { view, touched } = recordingView(layer);
  const call = { network: chain.network, ledger: chain.next(), view, function: operation.func };
  const source = plainAccount(operation.source ?? submitted.transaction.source);
  try {
    const { result, auth } = run(call, operation, source, touched, params);
    view.commit();
    return {
      transactionData: base64(announcement(touched)),
      minResourceFee: resourceFee.toString(),
      events: result.events.map((event) => base64(new xdr.DiagnosticEvent({ inSuccessfulContractCall: true, event }))),
      results: [{ auth: auth.map(base64), xdr: base64(result.value) }],
      stateChanges: layer.changes().map((change) => stateChange(change, latestLedger)),
      latestLedger,
    };
  } catch (error) {
    if (error instanceof HostError) return { error: hostErrorText(error), events: [], latestLedger };
    throw error;
  }
};

interface Simulated {
  readonly result: HostResult;
  readonly auth: readonly xdr.SorobanAuthorizationEntry[];
}

function run(
  call: HostCall,
  { auth = [] }: OperationOf<'invokeHostFunction'>,
  source: string,
  touched: Touched,
  params: Params,
): Simulated {
  const mode = params['authMode'] ?? (auth.length > 0 ? 'enforce' : 'record');
  if (mode === 'enforce') return { auth, result: runAuthorized(call, auth, source) };
  const recorder = recording({ anywhere: mode === 'record_allow_nonroot' });
  const result = runWith(recorder, call);
  return { result, auth: recorder.needed().map((needed) => entryFor(needed, source, touched)) };
}

/** The entry that the address has to sign. The ledger entries that its check will touch are announced, too. */
function entryFor(
  { address, invocation }: NeededAuthorization,
  source: string,
  touched: Touched,
): xdr.SorobanAuthorizationEntry {
  const rootInvocation = treeOf(invocation);
  if (address === source) {
    const credentials = xdr.SorobanCredentials.sorobanCredentialsSourceAccount();
    return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
  }
  const nonce = int64(randomBytes(8).readBigInt64BE());
  const usedNonce = nonceKey(address, nonce);
  const signer = address.startsWith('C') ? instanceKey(address) : accountKey(address);
  touched.writes.set(base64(usedNonce), usedNonce);
  touched.reads.set(base64(signer), signer);
  const credentials = xdr.SorobanCredentials.sorobanCredentialsAddress(
    new xdr.SorobanAddressCredentials({
      address: new Address(address).toScAddress(),
      nonce,
      signatureExpirationLedger: 0,
      signature: xdr.ScVal.scvVoid(),
    }),
  );
  return new xdr.SorobanAuthorizationEntry({ credentials, rootInvocation });
}

const treeOf = ({ call, below }: CallTree): xdr.SorobanAuthorizedInvocation =>
  new xdr.SorobanAuthorizedInvocation({ function: call, subInvocations: below.map(treeOf) });

function announcement({ reads, writes }: Touched): xdr.SorobanTransactionData {
  const readOnly = [...reads].filter(([key]) => !writes.has(key)).map(([, key]) => key);
  return new SorobanDataBuilder()
    .setReadOnly(readOnly)
    .setReadWrite([...writes.values()])
    .setResources(resources.instructions, resources.readBytes, resources.writeBytes)
    .setResourceFee(resourceFee.toString())
    .build();
}

function stateChange({ key, before, after }: Change, ledger: number): object {
  const type = before ? (after ? 'updated' : 'deleted') : 'created';
  const entry = (data: xdr.LedgerEntryData | undefined) => (data ? base64(ledgerEntry(data, ledger)) : null);
  return { type, key: base64(key), before: entry(before), after: entry(after) };
}

function parsed(envelopeXdr: string, passphrase: string): Submitted {
  try {
    return parseEnvelope(envelopeXdr, passphrase);
  } catch (error) {
    throw invalid(`Could not unmarshal transaction: ${(error as Error).message}`);
  }
}
