import Type from 'typebox';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { PreparedPayments } from '../preparedPayments.ts';
import { admitApp, type Rates } from '../rateLimits.ts';
import type { PayLinkDeps } from '../resource.ts';
import { type AnyRoute, type ApiRequest, ok, type Route, route } from '../router.ts';
import { closed } from '../schemas/base.ts';

// Endpoints for wallets in payers' browsers. The payment's link is the only credential.

const SecretPath = Type.Object({ secret: Type.String({ description: 'The last part of `paymentLink`.' }) }, closed);
const Account = Type.String({ minLength: 1, maxLength: 100, description: 'The payer’s account.' });
const ChosenAmount = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 40,
    description: 'Required for a payment of any amount: whole tokens in decimal. Otherwise omit it.',
  }),
);

export const PrepareTransactionRequest = Type.Object(
  { account: Account, amount: ChosenAmount },
  { ...closed, title: 'PrepareTransactionRequest' },
);

export const PreparedTransactionResponse = Type.Object(
  {
    transaction: Type.String({
      description: 'Base64. Solana: a transaction to sign and send. Stellar: an envelope to sign.',
    }),
    seal: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Return it with the signed envelope. Null if the wallet sends the transaction.',
    }),
  },
  { title: 'PreparedTransactionResponse' },
);

export const SignedTransactionRequest = Type.Object(
  {
    account: Account,
    amount: ChosenAmount,
    transaction: Type.String({ minLength: 1, maxLength: 16_384, description: 'The signed envelope, base64.' }),
    seal: Type.String({ minLength: 1, maxLength: 100 }),
  },
  { ...closed, title: 'SignedTransactionRequest' },
);

export const SentTransactionResponse = Type.Object({ txHash: Type.String() }, { title: 'SentTransactionResponse' });

export const WalletPayinRequest = Type.Object(
  {
    txHash: Type.String({ minLength: 1, maxLength: 200 }),
    account: Account,
  },
  { ...closed, title: 'WalletPayinRequest' },
);

/** Needs of the routes of payers' wallets. */
export interface PreparedPaymentRoutesDeps extends Pick<PayLinkDeps, 'paymentSecrets'> {
  readonly preparedPayments: PreparedPayments;
  readonly rates: Rates;
}

/** The account has another name where merchants register payins. */
const asNamedHere = (refusal: Refusal): Refusal =>
  refusal.pointer === '/fromAddress' ? { ...refusal, pointer: '/account' } : refusal;

const tag = 'Payments';
const noPayment = refuse('paymentNotFound', 'no payment has this link: open the page again', '/secret');

export function preparedPaymentRoutes({
  preparedPayments,
  paymentSecrets,
  rates,
}: PreparedPaymentRoutesDeps): readonly AnyRoute[] {
  /** A secret of no payment and any other text get the same answer, and cost no read. */
  async function admitted({
    params,
    asker,
  }: Pick<ApiRequest<'none', { secret: string }, unknown, unknown>, 'params' | 'asker'>) {
    const paymentId = paymentSecrets.paymentIdOf(params.secret);
    if (paymentId === null) return null;
    await admitApp(rates, 'wallet', asker.address);
    await admitApp(rates, 'walletPayment', paymentId);
    return paymentId;
  }

  // A site that knows the secret could call from its own server as well: CORS gives it nothing more.
  const common = {
    method: 'post',
    auth: 'none',
    anyOrigin: true,
    params: SecretPath,
  } as const satisfies Partial<Route>;
  const errors = ['invalidRequest', 'paymentNotFound', 'paymentNotUpdatable', 'conflict', 'rateLimited'] as const;
  return [
    route({
      ...common,
      path: '/pay/{secret}/transaction',
      body: PrepareTransactionRequest,
      answers: { 200: { description: 'A transaction to sign', schema: PreparedTransactionResponse } },
      errors,
      doc: {
        id: 'preparePayinTransaction',
        tag,
        summary: 'Prepare a payin transaction for a wallet',
        description:
          'For payments from Solana and Stellar. The transaction pays exactly the amount due now from this account, or the stated amount of a payment of any amount. The service signs nothing. A `conflict` with pointer /token or /coin: the account has too little.',
      },
      async handle(request) {
        const paymentId = await admitted(request);
        if (paymentId === null) return noPayment;
        const prepared = await preparedPayments.prepare(paymentId, request.body);
        return isRefusal(prepared) ? prepared : ok(prepared);
      },
    }),
    route({
      ...common,
      path: '/pay/{secret}/signed',
      body: SignedTransactionRequest,
      answers: { 200: { description: 'Sent; it is verified on chain', schema: SentTransactionResponse } },
      errors,
      doc: {
        id: 'sendSignedTransaction',
        tag,
        summary: 'Send a prepared transaction that the payer signed',
        description:
          'For payments from Stellar. The service sends only what it prepared for this payment and account, unchanged and signed by the account, while the payment still waits for that amount.',
      },
      async handle(request) {
        const paymentId = await admitted(request);
        if (paymentId === null) return noPayment;
        const by = { ...request.by, cause: 'payer' } as const;
        const sent = await preparedPayments.sendSigned(paymentId, request.body, by);
        return isRefusal(sent) ? sent : ok({ txHash: sent });
      },
    }),
    route({
      ...common,
      path: '/pay/{secret}/payin',
      body: WalletPayinRequest,
      answers: { 200: { description: 'Stored; it is verified on chain', schema: SentTransactionResponse } },
      errors,
      doc: {
        id: 'registerWalletPayin',
        tag,
        summary: 'Register the transaction that a wallet sent',
        description:
          'As `registerPayin`, for the holder of the payment’s link. The transaction is only a hint: the chain decides.',
      },
      async handle(request) {
        const paymentId = await admitted(request);
        if (paymentId === null) return noPayment;
        const { txHash, account: fromAddress } = request.body;
        const by = { ...request.by, cause: 'payer' } as const;
        const registered = await preparedPayments.register(paymentId, { txHash, fromAddress }, by);
        if (isRefusal(registered)) return asNamedHere(registered);
        return ok({ txHash: registered.payment.registered?.txHash ?? txHash });
      },
    }),
  ];
}
