/** Relays on Solana: a rail of the relay account, and queries about payers' transactions. */
import { findToken } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import type { Relaying } from '../ports.ts';
import { isAddress } from './addresses.ts';
import { type SolanaConfig, solanaChain, solanaChainId } from './config.ts';
import {
  isAffordable,
  isPayerTransaction,
  isSignedByPayer,
  payerTransactionIn,
  payerTransactionOf,
  storedFormOf,
  transactionNonce,
} from './payerTransaction.ts';
import { createSolanaRelayRail } from './payouts/relay.ts';
import type { SolanaRpc } from './rpc.ts';
import { tokenAccountOf } from './tokenProgram.ts';
import { createSolanaWalletAuthorizations, transactionMemo } from './walletAuthorizations.ts';

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
