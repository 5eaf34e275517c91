/**
 * Sends payers' transactions from the relay account, which pays their fee. If the deposit has no token account yet, the account is opened by
 * a transaction of its own first: the payer's transaction may not open it.
 */
import { assert } from '../../../../domain/decider.ts';
import { formatAmount } from '../../../../domain/money.ts';
import type { RelayEnd } from '../../../../domain/relay/events.ts';
import { checkForm } from '../../family.ts';
import { checkCoin } from '../../money/spending.ts';
import {
  type ExpiringNumbering,
  type PayerTransactionOrder,
  PayoutBlocked,
  type PayoutRail,
  type RelayCost,
  type Unsigned,
} from '../../ports.ts';
import { type SolanaConfig, solanaChainId, tokenAccountRent } from '../config.ts';
import { isPayerTransaction, payerTransactionOf, payerTransactionSigners } from '../payerTransaction.ts';
import { accountsOf, isBlockhashValid, latestBlockhash, type ReadContext } from '../reads.ts';
import type { SolanaNode, SolanaRpc } from '../rpc.ts';
import { tokenAccountIn, tokenAccountOf } from '../tokenProgram.ts';
import { feeOf, freshPrice, rehearse, spendableLamports, unsignedOf } from './preflight.ts';
import { createSolanaPayoutRail } from './rail.ts';
import { openingAndPaying, openingMessage, type TransactionTerms } from './transaction.ts';

export interface SolanaRelayRail {
  readonly rail: PayoutRail<ExpiringNumbering>;
  /** Maximum present cost of a relay on a node. @throws PayoutBlocked as `prepare` does */
  costOf(node: SolanaNode, order: PayerTransactionOrder): Promise<RelayCost>;
}

export function createSolanaRelayRail(config: SolanaConfig, account: string, rpc: SolanaRpc): SolanaRelayRail {
  const { fees } = config;
  // Its transfers have no reference: the payer's transaction is unique, and a second opening changes nothing.
  const rail = createSolanaPayoutRail({ ...config, treasury: account }, () => account, rpc);

  /** The next transaction of a relay, and the terms of the relay as a whole. @throws PayoutBlocked whose `ends` states how the relay ends */
  async function examine(node: SolanaNode, order: PayerTransactionOrder) {
    const { token, receiver, amount, form } = order;
    const { address: mint } = token;
    const sent = payerTransactionOf(form.signature);
    if (!sent) throw ended('refused', 'the transaction is not one that a relay sends');
    const [source, deposit] = [tokenAccountOf(form.payer, mint), tokenAccountOf(receiver, mint)];
    const { slot, accounts } = await accountsOf(node, [account, source, deposit], { commitment: 'confirmed' });
    const [wallet, from, to] = accounts;
    const asOf: ReadContext = { commitment: 'confirmed', minContextSlot: slot };
    if (!(await isBlockhashValid(node, sent.terms.blockhash, asOf)))
      throw ended('expired', `no block accepts blockhash ${sent.terms.blockhash} of the transaction`);
    const held = tokenAccountIn(from);
    const text = (units: bigint) => `${formatAmount(units, token.decimals)} ${token.symbol}`;
    if (held?.usable === false) throw ended('refused', `the issuer froze the ${token.symbol} of ${form.payer}`);
    if ((held?.amount ?? 0n) < amount)
      throw ended('drained', `${form.payer} holds ${text(held?.amount ?? 0n)}, and ${text(amount)} are to be paid`);
    const opens = tokenAccountIn(to) === undefined;
    const own = feeOf(sent.terms.units, sent.terms.price_microLamports, payerTransactionSigners);
    const price_microLamports = opens ? await freshPrice(rpc, [deposit], fees) : 0n;
    const opening = opens ? { units: fees.unitsUsual, price_microLamports } : null;
    const openingFee = opening ? feeOf(opening.units, opening.price_microLamports, 1) : 0n;
    const cost: RelayCost = { fee: own + openingFee, rent: opens ? tokenAccountRent : 0n };
    // Reported before the simulation, which fails without coin.
    const most = cost.fee + cost.rent;
    checkCoin(spendableLamports(wallet), account, { chainId: solanaChainId, unit: 'lamports', most });
    const whole: TransactionTerms = { ...sent.terms, units: fees.unitsMax };
    const rehearsed = opens ? openingAndPaying(account, form.payer, order, whole) : sent.message;
    await rehearse(node, rehearsed, payerTransactionSigners, asOf).catch(endRelay);
    return { sent, opening, cost, asOf };
  }

  async function prepare(node: SolanaNode, order: PayerTransactionOrder): Promise<Unsigned> {
    const { sent, opening, cost, asOf } = await examine(node, order);
    const most = cost.fee + cost.rent;
    if (most > BigInt(order.form.costMax))
      throw new PayoutBlocked('gas', `the relay costs ${most} lamports now, ${order.form.costMax} were reserved`);
    // The blockhash of the payer's transaction is no newer than this one: no block accepts either after this height.
    const { blockhash, lastValidBlockHeight } = await latestBlockhash(node, asOf);
    const terms = opening ? { ...opening, blockhash } : sent.terms;
    const { units, price_microLamports } = terms;
    const numbered = { account, order, lastValidBlockHeight, units, price_microLamports };
    return opening
      ? // Its rent marks the opening (domain/relay/relay.ts).
        unsignedOf({ ...numbered, message: openingMessage(account, order, terms), signers: 1, rent: tokenAccountRent })
      : unsignedOf({ ...numbered, message: sent.message, signers: payerTransactionSigners });
  }

  return {
    rail: {
      ...rail,
      numbering: {
        kind: 'expiring',
        async prepare(order) {
          checkForm(order, 'payerTransaction');
          assert(isPayerTransaction(order), 'relays alone are sent by their account');
          return rpc.answer((node) => prepare(node, order));
        },
      },
    },
    costOf: async (node, order) => (await examine(node, order)).cost,
  };
}

const ended = (reason: RelayEnd, why: string): PayoutBlocked =>
  new PayoutBlocked('refusedByToken', why.slice(0, 400), reason);

/** A transaction that fails in a simulation ends a relay: its bytes can never change. @throws the error */
function endRelay(error: unknown): never {
  if (error instanceof PayoutBlocked && error.reason === 'refusedByToken') throw ended('refused', error.message);
  throw error;
}
