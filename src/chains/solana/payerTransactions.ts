/** Transactions that payers' wallets on Solana sign and send. */
import type { PayerTransactions, SolanaOffer } from '../../../commands/payerTransactions.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { solanaSignature_bytes } from './addresses.ts';
import { type SolanaConfig, solanaChain, solanaChainId } from './config.ts';
import { freshPrice } from './payouts/preflight.ts';
import { payinMessage, publicReferenceOf, type TransactionTerms, wireOf } from './payouts/transaction.ts';
import { latestBlockhash } from './reads.ts';
import type { SolanaRpc } from './rpc.ts';
import { tokenAccountOf } from './tokenProgram.ts';

/** Reads the terms of transactions that payers sign, with the price that payments into our accounts need. @throws ChainUnavailable */
export function payerTermsReader(
  { treasury, fees }: Pick<SolanaConfig, 'treasury' | 'fees'>,
  rpc: SolanaRpc,
): () => Promise<TransactionTerms> {
  const late = rpc.as('late');
  const busy = solanaChain().tokens.map(({ address }) => tokenAccountOf(treasury, address));
  return async () => {
    const price_microLamports = await freshPrice(late, busy, fees);
    const { blockhash } = await late.answer((node) => latestBlockhash(node, { commitment: 'confirmed' }));
    return { blockhash, units: fees.unitsUsual, price_microLamports };
  };
}

/**
 * A transaction is made from the terms alone, so that a request for one calls no node. The blockhash in it lives for a minute or so; the
 * wallet checks the payer's balances, and the chain refuses a transaction whose blockhash is too old.
 */
export function createSolanaPayerTransactions(
  { treasury, fees }: Pick<SolanaConfig, 'treasury' | 'fees'>,
  rpc: SolanaRpc,
): PayerTransactions<TransactionTerms> {
  return {
    readTerms: payerTermsReader({ treasury, fees }, rpc),

    async prepare({ paymentId, payer, deposit, token, amount }, terms) {
      const message = payinMessage(
        payer,
        { owner: deposit.address, token, amount },
        publicReferenceOf('payin', paymentId),
        terms,
      );
      return {
        transaction: wireOf(message, [new Uint8Array(solanaSignature_bytes)]),
        // Wallets add instructions of their own, such as guards against other programs.
        hash: null,
      };
    },
  };
}

/**
 * @param amount in whole tokens
 * @param isLocal whether the chain is simulated: no wallet pays real money for it
 */
export function solanaWalletOffer(
  { sourceChainId, sourceAmount }: Pick<PaymentView, 'sourceChainId' | 'sourceAmount'>,
  amount: string,
  isLocal: boolean,
): SolanaOffer | null {
  if (sourceChainId !== solanaChainId) return null;
  const chain = `solana:${isLocal ? 'localnet' : (solanaChain().network ?? 'mainnet')}`;
  return { family: 'solana', chain, amount: sourceAmount === null ? amount : null };
}

export type WalletLinkRequest = Pick<
  PaymentView,
  'paymentId' | 'sourceChainId' | 'sourceTokenAddress' | 'depositAddress' | 'title'
>;

/** Maximum label in the link. More would make its QR code too fine for a telephone, and finally impossible. */
const labelMax_bytes = 120;

/**
 * A Solana Pay transfer request (docs.solanapay.com/spec), for a wallet or a QR code. Its reference is derived one-way from the payment's
 * id, which never appears on the chain. Null for payments on other chains.
 *
 * @param amount in whole tokens; null leaves it to the payer
 */
export function solanaWalletLink(payment: WalletLinkRequest, amount: string | null): string | null {
  if (payment.sourceChainId !== solanaChainId) return null;
  const { depositAddress, sourceTokenAddress, title, paymentId } = payment;
  const asked = {
    ...(amount !== null && { amount }),
    'spl-token': sourceTokenAddress,
    reference: publicReferenceOf('payin', paymentId),
    ...(title !== null && { label: shortened(title.toWellFormed()) }),
  };
  const query = Object.entries(asked).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return `solana:${depositAddress}?${query.join('&')}`;
}

/** Longest prefix of whole characters that fits into the link. */
function shortened(label: string): string {
  let kept = '';
  let bytes = 0;
  for (const character of label) {
    bytes += encodeURIComponent(character).length;
    if (bytes > labelMax_bytes) return kept;
    kept += character;
  }
  return kept;
}
