/** Pays as wallets on Stellar do, with the plain SDK: into the payin contract, or by a payment with a memo. */
import { Asset, contract, Keypair, Memo, Operation, rpc, TransactionBuilder } from '@stellar/stellar-sdk';
import { formatAmount } from '../domain/money.ts';

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
const validFor_s = 60;
const looksMax = 120;
const look_ms = 500;

/** @returns the transaction's hash once a ledger has it @throws Error when it fails or does not land in time */
export async function payOnStellar(rpcUrl: string, secret: string, order: StellarOrder): Promise<string> {
  const { receiverAddressContract: contractId, receiverMemoContract: memo } = order;
  return contractId === null
    ? sendPayment(rpcUrl, secret, order)
    : callPay(rpcUrl, secret, { contractId, memo: memo ?? '', amount: order.amount });
}

/** In the contract's own interface. */
interface PayinClient {
  pay(args: {
    readonly sender: string;
    readonly amount: bigint;
    readonly memo: string;
  }): Promise<contract.AssembledTransaction<contract.Result<void>>>;
}

async function callPay(
  rpcUrl: string,
  secret: string,
  call: { readonly contractId: string; readonly amount: bigint; readonly memo: string },
): Promise<string> {
  const { contractId, amount, memo } = call;
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
  const transaction = await client.pay({ sender: payer.publicKey(), amount, memo });
  const { sendTransactionResponse: sent, getTransactionResponse: got } = await transaction.signAndSend();
  return landed(sent?.hash, got?.status);
}

async function sendPayment(rpcUrl: string, secret: string, order: StellarOrder): Promise<string> {
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
  const { hash, status } = await server.sendTransaction(transaction);
  if (status !== 'PENDING') throw new Error(`the node did not take the payment ${hash}: ${status}`);
  const got = await server.pollTransaction(hash, { attempts: looksMax, sleepStrategy: () => look_ms });
  return landed(hash, got.status);
}

const passphraseOf = async (rpcUrl: string): Promise<string> =>
  (await new rpc.Server(rpcUrl, { allowHttp: true }).getNetwork()).passphrase;

function landed(hash: string | undefined, status: string | undefined): string {
  if (hash === undefined || status !== 'SUCCESS') throw new Error(`the payment ${hash} ended as ${status}`);
  return hash;
}
