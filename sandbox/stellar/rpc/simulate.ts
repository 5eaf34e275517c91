/** Effects, needs and cost of a contract call. */
import { randomBytes } from 'node:crypto';
import { Address, SorobanDataBuilder, xdr } from '@stellar/stellar-sdk';
import type { Chain } from '../chain/chain.ts';
import { type HostCall, type HostResult, runAuthorized, runWith } from '../contracts/hostFunction.ts';
import { diagnosed } from '../events.ts';
import { type CallTree, type NeededAuthorization, recording } from '../host/authorization.ts';
import { HostError, hostErrorText } from '../host/errors.ts';
import { accountKey, dataEntry, instanceKey, nonceKey } from '../ledger/entries.ts';
import { ledgerEntry } from '../ledger/state.ts';
import { type Change, recordingView, type Touched, type View } from '../ledger/view.ts';
import { type Operation, type OperationOf, plainAccount } from '../operations/operation.ts';
import { announcedResourceFee } from '../operations/resourceFees.ts';
import { parseEnvelope, type Submitted } from '../transactions/envelope.ts';
import { base64, int64, strictBase64 } from '../xdr.ts';
import type { Method } from './method.ts';
import { formatProblem, readParams, structure, text, uint } from './params.ts';

type HostOperation = OperationOf<'invokeHostFunction'>;

/** Written into transactions; nothing is metered. */
const resources = { instructions: 2_000_000, readBytes: 5_000, writeBytes: 5_000 };

const request = structure({
  transaction: text,
  authMode: text,
  xdrFormat: text,
  resourceConfig: structure({ instructionLeeway: uint }),
});
const authModes = ['enforce', 'record', 'record_allow_nonroot'];

/**
 * Checks the transaction's authorizations; without any, records the needed ones, as nodes do by default. A refused simulation is a result
 * with an `error`, of ledger 0.
 */
export const simulateTransaction: Method = ({ chain }, params) => {
  const { transaction, authMode, xdrFormat } = readParams(request, params);
  const format = formatProblem(xdrFormat);
  if (format !== undefined) return { error: format, latestLedger: 0 };
  const submitted = parsed(transaction, chain.network.passphrase);
  if (!submitted) return { error: 'Could not unmarshal transaction', latestLedger: 0 };
  const [operation] = submitted.transaction.operations;
  if (!operation || submitted.transaction.operations.length > 1)
    return { error: 'Transaction contains more than one operation', latestLedger: 0 };
  const problem = modeProblem(authMode, operation);
  if (problem !== undefined) return { error: problem, latestLedger: 0 };
  if (operation.type !== 'invokeHostFunction')
    return { error: `transaction contains unsupported operation type: ${typeName(operation)}`, latestLedger: 0 };
  return simulate(chain, operation, plainAccount(operation.source ?? submitted.transaction.source), authMode);
};

const typeName = ({ type }: Operation): string => `OperationType${type.charAt(0).toUpperCase()}${type.slice(1)}`;

function modeProblem(mode: string, operation: Operation): string | undefined {
  if (mode === '') return undefined;
  if (!authModes.includes(mode)) return `optional 'authMode' must be one of ${authModes.join(',')} when included`;
  if (operation.type !== 'invokeHostFunction' || mode === 'enforce' || !operation.auth?.length) return undefined;
  return `cannot set authMode to '${mode}' with an auth footprint`;
}

function simulate(chain: Chain, operation: HostOperation, source: string, authMode: string): object {
  const latestLedger = chain.history.head().sequence;
  const layer = chain.state.view();
  const { view, touched } = recordingView(layer);
  const diagnostics: xdr.ContractEvent[] = [];
  const call = { network: chain.network, ledger: chain.next(), view, function: operation.func, diagnostics };
  const events = (succeeded: boolean) => diagnostics.map((event) => base64(diagnosed(event, succeeded)));
  try {
    const { result, auth } = run(call, operation, source, touched, authMode);
    view.commit();
    const changes = layer.changes().map((change) => stateChange(change, latestLedger));
    return {
      transactionData: base64(announcement(touched)),
      ...(diagnostics.length > 0 && { events: events(true) }),
      minResourceFee: announcedResourceFee.toString(),
      results: [{ auth: auth.map(base64), xdr: base64(result.value) }],
      ...(changes.length > 0 && { stateChanges: changes }),
      latestLedger,
    };
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    return {
      error: hostErrorText(error),
      ...(diagnostics.length > 0 && { events: events(false) }),
      latestLedger,
    };
  }
}

interface Simulated {
  readonly result: HostResult;
  readonly auth: readonly xdr.SorobanAuthorizationEntry[];
}

function run(
  call: HostCall,
  { auth = [] }: HostOperation,
  source: string,
  touched: Touched,
  authMode: string,
): Simulated {
  const mode = authMode || (auth.length > 0 ? 'enforce' : 'record');
  if (mode === 'enforce') return { auth, result: runAuthorized(call, auth, source) };
  const recorder = recording({ anywhere: mode === 'record_allow_nonroot' });
  const result = runWith(recorder, call);
  return { result, auth: recorder.needed().map((needed) => entryFor(needed, source, call.view, touched)) };
}

/** The entry that the address has to sign. The ledger entries that its check will touch are announced, too. */
function entryFor(
  { address, invocation }: NeededAuthorization,
  source: string,
  view: View,
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
  view.put(usedNonce, dataEntry(usedNonce, xdr.ScVal.scvVoid()));
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
    .setReadOnly(inOrder(readOnly))
    .setReadWrite(inOrder([...writes.values()]))
    .setResources(resources.instructions, resources.readBytes, resources.writeBytes)
    .setResourceFee(announcedResourceFee.toString())
    .build();
}

/** By type and contents, as nodes order footprints. */
const inOrder = (keys: readonly xdr.LedgerKey[]): xdr.LedgerKey[] =>
  keys.toSorted((a, b) => Buffer.compare(a.toXDR(), b.toXDR()));

function stateChange({ key, before, after }: Change, ledger: number): object {
  const type = before ? (after ? 'updated' : 'deleted') : 'created';
  const entry = (data: xdr.LedgerEntryData | undefined) => (data ? base64(ledgerEntry(data, ledger)) : null);
  return { type, key: base64(key), before: entry(before), after: entry(after) };
}

/** Undefined for an invalid envelope. */
function parsed(envelopeXdr: string, passphrase: string): Submitted | undefined {
  try {
    strictBase64(envelopeXdr);
    return parseEnvelope(envelopeXdr, passphrase);
  } catch {
    return undefined;
  }
}
