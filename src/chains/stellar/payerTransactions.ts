/** Transactions that payers' wallets on Stellar sign and the service sends. */
import {
  Address,
  Contract,
  Memo,
  Networks,
  nativeToScVal,
  Operation,
  StrKey,
  Transaction,
  TransactionBuilder,
  type xdr,
} from '@stellar/stellar-sdk';
import type {
  PayerOrder,
  PayerTransactions,
  SignedTransactions,
  StellarOffer,
} from '../../../commands/payerTransactions.ts';
import { type Refusal, refuse } from '../../../domain/decider.ts';
import { formatAmount } from '../../../domain/money.ts';
import type { PaymentView } from '../../../domain/payment/view.ts';
import { isEd25519 } from '../ed25519.ts';
import { ask, object } from '../node/jsonRpc.ts';
import { sendToAll } from '../node/nodes.ts';
import { BroadcastRefused, PayoutBlocked } from '../ports.ts';
import { holdingOf, payableThrough } from './accounts.ts';
import { accountOf } from './addresses.ts';
import { publicNetwork, type StellarConfig } from './config.ts';
import { freshInclusion, rehearse } from './payouts/preflight.ts';
import { resultCodeOf } from './payouts/rail.ts';
import { type Act, buildTransaction } from './payouts/transaction.ts';
import { ledgerRange, transactionOf } from './reads.ts';
import { RpcFailed, type StellarNode, type StellarRpc } from './rpc.ts';
import { assetOf } from './tokens.ts';

/** Facts of the network's current state in every transaction. */
interface Terms {
  /** Unix seconds, by the network's clock. */
  readonly closedAt_s: number;
  /** Stroops for a payment's operation, and for a contract's call. */
  readonly inclusion: bigint;
  readonly callInclusion: bigint;
}

/** Time that a payer has to read a prepared transaction before they sign it. */
const validity_s = 180;

/** More than a call of the payin contract has, with every signature that an account can need. */
const signedMax_characters = 16_384;

export function createStellarPayerTransactions(config: StellarConfig, rpc: StellarRpc): PayerTransactions<Terms> {
  const { networkPassphrase, fees } = config;
  const late = rpc.as('late');

  async function prepareAt(node: StellarNode, order: PayerOrder, terms: Terms) {
    const { payer, token, amount, deposit } = order;
    const { account, trustlines } = await holdingOf(node, payer, [assetOf(token)]);
    const inclusion = deposit.contract === null ? terms.inclusion : terms.callInclusion;
    if (!account)
      return refuse('conflict', `the account ${payer} does not exist on Stellar: fund it with lumens`, '/coin');
    if (payableThrough(trustlines[0]) < amount) return tooLittle(order);
    if (account.spendable < inclusion)
      return refuse('conflict', 'the account has too few lumens for the network fee: add some', '/coin');
    const plain = buildTransaction(actOf(order), {
      account: payer,
      nonce: account.sequence + 1n,
      networkPassphrase,
      validUntil_s: terms.closedAt_s + validity_s,
      inclusion,
    });
    const transaction = deposit.contract === null ? plain : (await rehearse(node, plain, fees)).assembled;
    if (account.spendable < BigInt(transaction.fee))
      return refuse('conflict', 'the account has too few lumens for the network fee: add some', '/coin');
    return { transaction: transaction.toEnvelope().toXDR('base64'), hash: transaction.hash().toString('hex') };
  }

  return {
    readTerms: () =>
      late.answer(async (node) => ({
        closedAt_s: (await ledgerRange(node)).latest.closedAt_s,
        inclusion: await freshInclusion(node, 'inclusionFee', fees),
        callInclusion: await freshInclusion(node, 'sorobanInclusionFee', fees),
      })),

    async prepare(order, terms) {
      // A contract can hold the token, and no wallet signs its transactions.
      if (accountOf(order.payer) !== order.payer)
        return refuse('invalidRequest', 'must be an account of Stellar (G…): choose another one', '/account');
      try {
        return await late.answer((node) => prepareAt(node, order, terms));
      } catch (error) {
        // The simulation of the call failed, or the network demands more than a payment is worth.
        if (error instanceof PayoutBlocked) return refuse('conflict', error.message);
        throw error;
      }
    },

    signed: signedTransactions(networkPassphrase, late),
  };
}

const tooLittle = ({ payer, token, amount }: PayerOrder): Refusal =>
  refuse(
    'conflict',
    `the account ${payer} has less than ${formatAmount(amount, token.decimals)} ${token.symbol}: choose another one`,
    '/token',
  );

