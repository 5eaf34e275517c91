/** Pays as wallets on Stellar do, with the plain SDK: into the payin contract, or by a payment with a memo. */
import {
  Asset,
  contract,
  Keypair,
  Memo,
  Operation,
  rpc,
  type Transaction,
  TransactionBuilder,
} from '@stellar/stellar-sdk';
import { formatAmount } from '../domain/money.ts';
import { landing, send } from './stellar/landing.ts';

export interface StellarOrder {
  /** `CODE:ISSUER` */
  readonly token: string;
  /** In smallest units. */
  readonly amount: bigint;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
  readonly receiverAddressContract: string | null;
  readonly receiverMemoContract: string | null;
}

const decimals = 7;
const fee_stroops = '1000';
/** Some ledgers: a node that has just started loses what it took. */
const usuallyValidFor_s = 20;
const triesMax = 5;

/** A ledger after its time bound lacks the transaction: it cannot land any more. A node that is killed forgets those that wait. */
class Expired extends Error {}

/**
 * Sends a new transaction, at most four times, if the one before can no longer land.
 * @param validFor_s life of each
 * @returns the transaction's hash once a ledger has it @throws Error when it fails or does not land in time
 */
export async function payOnStellar(
  rpcUrl: string,
  secret: string,
  order: StellarOrder,
  validFor_s = usuallyValidFor_s,
): Promise<string> {
  const { receiverAddressContract: contractId, receiverMemoContract: memo } = order;
  for (let tries = 1; ; tries += 1) {
    try {
      return await (contractId === null
        ? sendPayment(rpcUrl, secret, order, validFor_s)
        : callPay(rpcUrl, secret, { contractId, memo: memo ?? '', amount: order.amount, validFor_s }));
    } catch (error) {
      if (!(error instanceof Expired) || tries === triesMax) throw error;
    }
  }
}

/** In the contract's own interface. */
interface PayinClient {
  pay(
    args: { readonly sender: string; readonly amount: bigint; readonly memo: string },
    options: contract.MethodOptions,
  ): Promise<contract.AssembledTransaction<contract.Result<void>>>;
}

async function callPay(
  rpcUrl: string,
  secret: string,
  call: { readonly contractId: string; readonly amount: bigint; readonly memo: string; readonly validFor_s: number },
): Promise<string> {
  const { contractId, amount, memo, validFor_s } = call;
  const payer = Keypair.fromSecret(secret);
  const networkPassphrase = await passphraseOf(rpcUrl);
  const client = (await contract.Client.from({
    contractId,
    rpcUrl,
    networkPassphrase,
    allowHttp: true,
    publicKey: payer.publicKey(),
    ...contract.basicNodeSigner(payer, networkPassphrase),
  })) as unknown as PayinClient;
  const transaction = await client.pay({ sender: payer.publicKey(), amount, memo }, { timeoutInSeconds: validFor_s });
  await transaction.sign();
  if (!transaction.signed) throw new Error('the wallet signed nothing');
  return settle(new rpc.Server(rpcUrl, { allowHttp: true }), transaction.signed);
}

async function sendPayment(rpcUrl: string, secret: string, order: StellarOrder, validFor_s: number): Promise<string> {
  const payer = Keypair.fromSecret(secret);
  const server = new rpc.Server(rpcUrl, { allowHttp: true });
  const [code = '', issuer] = order.token.split(':');
  const builder = new TransactionBuilder(await server.getAccount(payer.publicKey()), {
    fee: fee_stroops,
    networkPassphrase: await passphraseOf(rpcUrl),
  })
    .addOperation(
      Operation.payment({
        destination: order.receiverAddress,
        asset: new Asset(code, issuer),
        amount: formatAmount(order.amount, decimals),
      }),
    )
    .setTimeout(validFor_s);
  if (order.receiverMemo !== null) builder.addMemo(Memo.text(order.receiverMemo));
  const transaction = builder.build();
  transaction.sign(payer);
  return settle(server, transaction);
}

async function settle(server: rpc.Server, transaction: Transaction): Promise<string> {
  const hash = transaction.hash().toString('hex');
  await send(server, transaction);
  const got = await landing(server, transaction);
  if (got === 'SUCCESS') return hash;
  throw got === 'expired'
    ? new Expired(`the payment ${hash} expired`)
    : new Error(`the payment ${hash} ended as ${got}`);
}

const passphraseOf = async (rpcUrl: string): Promise<string> =>
  (await new rpc.Server(rpcUrl, { allowHttp: true }).getNetwork()).passphrase;
