/** Prepares transactions for payers' wallets and sends what they signed, for the holder of a payment's link. */
import type { By } from '../../commands/handle.ts';
import type { PayerOrder, PayerTransactions } from '../../commands/payerTransactions.ts';
import type { Clock } from '../../commands/ports.ts';
import type { PayinHint, PaymentRef, RegisteredPayin } from '../../commands/recordPayin.ts';
import { type Chain, type ChainId, chainOf, type Token, tokenAt } from '../../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../../domain/decider.ts';
import { parseAmount } from '../../domain/money.ts';
import { isDue, limitsOf, readChosen } from '../../domain/payment/choose.ts';
import { epochMs } from '../../domain/time.ts';
import type { PayerFacts } from '../../queries/payerFacts.ts';
import { createBoundedQueue } from '../lib/concurrency.ts';
import type { PreparedSeals } from '../security/masterKey.ts';
import { unavailable } from './errors.ts';

export interface PreparedPaymentsDeps {
  readonly clock: Pick<Clock, 'now'>;
  /** The payment as its payer sees it; null for an unknown id. */
  readonly payerFacts: (paymentId: string) => Promise<PayerFacts | null>;
  /** Undefined for a chain whose wallets make their own transactions. */
  readonly transactionsOf: (chainId: ChainId) => PayerTransactions | undefined;
  readonly canonicalAddress: (chain: Chain, text: string) => string | null;
  readonly registerPayin: (own: PaymentRef, hint: PayinHint, by: By) => Promise<RegisteredPayin | Refusal>;
  readonly seals: PreparedSeals;
}

export interface Prepared {
  /** In base64, as the chain's wallets read it. */
  readonly transaction: string;
  /** Returned with the signed transaction; null if the wallet sends it. */
  readonly seal: string | null;
}

/** Payment that a wallet is asked for. */
export interface AskedPayment {
  readonly account: string;
  /** In whole tokens, where the payer chooses it; undefined for the amount that is due. */
  readonly amount?: string | undefined;
}

export interface SignedPayment extends AskedPayment {
  readonly transaction: string;
  readonly seal: string;
}

/** Use cases of a payer's wallet. Each takes the id of a payment whose link the caller has. */
export interface PreparedPayments {
  prepare(paymentId: string, asked: AskedPayment): Promise<Prepared | Refusal>;
  /** Sends a transaction that `prepare` returned and the account signed. Returns its hash. */
  sendSigned(paymentId: string, signed: SignedPayment, by: By): Promise<string | Refusal>;
  /** Registers a transaction that a wallet sent. */
  register(paymentId: string, hint: PayinHint, by: By): Promise<RegisteredPayin | Refusal>;
}

/** Network facts are this old at most, however many requests arrive. A blockhash of Solana lives for about 60 s. */
export const termsLife_ms = 5_000;
/** Requests of one instance that call nodes at a time, and that wait for their turn. */
export const preparing = { running: 4, waiting: 32 } as const;
const busyRetry_s = 2;

const noPayment = refuse('paymentNotFound', 'no payment has this link: open the page again', '/secret');
const notDue = refuse('paymentNotUpdatable', 'the payment is not waiting for money: read its page', '/secret');
const otherTerms = refuse(
  'conflict',
  'the transaction was not prepared for this payment and account as they are now: prepare another one',
  '/expired',
);

export function createPreparedPayments(deps: PreparedPaymentsDeps): PreparedPayments {
  const admit = createBoundedQueue(preparing.running, preparing.waiting);
  const termsOf = rememberTerms(deps);

  async function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const admitted = admit(work);
    if (admitted === undefined) throw unavailable('too many payments are being prepared: try again', busyRetry_s);
    return admitted;
  }

  async function orderOf(paymentId: string, asked: AskedPayment): Promise<PayerOrder | Refusal> {
    const facts = await deps.payerFacts(paymentId);
    return facts === null ? noPayment : orderIn(facts, asked, deps.canonicalAddress);
  }

  const register: PreparedPayments['register'] = async (paymentId, hint, by) => {
    const facts = await deps.payerFacts(paymentId);
    return facts ? deps.registerPayin({ paymentId, appId: facts.payment.appId }, hint, by) : noPayment;
  };

  return {
    register,

    async prepare(paymentId, asked) {
      const order = await orderOf(paymentId, asked);
      if (isRefusal(order)) return order;
      const transactions = deps.transactionsOf(order.chainId);
      if (!transactions) return noneOn(order.chainId);
      const prepared = await inTurn(async () =>
        transactions.prepare(order, await termsOf(order.chainId, transactions)),
      );
      if (isRefusal(prepared)) return prepared;
      const { transaction, hash } = prepared;
      return { transaction, seal: hash === null ? null : deps.seals.sealOf(sealed(order, hash)) };
    },

    async sendSigned(paymentId, { transaction, seal, ...asked }, by) {
      const order = await orderOf(paymentId, asked);
      if (isRefusal(order)) return order;
      const signed = deps.transactionsOf(order.chainId)?.signed;
      if (!signed) return noneOn(order.chainId);
      const hash = signed.hashOf(transaction, order.payer);
      if (isRefusal(hash)) return hash;
      if (!deps.seals.isSealOf(seal, sealed(order, hash))) return otherTerms;
      const refused = await inTurn(() => signed.send(transaction));
      if (refused) return refused;
      // A crash here loses nothing: the scan of the chain finds the payin as well.
      await register(paymentId, { txHash: hash, fromAddress: order.payer }, by);
      return hash;
    },
  };
}

