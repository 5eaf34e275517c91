/** Relays on Solana: a rail of the relay account, and queries about payers' transactions. */

import { createHash } from 'node:crypto';
import { findToken } from '../../../domain/chains.ts';
import { assert, refuse } from '../../../domain/decider.ts';
import type { RelayEnd } from '../../../domain/relay/events.ts';
import { type PayerTransactionOrder, PayoutBlocked, type Relaying, type WalletAuthorizations } from '../ports.ts';
import { isAddress, solanaSignature_bytes } from './addresses.ts';
import { type SolanaConfig, solanaChain, solanaChainId } from './config.ts';
import {
  isAffordable,
  isPayerTransaction,
  isSignedByPayer,
  payerTransactionIn,
  payerTransactionOf,
  payerTransactionSigners,
  storedFormOf,
  transactionNonce,
} from './payerTransaction.ts';
import { payerTermsReader } from './payerTransactions.ts';
import { createSolanaRelayRail } from './payouts/relay.ts';
import { relayedMessage, type TransactionTerms, wireOf } from './payouts/transaction.ts';
import type { SolanaRpc } from './rpc.ts';
import { tokenAccountOf } from './tokenProgram.ts';

/** First 32 letters of the networks' genesis hashes (CAIP-30). */
const networks = { main: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', test: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1' };

export function createSolanaRelaying(config: SolanaConfig, account: string, rpc: SolanaRpc): Relaying {
  const { treasury, fees } = config;
  const { rail, costOf } = createSolanaRelayRail(config, account, rpc);
  const usdc = findToken(solanaChain(), 'USDC');
  const simulate: Relaying['simulate'] = (order, signal) => {
    assert(isPayerTransaction(order), 'this relay sends payers’ transactions on Solana');
    return rpc.answer((node) => costOf(node, order), signal);
  };

  return {
    rail,
    network: solanaChain().network === undefined ? networks.main : networks.test,
    termsOf: async ({ address }) => (address === usdc?.address ? { kind: 'transaction', feePayer: account } : null),
    assetOf: ({ address }) => address,
    receiverOf: ({ address, memo, contract }) => (memo === null && contract === null ? address : null),
    accountAt: (receiver, { address }) => tokenAccountOf(receiver, address),
    depositIn: (receiver) => (isAddress(receiver) ? { address: receiver, memo: null } : null),

    read(transaction) {
      const sent = payerTransactionIn(transaction);
      if (!sent || !isAffordable(sent, account, fees)) return null;
      return {
        chainId: solanaChainId,
        tokenAddress: sent.mint,
        from: sent.payer,
        to: sent.destination,
        value: sent.amount.toString(),
        // The blockhash alone limits its life.
        validAfter: '0',
        validBefore: '0',
        nonce: transactionNonce(sent),
        signature: storedFormOf(sent),
      };
    },

    async signatureOf({ token, payer, receiver, amount, nonce }, _terms, signature) {
      const sent = payerTransactionOf(signature);
      // Neither account of ours pays anything here.
      if (!sent || payer === treasury || payer === account || !isAffordable(sent, account, fees)) return null;
      const same =
        sent.payer === payer &&
        sent.mint === token.address &&
        sent.decimals === token.decimals &&
        sent.destination === tokenAccountOf(receiver, token.address) &&
        sent.amount === amount &&
        transactionNonce(sent) === nonce;
      return same && isSignedByPayer(sent) ? signature : null;
    },

    nonceIn: (text) => (/^0x[0-9a-fA-F]{64}$/.test(text) ? text.toLowerCase() : null),
    // Programs choose what makes their transactions unique.
    nonceOf: transactionMemo,
    accountOf: (text) => (isAddress(text) ? text : null),
    simulate,
    wallets: createSolanaWalletAuthorizations(config, account, rpc, simulate),
  };
}

// Transactions that payers' wallets in pages sign, and whose fee our relay account pays. The service builds the whole
// transaction.

/** Memo of a transaction, derived one-way: equal payments of one account differ by it. */
const transactionMemo = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Ends of a relay about which the payer can do something. */
const pointers: Readonly<Partial<Record<RelayEnd, string>>> = { drained: '/token', expired: '/expired' };

const unsigned = new Uint8Array(solanaSignature_bytes);

/** @param account that pays the fee */
function createSolanaWalletAuthorizations(
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
