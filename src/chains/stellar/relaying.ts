/** Relays on Stellar: a rail of the relay account, and queries about authorization entries. */
import { Networks, StrKey, type xdr } from '@stellar/stellar-sdk';
import { findToken } from '../../../domain/chains.ts';
import { assert } from '../../../domain/decider.ts';
import type { Relaying, SignedAuthorization } from '../ports.ts';
import { accountOf, canonicalStellarAddress, memoIn } from './addresses.ts';
import { entryIn, entryOf, hexOf, isEntryOrder, isSignedByPayer, muxedOf, transferIn } from './authorization.ts';
import { type StellarConfig, stellarChain, stellarChainId } from './config.ts';
import { createStellarRelayRail } from './payouts/rail.ts';
import type { StellarRpc } from './rpc.ts';
import { assetContractOf } from './tokens.ts';
import { createStellarWalletAuthorizations, entryNonce } from './walletAuthorizations.ts';

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