const noneOn = (chainId: ChainId): Refusal =>
  refuse('conflict', `wallets on ${chainOf(chainId).name} make their own transactions: no other is prepared or sent`);

/** Reads the network's facts once for all requests within `termsLife_ms`. A failed read is not remembered. */
function rememberTerms({ clock }: Pick<PreparedPaymentsDeps, 'clock'>) {
  const known = new Map<ChainId, { readonly terms: Promise<unknown>; readonly until_ms: number }>();
  return (chainId: ChainId, transactions: PayerTransactions): Promise<unknown> => {
    const now_ms = epochMs(clock.now());
    const last = known.get(chainId);
    if (last && now_ms < last.until_ms) return last.terms;
    const entry = { terms: transactions.readTerms(), until_ms: now_ms + termsLife_ms };
    known.set(chainId, entry);
    entry.terms.catch(() => {
      if (known.get(chainId) === entry) known.delete(chainId);
    });
    return entry.terms;
  };
}

/** Order of the amount that is due now, or that the payer chose, from this account. */
function orderIn(
  facts: PayerFacts,
  { account, amount: chosen }: AskedPayment,
  canonicalAddress: PreparedPaymentsDeps['canonicalAddress'],
): PayerOrder | Refusal {
  const { payment, situation } = facts;
  const { sourceChainId: chainId, sourceTokenAddress } = payment;
  const chain = chainOf(chainId);
  const payer = canonicalAddress(chain, account);
  if (payer === null) return refuse('invalidRequest', `this is no address of ${chain.name}`, '/account');
  const { depositContract: contract, senderAddress } = payment;
  if (contract !== null && payer !== senderAddress)
    return refuse('conflict', `only ${senderAddress} can pay this payment: choose that account`, '/account');
  const token = tokenAt(chain, sourceTokenAddress);
  if (!isDue(situation) || !token) return notDue;
  const amount = amountOf(facts, chosen, token);
  if (isRefusal(amount)) return amount;
  const { paymentId, depositAddress: address, depositMemo: memo, depositContractMemo: contractMemo } = payment;
  return { paymentId, chainId, token, amount, payer, deposit: { address, memo, contract, contractMemo } };
}

/** @param chosen in whole tokens */
function amountOf(facts: PayerFacts, chosen: string | undefined, { decimals, symbol }: Token): bigint | Refusal {
  const { payment, situation } = facts;
  if (payment.sourceAmount === null) {
    const { min, max } = limitsOf(facts);
    const units = chosen === undefined ? null : readChosen(facts, chosen);
    return units ?? refuse('invalidRequest', `must be an amount from ${min} to ${max} ${symbol}`, '/amount');
  }
  if (chosen !== undefined) return refuse('invalidRequest', 'the payment has an agreed amount: omit it', '/amount');
  const due = situation.missing === null ? undefined : parseAmount(situation.missing.amount, decimals);
  return typeof due === 'bigint' ? due : notDue;
}

/** Every fact of a prepared transaction: its seal fits no other payment, amount, account or transaction. */
const sealed = ({ paymentId, chainId, token, amount, payer, deposit }: PayerOrder, hash: string): readonly string[] => [
  paymentId,
  String(chainId),
  token.address,
  amount.toString(),
  payer,
  deposit.address,
  deposit.memo ?? '',
  deposit.contract ?? '',
  deposit.contractMemo ?? '',
  hash,
];
