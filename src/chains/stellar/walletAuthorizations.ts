/** Authorization entries that payers' wallets in pages sign, such as Freighter: the service prepares them, and puts the signature in. */
import { createHash } from 'node:crypto';
import {
  Address,
  buildAuthorizationEntryPreimage,
  Keypair,
  Memo,
  nativeToScVal,
  Operation,
  xdr,
} from '@stellar/stellar-sdk';
import { refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import {
  type AuthorizationOrder,
  PayoutBlocked,
  type SignedAuthorization,
  type WalletAuthorizations,
} from '../ports.ts';
import { holdingOf, payableThrough } from './accounts.ts';
import { accountOf } from './addresses.ts';
import { transferIn } from './authorization.ts';
import type { StellarConfig } from './config.ts';
import { rehearse } from './payouts/preflight.ts';
import { buildTransaction } from './payouts/transaction.ts';
import type { StellarNode, StellarRpc } from './rpc.ts';
import { assetContractOf, assetOf } from './tokens.ts';

/** Time to read and sign: 15 minutes of ledgers that close every 5 s. */
const validFor_ledgers = 180n;
/** An entry without its signature is about 300 bytes. */
const entryMax_characters = 1_024;

/** Nonce of an entry: 64 bits with a sign, derived one-way. */
export const entryNonce = (text: string): string =>
  createHash('sha256').update(text).digest().readBigInt64BE().toString();

/** @param account that pays the fee of the simulation @param authorizationOf reads an entry; null for one that is no transfer */
export function createStellarWalletAuthorizations(
  config: StellarConfig,
  account: string,
  rpc: StellarRpc,
  authorizationOf: (entry: xdr.SorobanAuthorizationEntry) => SignedAuthorization | null,
): WalletAuthorizations<null> {
  const { networkPassphrase, treasury, fees } = config;
  const late = rpc.as('late');

  async function prepareAt(node: StellarNode, order: AuthorizationOrder) {
    const { token, payer, amount, nonce } = order;
    const { ledger, trustlines } = await holdingOf(node, payer, [assetOf(token)]);
    if (payableThrough(trustlines[0]) < amount)
      return refuse(
        'conflict',
        `the account ${payer} has less than ${formatAmount(amount, token.decimals)} ${token.symbol}: choose another one`,
        '/token',
      );
    const call = transferCall(order, networkPassphrase);
    const func = xdr.HostFunction.hostFunctionTypeInvokeContract(call);
    const operation = Operation.invokeHostFunction({ func, auth: [] });
    const building = { account, nonce: 1n, networkPassphrase, validUntil_s: 0, inclusion: fees.inclusion };
    await rehearse(node, buildTransaction({ operation, memo: Memo.none() }, building), fees);
    const validUntil = Number(ledger + validFor_ledgers);
    const entry = unsignedEntry(call, { payer, nonce, validUntil });
    const preimage = buildAuthorizationEntryPreimage(entry, validUntil, networkPassphrase);
    return { entry: entry.toXDR('base64'), preimage: preimage.toXDR('base64') };
  }

  return {
    readTerms: async () => null,

    async prepare(order, _terms, signal) {
      // An M address is an account's with a memo, and a contract's entries have other signatures.
      if (accountOf(order.payer) !== order.payer || [treasury, account].includes(order.payer))
        return refuse(
          'invalidRequest',
          'must be an account of the payer on Stellar (G…): choose another one',
          '/account',
        );
      try {
        return await late.answer((node) => prepareAt(node, order), signal);
      } catch (error) {
        if (!(error instanceof PayoutBlocked)) throw error;
        return refuse(error.reason === 'gas' ? 'relayTooDear' : 'conflict', error.message);
      }
    },

    signedEntry(text, signature) {
      const entry = entryIn(text);
      const bytes = Buffer.from(signature, 'base64');
      if (!entry || bytes.toString('base64') !== signature || bytes.length !== signature_bytes) return null;
      const transfer = transferIn(entry);
      if (!transfer) return null;
      entry.credentials().address().signature(signatureOf(transfer.from, bytes));
      return authorizationOf(entry);
    },
  };
}

/** Length of an Ed25519 signature. */
const signature_bytes = 64;

const transferCall = ({ token, payer, payTo, amount }: AuthorizationOrder, networkPassphrase: string) =>
  new xdr.InvokeContractArgs({
    contractAddress: new Address(assetContractOf(token, networkPassphrase)).toScAddress(),
    functionName: 'transfer',
    args: [new Address(payer).toScVal(), new Address(payTo).toScVal(), nativeToScVal(amount, { type: 'i128' })],
  });

interface Credentials {
  readonly payer: string;
  readonly nonce: string;
  /** Last ledger that accepts it. */
  readonly validUntil: number;
}

const unsignedEntry = (call: xdr.InvokeContractArgs, { payer, nonce, validUntil }: Credentials) =>
  new xdr.SorobanAuthorizationEntry({
    rootInvocation: new xdr.SorobanAuthorizedInvocation({
      function: xdr.SorobanAuthorizedFunction.sorobanAuthorizedFunctionTypeContractFn(call),
      subInvocations: [],
    }),
    credentials: xdr.SorobanCredentials.sorobanCredentialsAddress(
      new xdr.SorobanAddressCredentials({
        address: new Address(payer).toScAddress(),
        nonce: xdr.Int64.fromString(nonce),
        signatureExpirationLedger: validUntil,
        signature: xdr.ScVal.scvVoid(),
      }),
    ),
  });

/** A classic account's signature, as the network reads it (CAP-46-11). */
function signatureOf(account: string, signature: Buffer): xdr.ScVal {
  const fields = { public_key: Keypair.fromPublicKey(account).rawPublicKey(), signature };
  const map = Object.entries(fields).map(
    ([name, bytes]) => new xdr.ScMapEntry({ key: xdr.ScVal.scvSymbol(name), val: xdr.ScVal.scvBytes(bytes) }),
  );
  return xdr.ScVal.scvVec([xdr.ScVal.scvMap(map)]);
}

/** The entry of a text in base64; null for any other text. */
function entryIn(text: string): xdr.SorobanAuthorizationEntry | null {
  if (text.length > entryMax_characters) return null;
  try {
    const entry = xdr.SorobanAuthorizationEntry.fromXDR(text, 'base64');
    return entry.toXDR('base64') === text ? entry : null;
  } catch {
    return null;
  }
}
