/** Builds the treasury's transactions. The signer decodes and checks them independently. */
import {
  Account,
  Address,
  Contract,
  decodeAddressToMuxedAccount,
  FeeBumpTransaction,
  Memo,
  nativeToScVal,
  Operation,
  type Transaction,
  TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk';
import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { TransferOrder, Unsigned } from '../../ports.ts';
import { accountOf } from '../addresses.ts';
import { callOf, isEntryOrder } from '../authorization.ts';
import { cctpOperation } from '../cctp.ts';
import { stellarChain, stellarChainId } from '../config.ts';
import { callOperation } from '../contractCall.ts';
import { assetContractOf, assetOf } from '../tokens.ts';
import { isSend, sendCall } from '../usdt0.ts';

/** XDR in base64. The signer replaces all its signatures. */
export interface StellarPayload {
  readonly envelope: string;
}

export interface Offer {
  /** Stroops per operation. */
  readonly inclusion: bigint;
  /** Stroops for the resources of a contract call. */
  readonly resources: bigint;
}

export interface Building {
  /** Account whose sequence number is used up. */
  readonly account: string;
  readonly nonce: bigint;
  readonly networkPassphrase: string;
  /** Unix seconds; 0 for ever. */
  readonly validUntil_s: number;
  readonly inclusion: bigint;
}

/** Pays the order's token to an account by a payment, to a contract by `transfer` of the asset's own contract. */
const transferOf = (
  { token, receiver, amount }: TransferOrder,
  from: string,
  networkPassphrase: string,
): xdr.Operation =>
  accountOf(receiver) === undefined
    ? new Contract(assetContractOf(token, networkPassphrase)).call(
        'transfer',
        new Address(from).toScVal(),
        new Address(receiver).toScVal(),
        nativeToScVal(amount, { type: 'i128' }),
      )
    : Operation.payment({
        destination: receiver,
        asset: assetOf(token),
        amount: formatAmount(amount, token.decimals),
      });

/** The same operation by an account other than the transaction's own. */
export function actingFor(account: string, operation: xdr.Operation): xdr.Operation {
  const acting = xdr.Operation.fromXDR(operation.toXDR());
  acting.sourceAccount(decodeAddressToMuxedAccount(account));
  return acting;
}

/**
 * Operation and memo of an order. Every memo is sent as a text, including digits: receivers treat an id and its digits as the same memo.
 * @param ledger the newest one, from which an allowance is dated
 */
export function actOf(
  order: TransferOrder,
  from: string,
  { networkPassphrase, ledger }: { readonly networkPassphrase: string; readonly ledger: bigint },
): Act {
  if (order.form?.kind === 'anchor') return { operation: nothing(), memo: Memo.hash(order.form.hash) };
  if (isEntryOrder(order)) return { operation: callOf(order), memo: Memo.none() };
  if (isSend(order)) return { operation: callOperation(sendCall(order, from)), memo: Memo.none() };
  const burnsOrMints = cctpOperation(order, from, ledger);
  if (burnsOrMints) return { operation: burnsOrMints, memo: Memo.none() };
  const memo = order.receiverMemo === null ? Memo.none() : Memo.text(order.receiverMemo);
  return { operation: transferOf(order, from, networkPassphrase), memo };
}

/** The one operation of a transaction, and its memo. */
export interface Act {
  readonly operation: xdr.Operation;
  readonly memo: Memo;
}

export function buildTransaction({ operation, memo }: Act, building: Building): Transaction {
  const { account, nonce, networkPassphrase, validUntil_s, inclusion } = building;
  const builder = new TransactionBuilder(new Account(account, (nonce - 1n).toString()), {
    fee: inclusion.toString(),
    networkPassphrase,
    timebounds: { minTime: 0, maxTime: validUntil_s },
  }).addOperation(operation);
  return builder.addMemo(memo).build();
}

/** Only uses up a sequence number: no account's sequence is below 0. */
export const nothing = (): xdr.Operation => Operation.bumpSequence({ bumpTo: '0' });

export function unsignedOf(
  order: TransferOrder,
  { account, nonce, validUntil_s }: Pick<Building, 'account' | 'nonce' | 'validUntil_s'>,
  transaction: Transaction | FeeBumpTransaction,
  offer: Offer,
): Unsigned {
  const payload: StellarPayload = { envelope: transaction.toEnvelope().toXDR('base64') };
  return {
    chainId: stellarChainId,
    account,
    nonce,
    order,
    validUntil: validUntil_s === 0 ? null : String(validUntil_s),
    fee: {
      maxFee: transaction.fee,
      inclusion: offer.inclusion.toString(),
      resources: offer.resources.toString(),
    },
    payload,
  };
}

/** The same transaction with another sequence number, also in its fee bump. */
export function renumbered(unsigned: Unsigned, nonce: bigint): Unsigned {
  const envelope = xdr.TransactionEnvelope.fromXDR((unsigned.payload as StellarPayload).envelope, 'base64');
  const inner =
    envelope.switch() === xdr.EnvelopeType.envelopeTypeTxFeeBump() ? envelope.feeBump().tx().innerTx() : envelope;
  inner.v1().tx().seqNum(xdr.Int64.fromString(nonce.toString()));
  const payload: StellarPayload = { envelope: envelope.toXDR('base64') };
  return { ...unsigned, nonce, payload };
}

/** The transaction itself, or the one within a fee bump. */
export function innermost(bytes: string, networkPassphrase: string): Transaction {
  const parsed = TransactionBuilder.fromXDR(bytes, networkPassphrase);
  return parsed instanceof FeeBumpTransaction ? parsed.innerTransaction : parsed;
}

/** Empty order, for a transaction that is no transfer. */
export function noOrder(account: string): TransferOrder {
  const [token] = stellarChain().tokens;
  assert(token !== undefined, 'Stellar has a token');
  return { chainId: stellarChainId, token, receiver: account, receiverMemo: null, amount: 0n };
}