/** The payment with its memo, or the call of the contract's `pay(sender, amount, memo)`. */
function actOf({ payer, token, amount, deposit }: PayerOrder): Act {
  const { address, memo, contract, contractMemo } = deposit;
  if (contract === null) {
    const operation = Operation.payment({
      destination: address,
      asset: assetOf(token),
      amount: formatAmount(amount, token.decimals),
    });
    return { operation, memo: memo === null ? Memo.none() : Memo.text(memo) };
  }
  const values: readonly xdr.ScVal[] = [
    new Address(payer).toScVal(),
    nativeToScVal(amount, { type: 'i128' }),
    nativeToScVal(contractMemo ?? '', { type: 'string' }),
  ];
  return { operation: new Contract(contract).call('pay', ...values), memo: Memo.none() };
}

const badSignature = refuse(
  'invalidRequest',
  'is not signed by the account that the transaction was prepared for: sign it with that account',
  '/transaction',
);

function signedTransactions(networkPassphrase: string, rpc: StellarRpc): SignedTransactions {
  return {
    hashOf(signed, payer) {
      const transaction = readTransaction(signed, networkPassphrase);
      if (transaction?.source !== payer) return badSignature;
      const key = StrKey.decodeEd25519PublicKey(payer);
      const hash = transaction.hash();
      const isSigned = transaction.signatures.some((each) => isEd25519(key, hash, each.signature()));
      return isSigned ? hash.toString('hex') : badSignature;
    },

    async send(signed) {
      try {
        await sendToAll(rpc, async (node) => {
          const { status, errorResultXdr } = await ask(node, 'sendTransaction', { transaction: signed }, object);
          if (status === 'ERROR') await refuseUnlessLanded(node, signed, resultCodeOf(String(errorResultXdr ?? '')));
        });
        return undefined;
      } catch (error) {
        if (!(error instanceof BroadcastRefused)) throw error;
        return refusalOf(error.message);
      }
    },
  };

  /** The network answers a repeated transaction with a wrong sequence number: the first copy has landed. */
  async function refuseUnlessLanded(node: StellarNode, signed: string, code: string): Promise<void> {
    const hash = readTransaction(signed, networkPassphrase)?.hash().toString('hex') ?? '';
    if (code === 'txBadSeq' && (await transactionOf(node, hash)).status === 'SUCCESS') return;
    throw new RpcFailed(node.name, 'sendTransaction', 'refused', code);
  }
}

const refusalOf = (message: string): Refusal => {
  if (/txInsufficientBalance|txInsufficientFee/.test(message))
    return refuse('conflict', 'the account has too few lumens for the network fee: add some', '/coin');
  if (/txTooLate|txBadSeq/.test(message))
    return refuse('conflict', 'the prepared transaction is too old: prepare another one', '/expired');
  return refuse('conflict', 'the network refuses the transaction: prepare another one');
};

/** Undefined for a text that is no transaction, and for a fee bump. */
function readTransaction(text: string, networkPassphrase: string): Transaction | undefined {
  if (text.length > signedMax_characters) return undefined;
  try {
    const read = TransactionBuilder.fromXDR(text, networkPassphrase);
    return read instanceof Transaction ? read : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Null for a deposit that neither a memo nor the contract names.
 * @param amount in whole tokens
 */
export function stellarWalletOffer(
  {
    depositMemo,
    depositContract,
    senderAddress,
    sourceAmount,
  }: Pick<PaymentView, 'depositMemo' | 'depositContract' | 'senderAddress' | 'sourceAmount'>,
  amount: string,
): StellarOffer | null {
  if (depositMemo === null && depositContract === null) return null;
  return {
    family: 'stellar',
    network: publicNetwork,
    sender: depositContract === null ? null : senderAddress,
    amount: sourceAmount === null ? amount : null,
  };
}

export type WalletLinkRequest = Pick<PaymentView, 'sourceTokenAddress' | 'depositAddress' | 'depositMemo'>;

/**
 * The local chain signs like the public network, so its assets have the contract ids of production. Its links name a network that no wallet
 * knows: otherwise a real wallet would pay them with real money.
 */
export const sandboxNetwork = 'Payment Intents Sandbox';

/**
 * Payment request (SEP-7, `web+stellar:pay`), for a wallet or a QR code. Without `network_passphrase` it is for the public network. Null
 * for a deposit without a memo, which only a contract call pays.
 *
 * @param amount in whole tokens; null leaves it to the payer
 * @param served passphrase of the served network: a test network has its own
 */
export function stellarWalletLink(
  { sourceTokenAddress, depositAddress, depositMemo }: WalletLinkRequest,
  amount: string | null,
  sandbox: boolean,
  served: string = publicNetwork,
): string | null {
  const passphrase = served !== Networks.PUBLIC ? served : sandbox ? sandboxNetwork : undefined;
  if (depositMemo === null) return null;
  const [code = '', issuer = ''] = sourceTokenAddress.split(':');
  const asked = new URLSearchParams({
    destination: depositAddress,
    ...(amount !== null && { amount }),
    asset_code: code,
    asset_issuer: issuer,
    memo: depositMemo,
    memo_type: 'MEMO_TEXT',
    ...(passphrase !== undefined && { network_passphrase: passphrase }),
  });
  return `web+stellar:pay?${asked}`;
}
