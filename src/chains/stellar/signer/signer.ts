/**
 * The treasury's key on Stellar. The signer decodes each transaction itself and compares it with the order and the limits, trusting no
 * caller.
 */

import {
  FeeBumpTransaction,
  Keypair,
  StrKey,
  type Transaction,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk';
import type { Clock } from '../../../../commands/ports.ts';
import { heldTokens } from '../../../../domain/chains.ts';
import { coinOf } from '../../../../domain/money.ts';
import { objectionToMessage, parseBurnMessage } from '../../../../domain/rebalance/burnMessage.ts';
import {
  burnableOn,
  burnTokenOn,
  type CctpChainId,
  chainOfDomain,
  contractsOn,
  domainOf,
  feeLimit,
  inMessageUnits,
  isWholeInMessages,
  standard,
  stellarCctp,
} from '../../../../domain/rebalance/cctp.ts';
import { chainOfEndpoint, counterpartyOn, messageFeeLimit, sendableOn } from '../../../../domain/rebalance/usdt0.ts';
import { epochMs, type Instant } from '../../../../domain/time.ts';
import { type AssetRef, moneyLeaves } from '../../../../domain/transfer/shapes.ts';
import type { CheckSpending } from '../../money/spending.ts';
import { type Signer, type SigningPurpose, SigningRefused, type TransferOrder, type Unsigned } from '../../ports.ts';
import { allowanceCall, burnCall, mintCall } from '../cctp.ts';
import { type StellarConfig, type StellarFees, stellarChain, stellarChainId } from '../config.ts';
import type { ContractCall } from '../contractCall.ts';
import type { StellarPayload } from '../payouts/transaction.ts';
import { callsOfSend, isSend, sendCall } from '../usdt0.ts';
import { isCall, isOrdered, lastLedgerIn } from './isOrdered.ts';

/** True if an operation has no effect: it raises the account's sequence to 0, which no account is below. */
export function doesNothing(operation: xdr.Operation): boolean {
  const body = operation.body();
  return body.switch().name === 'bumpSequence' && body.bumpSequenceOp().bumpTo().toBigInt() === 0n;
}

/** Maximum resource fee of a transaction in stroops; 0 for a transaction without a contract call. */
export function resourceFeeOf(transaction: Transaction): bigint {
  const envelope = transaction.toEnvelope();
  if (envelope.switch().name !== 'envelopeTypeTx') return 0n;
  const ext = envelope.v1().tx().ext();
  return ext.switch() === 1 ? ext.sorobanData().resourceFee().toBigInt() : 0n;
}

export const isSecret = (text: string): boolean => StrKey.isValidEd25519SecretSeed(text);

/** The account (G…) of a secret (S…). */
export const accountOfSecret = (secret: string): string => Keypair.fromSecret(secret).publicKey();

/** Maximum validity of a transfer from now on, whatever time a node reports. */
const validityMax_s = 3_600;

export interface StellarSignerDeps {
  /** S… */
  readonly secret: string;
  /** Secrets (S…) of the accounts that number transfers besides the treasury. */
  readonly channelSecrets?: readonly string[];
  readonly config: Pick<StellarConfig, 'networkPassphrase' | 'fees'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly spending: CheckSpending;
  /** The treasury's account on EVM chains, by this signer's own configuration. Default: none, so nothing is burned or minted. */
  readonly evmAccount?: string | undefined;
  /** The treasury's wallet on Solana, likewise. */
  readonly solanaAccount?: string | undefined;
}

/**
 * Signs treasury transactions on Stellar: transfers of catalogue tokens within the limits, their fee bumps, cancels, and anchored hashes,
 * and burns and mints between its own accounts; nothing else. Signing again gives the same bytes (RFC 8032).
 */
export function createStellarSigner({
  secret,
  channelSecrets = [],
  config,
  clock,
  spending,
  evmAccount,
  solanaAccount,
}: StellarSignerDeps): Signer {
  const key = Keypair.fromSecret(secret);
  const account = key.publicKey();
  const channels = new Map(channelSecrets.map((each) => Keypair.fromSecret(each)).map((own) => [own.publicKey(), own]));
  const { networkPassphrase, fees } = config;

  function examine(unsigned: Unsigned, purpose: SigningPurpose) {
    if (unsigned.chainId !== stellarChainId || unsigned.order.chainId !== stellarChainId) {
      throw new SigningRefused(
        'chain',
        `this key does not sign for chain ${unsigned.chainId} (order: ${unsigned.order.chainId})`,
      );
    }
    const { envelope } = unsigned.payload as StellarPayload;
    const whole = parse(envelope, networkPassphrase, purpose);
    const inner = whole instanceof FeeBumpTransaction ? whole.innerTransaction : whole;
    checkStellarFrame(unsigned, whole, inner, { account, channels });
    checkFee(whole, inner, fees);
    if (purpose.kind === 'cancel') {
      if (!doesNothing(operationOf(inner, purpose)) || inner.memo.value !== null) throw mismatch(purpose);
      return { whole, count: spending(unsigned, purpose, BigInt(whole.fee)) };
    }
    if (purpose.kind === 'anchor') checkAnchor(inner, unsigned.order, purpose);
    else if (purpose.kind === 'burn' && isSend(unsigned.order)) checkSend(inner, unsigned.order, purpose);
    else if (purpose.kind === 'burn') checkBurn(inner, unsigned.order, purpose);
    else if (purpose.kind === 'mint') checkMint(inner, unsigned.order, purpose);
    else if (purpose.kind === 'deployment') checkAllowance(inner, unsigned.order, purpose);
    // Dollar limits only count transfers marked as outgoing money.
    else if (!moneyLeaves(purpose.kind)) throw new SigningRefused('mismatch', `there is no ${purpose.kind} on Stellar`);
    else checkTransfer(inner, unsigned.order, purpose);
    checkValidity(inner, unsigned, purpose, clock.now());
    return { whole, count: spending(unsigned, purpose, BigInt(whole.fee) + sentAlong(unsigned.order)) };
  }

  function checkTransfer(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const known = assetsFor(order, purpose).some(
      ({ address, decimals }) => address === order.token.address && decimals === order.token.decimals,
    );
    const memo = inner.memo.value === null ? null : String(inner.memo.value);
    const ordered =
      known &&
      order.amount > 0n &&
      memo === order.receiverMemo &&
      (memo === null || inner.memo.type === 'text') &&
      isOrdered(operationOf(inner, purpose), order, { account, networkPassphrase });
    if (!ordered) throw mismatch(purpose);
  }

  /** It has no effect, like a cancel, and carries the hash. */
  function checkAnchor(inner: Transaction, { form, amount, receiver }: TransferOrder, purpose: SigningPurpose): void {
    const says = inner.memo.type === 'hash' ? Buffer.from(inner.memo.value ?? '').toString('hex') : null;
    const ordered = form?.kind === 'anchor' && form.hash === says && amount === 0n && receiver === account;
    if (!ordered || !doesNothing(operationOf(inner, purpose))) throw mismatch(purpose);
  }

  const isUsdc = ({ address, decimals }: AssetRef): boolean => {
    const listed = burnableOn(stellarChainId);
    return listed?.address === address && listed.decimals === decimals;
  };

  /** The one operation is that call and no other, without a memo. */
  function mustCall(
    inner: Transaction,
    call: ContractCall,
    purpose: SigningPurpose,
    below: readonly ContractCall[] = [],
  ): void {
    if (inner.memo.value !== null || !isCall(operationOf(inner, purpose), call, below)) throw mismatch(purpose);
  }

  /**
   * Sends USDT0 to the treasury's own account on an EVM chain: the whole amount as the minimum, no call on the destination, and lumens
   * returned to this account. The authorization allows the contracts to burn the amount and to take the bounded message fee, and nothing else.
   */
  function checkSend(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const { form, token, amount, receiver, receiverMemo } = order;
    if (form?.kind !== 'oftSend') throw mismatch(purpose);
    const destination = chainOfEndpoint(form.destinationDomain);
    const listed = sendableOn(stellarChainId);
    const isOwn =
      destination !== undefined &&
      destination !== stellarChainId &&
      evmAccount !== undefined &&
      form.recipient === evmAccount &&
      listed?.address === token.address &&
      listed.decimals === token.decimals &&
      amount > 0n &&
      isWholeInMessages(amount, token) &&
      receiver === counterpartyOn(stellarChainId) &&
      receiverMemo === null;
    if (!isOwn) throw mismatch(purpose);
    mustCall(inner, sendCall(order, account), purpose, callsOfSend(order, account, networkPassphrase));
    const [fee, limit] = [BigInt(form.messageFee), messageFeeLimit(stellarChainId)];
    if (fee <= 0n || fee > limit) throw new SigningRefused('fee', `a message fee of ${fee} stroops is above ${limit}`);
  }

  const ownOn = (chainId: CctpChainId) => (chainId === 501 ? solanaAccount : evmAccount);

  /** Burns USDC for the treasury's own account on another chain: where everybody may mint, and nobody else receives. */
  function checkBurn(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const { form, token, amount, receiver, receiverMemo } = order;
    if (form?.kind !== 'burn') throw mismatch(purpose);
    const destination = chainOfDomain(form.destinationDomain);
    const feeMax = BigInt(form.feeMax);
    const isOwn =
      destination !== undefined &&
      destination !== stellarChainId &&
      form.mintRecipient === ownOn(destination) &&
      form.finality === standard &&
      isUsdc(token) &&
      amount > 0n &&
      isWholeInMessages(amount, token) &&
      isWholeInMessages(feeMax, token) &&
      receiver === stellarCctp.minter &&
      receiverMemo === null;
    if (!isOwn) throw mismatch(purpose);
    mustCall(inner, burnCall(order, account), purpose);
    const limit = feeLimit(inMessageUnits(amount, token));
    if (feeMax < 0n || feeMax >= amount || inMessageUnits(feeMax, token) > limit)
      throw new SigningRefused('fee', `a burn’s fee limit of ${feeMax} is above ${limit} millionths`);
  }

  /** Mints for a burn by the treasury's own account on another chain, through the forwarder to this account; no other message. */
  function checkMint(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const { form, token, amount, receiver, receiverMemo } = order;
    const message = form?.kind === 'mint' ? parseBurnMessage(form.message) : undefined;
    const source = chainOfDomain(message?.sourceDomain);
    const burnToken = source && burnTokenOn(source);
    const sender = source && ownOn(source);
    const isOwn =
      form?.kind === 'mint' &&
      message !== undefined &&
      source !== undefined &&
      source !== stellarChainId &&
      burnToken !== undefined &&
      sender !== undefined &&
      objectionToMessage(form.message, {
        ...{ sourceDomain: message.sourceDomain, destinationDomain: domainOf(stellarChainId), burnToken },
        ...{ messenger: contractsOn(source).messenger, sender, receiver: account, amount: message.amount },
        ...{ feeMax: message.feeMax, finality: message.minFinality },
      }) === undefined &&
      isUsdc(token) &&
      isWholeInMessages(amount, token) &&
      inMessageUnits(amount, token) === message.amount - message.feeExecuted &&
      receiver === account &&
      receiverMemo === null;
    if (!isOwn) throw mismatch(purpose);
    mustCall(inner, mintCall(order), purpose);
  }

  /** Lets the protocol's messenger take USDC, which it does on this account's own calls alone. Any last ledger is accepted. */
  function checkAllowance(inner: Transaction, order: TransferOrder, purpose: SigningPurpose): void {
    const { form, token, amount, receiver, receiverMemo } = order;
    if (form?.kind !== 'allow' || form.contract !== 'tokenMessenger') throw mismatch(purpose);
    const isOwn = isUsdc(token) && amount === 0n && receiver === stellarCctp.messenger && receiverMemo === null;
    const until = lastLedgerIn(operationOf(inner, purpose));
    if (!isOwn || until === undefined) throw mismatch(purpose);
    mustCall(inner, allowanceCall(order, account, until), purpose);
  }

  return {
    account,
    check: (unsigned, purpose) => void examine(unsigned, purpose),
    async sign(unsigned, purpose) {
      const { whole: examined, count } = examine(unsigned, purpose);
      count();
      const whole = withSignatures(examined, networkPassphrase, { key, channels });
      return { bytes: whole.toEnvelope().toXDR('base64'), hash: whole.hash().toString('hex') };
    },
  };
}

export function parse(
  envelope: string,
  networkPassphrase: string,
  purpose: SigningPurpose,
): Transaction | FeeBumpTransaction {
  try {
    return TransactionBuilder.fromXDR(envelope, networkPassphrase);
  } catch {
    throw mismatch(purpose);
  }
}

/** Lumens that an order sends along, in stroops; never negative, which would make room in the hourly limit. */
const sentAlong = ({ form }: TransferOrder): bigint => (form?.kind === 'oftSend' ? BigInt(form.messageFee) : 0n);

/** Coin, and tokens without payments, leave only by withdrawals; an order of another form moves nothing. */
function assetsFor({ form }: TransferOrder, { kind }: SigningPurpose): readonly AssetRef[] {
  if (form === undefined) return kind === 'withdrawal' ? heldTokens(stellarChain()) : stellarChain().tokens;
  return form.kind === 'coin' && kind === 'withdrawal' ? [coinOf(stellarChainId)] : [];
}

/**
 * Adds exactly the required signatures. Within a fee bump the inner transaction is signed first, because the bump's signature covers it.
 */
export function withSignatures(
  whole: Transaction | FeeBumpTransaction,
  networkPassphrase: string,
  { key, channels }: { readonly key: Keypair; readonly channels: ReadonlyMap<string, Keypair> },
): Transaction | FeeBumpTransaction {
  const inner = whole instanceof FeeBumpTransaction ? whole.innerTransaction : whole;
  const channel = channels.get(inner.source);
  inner.signatures.splice(0);
  inner.sign(...(channel ? [channel, key] : [key]));
  if (inner === whole) return inner;
  const envelope = whole.toEnvelope();
  envelope.feeBump().tx().innerTx().v1().signatures(inner.signatures);
  envelope.feeBump().signatures([]);
  const bump = TransactionBuilder.fromXDR(envelope.toXDR('base64'), networkPassphrase);
  bump.sign(key);
  return bump;
}

/** One operation of the treasury, numbered by the treasury or by a channel, paid by the treasury, with no precondition but a time bound. */
export function checkStellarFrame(
  unsigned: Unsigned,
  whole: Transaction | FeeBumpTransaction,
  inner: Transaction,
  { account, channels }: { readonly account: string; readonly channels: ReadonlyMap<string, Keypair> },
): void {
  const own = inner.source === account;
  const feeSource = whole instanceof FeeBumpTransaction ? whole.feeSource : inner.source;
  if (
    inner.source !== unsigned.account ||
    !(own || channels.has(inner.source)) ||
    feeSource !== account ||
    unsigned.nonce === null ||
    inner.sequence !== unsigned.nonce.toString()
  ) {
    throw new SigningRefused(
      'account',
      `this key signs for ${account} and its channels with their sequence numbers, not for ${unsigned.account}`,
    );
  }
  const {
    operations,
    ledgerBounds,
    minAccountSequence,
    minAccountSequenceAge,
    minAccountSequenceLedgerGap,
    extraSigners,
  } = inner;
  const conditions = [
    ledgerBounds,
    minAccountSequence,
    minAccountSequenceAge,
    minAccountSequenceLedgerGap,
    extraSigners?.length,
  ];
  const actor = own ? undefined : account;
  if (operations.length === 1 && operations[0]?.source === actor && !conditions.some(Boolean)) return;
  throw new SigningRefused(
    'mismatch',
    'a treasury transaction has one operation, its own, and no conditions but time bounds',
  );
}

/** A transaction ends in time, and at the time that its number's record says. */
export function checkValidity(
  { timeBounds }: Transaction,
  { validUntil }: Unsigned,
  purpose: SigningPurpose,
  now: Instant,
): void {
  const until_s = Number(timeBounds?.maxTime ?? 0);
  const most_s = epochMs(now) / 1_000 + validityMax_s;
  if (until_s === 0 || until_s > most_s || String(until_s) !== validUntil) throw mismatch(purpose);
}

export function checkFee(
  whole: Transaction | FeeBumpTransaction,
  inner: Transaction,
  { inclusionMax, resourcesMax }: StellarFees,
): void {
  const operations = BigInt(inner.operations.length + (whole instanceof FeeBumpTransaction ? 1 : 0));
  const resources = resourceFeeOf(inner);
  const most = inclusionMax * operations + resources;
  if (BigInt(whole.fee) <= most && resources <= resourcesMax) return;
  throw new SigningRefused(
    'fee',
    `a fee of ${whole.fee} stroops, ${resources} of them for resources, is above the limit`,
  );
}

/** The one operation, decoded from its bytes. */
export function operationOf(inner: Transaction, purpose: SigningPurpose): xdr.Operation {
  const envelope = inner.toEnvelope();
  const [operation] = envelope.switch().name === 'envelopeTypeTx' ? envelope.v1().tx().operations() : [];
  if (!operation) throw mismatch(purpose);
  return operation;
}

export const mismatch = ({ kind, reference }: SigningPurpose): SigningRefused =>
  new SigningRefused('mismatch', `the transaction is not the one that ${kind} ${reference} orders`);
