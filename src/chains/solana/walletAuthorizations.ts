/** Transactions that payers' wallets in pages sign, and whose fee our relay account pays. The service builds the whole transaction. */
import { createHash } from 'node:crypto';
import { refuse } from '../../../domain/decider.ts';
import type { RelayEnd } from '../../../domain/relay/events.ts';
import { type PayerTransactionOrder, PayoutBlocked, type Relaying, type WalletAuthorizations } from '../ports.ts';
import { solanaSignature_bytes } from './addresses.ts';
import { type SolanaConfig, solanaChainId } from './config.ts';
import { payerTransactionIn, payerTransactionSigners, storedFormOf, transactionNonce } from './payerTransaction.ts';
import { payerTermsReader } from './payerTransactions.ts';
import { relayedMessage, type TransactionTerms, wireOf } from './payouts/transaction.ts';
import type { SolanaRpc } from './rpc.ts';

/** Memo of a transaction, derived one-way: equal payments of one account differ by it. */
export const transactionMemo = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Ends of a relay about which the payer can do something. */
const pointers: Readonly<Partial<Record<RelayEnd, string>>> = { drained: '/token', expired: '/expired' };

const unsigned = new Uint8Array(solanaSignature_bytes);

/** @param account that pays the fee */
export function createSolanaWalletAuthorizations(
  { treasury, fees }: Pick<SolanaConfig, 'treasury' | 'fees'>,
  account: string,
  rpc: SolanaRpc,
  simulate: Relaying['simulate'],
): WalletAuthorizations<TransactionTerms> {
  return {
    readTerms: payerTermsReader({ treasury, fees }, rpc),

    async prepare({ token, amount, payTo, deposit, payer, nonce }, terms, signal) {
      if (payer === account || payer === treasury)
        return refuse('invalidRequest', 'must be an account of the payer: choose another one', '/account');
      const message = relayedMessage(account, payer, { receiver: payTo, token, amount }, { memo: nonce, terms });
      const transaction = wireOf(
        message,
        Array.from({ length: payerTransactionSigners }, () => unsigned),
      );
      const sent = payerTransactionIn(transaction);
      if (!sent)
        return refuse('conflict', 'no transaction of this account can be relayed: choose another one', '/account');
      const order: PayerTransactionOrder = {
        chainId: solanaChainId,
        ...{ token, receiver: payTo, receiverMemo: null, amount },
        form: {
          kind: 'payerTransaction',
          deposit: { address: deposit.address, salt: deposit.salt },
          ...{ payer, nonce: transactionNonce(sent), signature: storedFormOf(sent), costMax: '0' },
        },
      };
      try {
        await simulate(order, signal);
        return { transaction };
      } catch (error) {
        if (!(error instanceof PayoutBlocked)) throw error;
        if (error.ends === null) return refuse('relayTooDear', error.message);
        return refuse('conflict', error.message, pointers[error.ends]);
      }
    },
  };
}
