/** Relays on Stellar: a rail of the relay account, and queries about authorization entries. */

import { createHash } from 'node:crypto';
import {
  Address,
  buildAuthorizationEntryPreimage,
  Keypair,
  Memo,
  Networks,
  nativeToScVal,
  Operation,
  StrKey,
  xdr,
} from '@stellar/stellar-sdk';
import { findToken } from '../../../domain/chains.ts';
import { assert, refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import {
  type AuthorizationOrder,
  PayoutBlocked,
  type Relaying,
  type SignedAuthorization,
  type WalletAuthorizations,
} from '../ports.ts';
import { holdingOf, payableThrough } from './accounts.ts';
import { accountOf, canonicalStellarAddress, memoIn } from './addresses.ts';
import { entryIn, entryOf, hexOf, isEntryOrder, isSignedByPayer, muxedOf, transferIn } from './authorization.ts';
import { type StellarConfig, stellarChain, stellarChainId } from './config.ts';
import { rehearse } from './payouts/preflight.ts';
import { createStellarRelayRail } from './payouts/rail.ts';
import { buildTransaction } from './payouts/transaction.ts';
import type { StellarNode, StellarRpc } from './rpc.ts';
import { assetContractOf, assetOf } from './tokens.ts';

export function createStellarRelaying(config: StellarConfig, account: string, rpc: StellarRpc): Relaying {
  const { networkPassphrase, treasury } = config;
  const { rail, costOf } = createStellarRelayRail(config, account, rpc);
  const usdc = findToken(stellarChain(), 'USDC');
  const contractOf = (token: { readonly address: string }) => assetContractOf(token, networkPassphrase);

  function authorizationOf(entry: xdr.SorobanAuthorizationEntry): SignedAuthorization | null {
    const transfer = transferIn(entry);
    if (!transfer) return null;
    const token = stellarChain().tokens.find((each) => contractOf(each) === transfer.contract);
    const { from, to, amount, nonce, validUntil } = transfer;
    return {
      chainId: stellarChainId,
      tokenAddress: token?.address ?? transfer.contract,
      from,
      to,
      value: amount.toString(),
      validAfter: '0',
      validBefore: String(validUntil),
      nonce,
      signature: hexOf(entry),
    };
  }

  return {
    rail,
    network: networkPassphrase === Networks.PUBLIC ? 'stellar:pubnet' : 'stellar:testnet',
    termsOf: async ({ address }) => (address === usdc?.address ? { kind: 'entry' } : null),
    assetOf: contractOf,
    receiverOf: ({ address, memo, contract }) =>
      address === treasury && memo !== null && contract === null ? muxedOf(address, memo) : null,
    depositIn(receiver) {
      const [address, memo] = isAccount(receiver) ? [accountOf(receiver), memoIn(receiver)] : [];
      return address === treasury && memo ? { address, memo } : null;
    },

    read(transaction) {
      const entry = entryOf(transaction, networkPassphrase);
      return entry && authorizationOf(entry);
    },
    wallets: createStellarWalletAuthorizations(config, account, rpc, authorizationOf),

    async signatureOf({ token, payer, receiver, amount, validBefore, nonce }, _terms, signature) {
      const entry = entryIn(signature);
      const transfer = entry && transferIn(entry);
      // Neither account of ours authorizes anything here.
      if (!entry || !transfer || payer === treasury || payer === account) return null;
      const same =
        transfer.contract === contractOf(token) &&
        transfer.from === payer &&
        transfer.to === receiver &&
        transfer.amount === amount &&
        transfer.nonce === nonce &&
        BigInt(transfer.validUntil) === validBefore;
      return same && isSignedByPayer(entry, networkPassphrase) ? signature : null;
    },

    nonceIn: (text) => (/^-?(0|[1-9][0-9]{0,18})$/.test(text) ? text : null),
    // Programs choose their own nonces. The ledger refuses a second entry of one account with this one.
    nonceOf: entryNonce,
    accountOf: (text) => (isAccount(text) ? canonicalStellarAddress(text) : null),
    async simulate(order, signal) {
      assert(isEntryOrder(order), 'this relay sends authorization entries on Stellar');
      return { fee: await rpc.answer((node) => costOf(node, order), signal), rent: 0n };
    },
  };
}

const isAccount = (text: string): boolean =>
  StrKey.isValidEd25519PublicKey(text) || StrKey.isValidMed25519PublicKey(text);

// Authorization entries that payers' wallets in pages sign, such as Freighter: the service prepares them, and puts
// the signature in.

/** Time to read and sign: 15 minutes of ledgers that close every 5 s. */
const validFor_ledgers = 180n;
/** An entry without its signature is about 300 bytes. */
const entryMax_characters = 1_024;

/** Nonce of an entry: 64 bits with a sign, derived one-way. */
const entryNonce = (text: string): string => createHash('sha256').update(text).digest().readBigInt64BE().toString();

/** @param account that pays the fee of the simulation @param authorizationOf reads an entry; null for one that is no transfer */
function createStellarWalletAuthorizations(
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
      const entry = orderedEntryIn(text);
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
function orderedEntryIn(text: string): xdr.SorobanAuthorizationEntry | null {
  if (text.length > entryMax_characters) return null;
  try {
    const entry = xdr.SorobanAuthorizationEntry.fromXDR(text, 'base64');
    return entry.toXDR('base64') === text ? entry : null;
  } catch {
    return null;
  }
}
