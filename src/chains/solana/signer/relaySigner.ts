/** The relay account's key on Solana. It pays the fees of payers' transactions, opens deposits' token accounts, and moves nothing of ours. */
import { base58 } from '@scure/base';
import type { CheckSpending } from '../../money/spending.ts';
import {
  type PayerTransactionOrder,
  type Signer,
  type SigningPurpose,
  SigningRefused,
  type TransferOrder,
  type Unsigned,
} from '../../ports.ts';
import { type SolanaFees, solanaChain, tokenAccountRent } from '../config.ts';
import {
  isAffordable,
  isPayerTransaction,
  isSignedByPayer,
  type PayerTransaction,
  payerTransactionOf,
  payerTransactionSigners,
} from '../payerTransaction.ts';
import { feeOf } from '../payouts/preflight.ts';
import { openingMessage, type SolanaPayload, termsInMessage, wireOf } from '../payouts/transaction.ts';
import type { SolanaKey } from './keys.ts';
import { checkFee, checkSolanaFrame, movesOrdered } from './signer.ts';

export interface SolanaRelaySignerDeps {
  readonly key: SolanaKey;
  /** Derives a deposit's address from its salt, which proves that the deposit is ours. @throws Unavailable without an answer of the signer */
  readonly depositAt: (salt: string) => Promise<string>;
  readonly treasury: string;
  readonly fees: SolanaFees;
  readonly spending: CheckSpending;
}

interface Examined {
  readonly message: Uint8Array;
  /** Signatures after our own. */
  readonly others: readonly Uint8Array[];
  readonly count: () => void;
}

/**
 * Signs as the fee payer alone a transaction that moves the ordered amount of a catalogue token from its payer to a deposit of ours, and
 * transactions that open the token account of this deposit; nothing else. Signing again gives the same bytes.
 */
export function createSolanaRelaySigner({ key, depositAt, treasury, fees, spending }: SolanaRelaySignerDeps): Signer {
  const account = key.address;

  async function examine(unsigned: Unsigned, purpose: SigningPurpose): Promise<Examined> {
    const { order } = unsigned;
    checkSolanaFrame(unsigned, account);
    if (purpose.kind !== 'relay')
      throw new SigningRefused('mismatch', `the relay account makes no ${purpose.kind}: it relays`);
    const sent = isPayerTransaction(order) ? payerTransactionOf(order.form.signature) : null;
    if (!sent || !isPayerTransaction(order) || !isOrdered(sent, order)) throw mismatch();
    if (!(await isOwnDeposit(order, depositAt))) throw mismatch();
    const message = Buffer.from((unsigned.payload as SolanaPayload).message, 'base64');
    if (Buffer.compare(message, sent.message) === 0) {
      const fee = feeOf(sent.terms.units, sent.terms.price_microLamports, payerTransactionSigners);
      return { message, others: [sent.signature], count: spending(unsigned, purpose, fee) };
    }
    const terms = termsInMessage(message);
    if (!terms || Buffer.compare(message, openingMessage(account, order, terms)) !== 0) throw mismatch();
    checkFee(terms, fees);
    const cost = feeOf(terms.units, terms.price_microLamports, 1) + tokenAccountRent;
    return { message, others: [], count: spending(unsigned, purpose, cost) };
  }

  const isOrdered = (sent: PayerTransaction, order: PayerTransactionOrder): boolean =>
    isCatalogueToken(order) &&
    order.amount > 0n &&
    order.receiverMemo === null &&
    sent.payer === order.form.payer &&
    ![account, treasury].includes(sent.payer) &&
    isAffordable(sent, account, fees) &&
    movesOrdered(sent.message, order, order.form.payer) &&
    // A transaction that the payer did not sign would be refused, and the opened account would keep its rent.
    isSignedByPayer(sent);

  return {
    account,
    check: async (unsigned, purpose) => void (await examine(unsigned, purpose)),
    async sign(unsigned, purpose) {
      const { message, others, count } = await examine(unsigned, purpose);
      count();
      const own = key.sign(message);
      return { bytes: wireOf(message, [own, ...others]), hash: base58.encode(own) };
    },
  };
}

const isCatalogueToken = ({ token }: TransferOrder): boolean =>
  solanaChain().tokens.some(({ address, decimals }) => address === token.address && decimals === token.decimals);

async function isOwnDeposit(
  { receiver, form: { deposit } }: PayerTransactionOrder,
  depositAt: SolanaRelaySignerDeps['depositAt'],
): Promise<boolean> {
  const { address, salt } = deposit;
  return receiver === address && /^[0-9a-f]{64}$/.test(salt) && (await depositAt(salt)) === address;
}

const mismatch = (): SigningRefused =>
  new SigningRefused(
    'mismatch',
    'a relay completes one transfer of a catalogue token, signed by its payer, to a deposit of ours, or opens the token account of this deposit',
  );
