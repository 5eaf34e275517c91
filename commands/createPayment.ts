import { type Chain, chains, findChain, findToken, type Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { parseAmount, rescale, units } from '../domain/money.ts';
import { createPayment as decideCreate, type Terms } from '../domain/payment/create.ts';
import type { PaymentType } from '../domain/payment/events.ts';
import { type Payment, paymentDecider } from '../domain/payment/state.ts';
import type { Handle } from './handle.ts';
import { paymentIdOf } from './paymentId.ts';
import type { AddressBook, Clock, DepositScheme, Ids } from './ports.ts';

/** A create request whose shape has been checked; amounts, chains and addresses are still as the caller spelled them. */
export interface NewPayment {
  readonly appId: string;
  readonly orderId: string | null;
  readonly type: PaymentType;
  readonly intent: string | null;
  readonly display: {
    readonly title: string | null;
    readonly description: string | null;
    readonly currency: string | null;
  };
  readonly metadata: Readonly<Record<string, string>> | null;
  readonly source: Side & { readonly senderAddress?: string | undefined };
  readonly destination:
    | (Partial<Side> & {
        readonly receiverAddress?: string | undefined;
        readonly receiverMemo?: string | null | undefined;
      })
    | null;
}

interface Side {
  readonly chainId: string | number;
  readonly tokenSymbol: string;
  readonly amount?: string | undefined;
}

/** What an app's settings say at this moment; the terms keep what was in force. */
export interface AppSettings {
  readonly appId: string;
  readonly idSalt: string;
  readonly webhookUrl: string | null;
  /** Where a `merchant_` app is paid out to, always. */
  readonly settlement: Settlement | null;
}

export interface Settlement {
  readonly chainId: number;
  readonly tokenSymbol: string;
  readonly receiverAddress: string;
  readonly receiverMemo: string | null;
}

export interface CreatePaymentDeps {
  readonly handle: Handle;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly addresses: AddressBook;
  /** Whether this installation serves the chain. */
  readonly offers: (chain: Chain) => boolean;
  readonly deposits: Partial<Record<Chain['family'], DepositScheme>>;
  /** Fixed fee in millionths of a dollar and basis points of a route. */
  readonly feeOf: (
    source: Chain,
    destination: Chain,
  ) => { readonly fixed_microUsd: bigint; readonly basisPoints: number };
  /** Whether the treasury's float and gas can cover what is open plus this payout; a refusal says when to try again. */
  readonly checkRoute: (destination: Chain, token: Token, amount: bigint | null) => Refusal | undefined;
}

export interface CreatedPayment {
  readonly payment: Payment;
  readonly createdNow: boolean;
  readonly position: bigint | null;
}

/**
 * Creates a payment, or answers the one that the app's orderId already has, whatever the new body says.
 *
 * An orderId gives the payment its id, so two creators meet at the same stream and `no_stream` lets one through:
 * idempotent by construction, with no look-up before.
 * Crash before the append: nothing exists, the caller's retry creates. After it: the retry is answered with the payment.
 */
export async function createPayment(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  caller: { readonly keyless: boolean; readonly cause: string },
): Promise<CreatedPayment | Refusal> {
  const paymentId =
    request.orderId === null ? deps.ids.paymentId() : paymentIdOf(app.idSalt, request.orderId, caller.keyless);
  const terms = await readTerms(deps, request, app, paymentId, caller.keyless);
  if (isRefusal(terms)) return (await existing(deps, request, paymentId)) ?? terms;
  const handled = await deps.handle(paymentDecider, paymentId, (state) => decideCreate(state, terms), {
    cause: caller.cause,
    appId: app.appId,
    expectNew: true,
  });
  if (isRefusal(handled)) return handled;
  return { payment: handled.state as Payment, createdNow: handled.appended > 0, position: handled.position };
}

/** A repeated orderId is answered with its payment even when the repeated body is wrong. */
async function existing(
  deps: CreatePaymentDeps,
  request: NewPayment,
  paymentId: string,
): Promise<CreatedPayment | undefined> {
  if (request.orderId === null) return undefined;
  const found = await deps.handle(paymentDecider, paymentId, () => [], { cause: 'create', appId: request.appId });
  if (isRefusal(found) || !found.state) return undefined;
  return { payment: found.state, createdNow: false, position: null };
}

async function readTerms(
  deps: CreatePaymentDeps,
  request: NewPayment,
  app: AppSettings,
  paymentId: string,
  keyless: boolean,
): Promise<Terms | Refusal> {
  if (request.intent !== null) {
    return refuse('invalidRequest', `intent ${request.intent} is not offered by this installation`, '/intent');
  }
  const source = readSide(deps, request.source, '/source');
  if (isRefusal(source)) return source;
  const destination = readDestination(deps, request, app);
  if (isRefusal(destination)) return destination;
  const amounts = readAmounts(request, source, destination);
  if (isRefusal(amounts)) return amounts;
  const scheme = deps.deposits[source.chain.family];
  if (!scheme) return notOffered(source.chain, '/source/chainId');
  const sender = request.source.senderAddress;
  const senderAddress = sender === undefined ? null : deps.addresses.canonical(source.chain, sender);
  if (sender !== undefined && senderAddress === null) return notAnAddress(source.chain, '/source/senderAddress');
  const refusal = deps.checkRoute(destination.chain, destination.token, payoutAtMost(amounts, source, destination));
  if (refusal) return refusal;
  const { fixed_microUsd, basisPoints } = deps.feeOf(source.chain, destination.chain);
  return {
    paymentId,
    appId: app.appId,
    orderId: request.orderId,
    keyless,
    type: request.type,
    intent: null,
    display: request.display,
    metadata: request.metadata,
    source: { ...source, amount: amounts.source, senderAddress },
    destination: { ...destination, amount: amounts.destination },
    feePolicy: { fixed: rescale(fixed_microUsd, microUsdDecimals, source.token.decimals), basisPoints },
    deposit: await scheme.assign(paymentId, source.token, null),
    webhookUrl: app.webhookUrl,
    now: deps.clock.now(),
  };
}

const microUsdDecimals = 6;

interface Amounts {
  readonly source: bigint | null;
  readonly destination: bigint | null;
}

/** What the treasury needs to hold, in destination units: the fee only lowers it. Null for a payment that takes any amount. */
const payoutAtMost = (amounts: Amounts, source: { token: Token }, destination: { token: Token }): bigint | null =>
  amounts.source === null
    ? amounts.destination
    : rescale(amounts.source, source.token.decimals, destination.token.decimals);

function readSide(deps: CreatePaymentDeps, side: Side, pointer: string): { chain: Chain; token: Token } | Refusal {
  const chain = findChain(side.chainId);
  if (!chain) {
    const known = chains.map(({ id, name }) => `${id} (${name})`).join(', ');
    return refuse('invalidRequest', `unknown chain: use one of ${known}`, `${pointer}/chainId`);
  }
  if (!deps.offers(chain)) return notOffered(chain, `${pointer}/chainId`);
  const token = findToken(chain, side.tokenSymbol);
  if (!token) {
    const known = chain.tokens.map(({ symbol }) => symbol).join(', ');
    return refuse(
      'invalidRequest',
      `${chain.name} has no such token here: use one of ${known}`,
      `${pointer}/tokenSymbol`,
    );
  }
  return { chain, token };
}

type Destination = Pick<Terms['destination'], 'chain' | 'token' | 'receiverAddress' | 'receiverMemo'>;

/** A `merchant_` app is paid out to its settlement wallet and nowhere else; a `wallet_` app says where on each payment. */
function readDestination(deps: CreatePaymentDeps, request: NewPayment, app: AppSettings): Destination | Refusal {
  const stated = request.destination ?? {};
  if (app.appId.startsWith('merchant_')) return settlementOf(deps, stated, app);
  for (const field of ['chainId', 'tokenSymbol', 'receiverAddress'] as const) {
    if (stated[field] === undefined)
      return refuse('invalidRequest', `destination.${field} is required`, `/destination/${field}`);
  }
  const side = readSide(deps, stated as Side, '/destination');
  if (isRefusal(side)) return side;
  const receiverAddress = deps.addresses.canonical(side.chain, stated.receiverAddress ?? '');
  if (receiverAddress === null) return notAnAddress(side.chain, '/destination/receiverAddress');
  const receiverMemo = stated.receiverMemo ?? null;
  if (receiverMemo !== null && side.chain.family === 'evm') {
    return refuse(
      'invalidRequest',
      `${side.chain.name} transfers carry no memo: leave it out`,
      '/destination/receiverMemo',
    );
  }
  return { ...side, receiverAddress, receiverMemo };
}

/** What the request may repeat of the settlement wallet must be the wallet's own, however its chain and address are spelled. */
function settlementOf(
  deps: CreatePaymentDeps,
  stated: NonNullable<NewPayment['destination']>,
  { settlement }: AppSettings,
): Destination | Refusal {
  if (!settlement) {
    return refuse('settlementMissing', 'the app has no settlement wallet: set one before creating payments');
  }
  const side = readSide(deps, settlement, '/destination');
  if (isRefusal(side)) return side;
  const { receiverAddress, receiverMemo } = settlement;
  const { chainId = settlement.chainId, tokenSymbol = settlement.tokenSymbol } = stated;
  const differs = {
    chainId: findChain(chainId)?.id !== side.chain.id,
    tokenSymbol: tokenSymbol !== settlement.tokenSymbol,
    receiverAddress:
      stated.receiverAddress !== undefined &&
      deps.addresses.canonical(side.chain, stated.receiverAddress) !== receiverAddress,
    receiverMemo: (stated.receiverMemo ?? receiverMemo) !== receiverMemo,
  };
  const field = Object.entries(differs).find(([, different]) => different)?.[0];
  if (field) {
    const message = 'payouts of this app go to its settlement wallet: leave destination unset, or send only its amount';
    return refuse('forbidden', message, `/destination/${field}`);
  }
  return { ...side, receiverAddress, receiverMemo };
}

/** Which side of a request carries the amount. */
const amountSide: Readonly<Record<PaymentType, 'source' | 'destination' | null>> = {
  exactIn: 'source',
  exactOut: 'destination',
  anyAmount: null,
};

function readAmounts(request: NewPayment, source: { token: Token }, destination: { token: Token }): Amounts | Refusal {
  const stated = { source: request.source.amount, destination: request.destination?.amount };
  const takes = amountSide[request.type];
  for (const side of ['source', 'destination'] as const) {
    if (side === takes && stated[side] === undefined) {
      return refuse('invalidRequest', `${request.type} needs ${side}.amount`, `/${side}/amount`);
    }
    if (side !== takes && stated[side] !== undefined) {
      return refuse('invalidRequest', `${request.type} takes no ${side}.amount: leave it out`, `/${side}/amount`);
    }
  }
  if (takes === null) return { source: null, destination: null };
  const { decimals, symbol } = takes === 'source' ? source.token : destination.token;
  const amount = parseAmount(stated[takes] ?? '', decimals);
  if (typeof amount === 'string') {
    const message = {
      notDecimal: 'amounts are plain decimal strings greater than zero, like "10.00"',
      tooManyDecimals: `${symbol} has ${decimals} decimals on this chain: use at most that many`,
      tooLong: 'the amount has too many digits',
    }[amount];
    return refuse('invalidRequest', message, `/${takes}/amount`);
  }
  if (amount > amountMax(decimals)) {
    return refuse(
      'invalidRequest',
      `the amount is above the limit of ${amountMax_usd} per payment`,
      `/${takes}/amount`,
    );
  }
  return takes === 'source' ? { source: amount, destination: null } : { source: null, destination: amount };
}

/** No payment may be larger; far above what a hot treasury holds, far below what a number column cannot. */
const amountMax_usd = 1_000_000_000n;
const amountMax = (decimals: number) => units(amountMax_usd * 10n ** BigInt(decimals));

const notOffered = (chain: Chain, pointer: string): Refusal =>
  refuse('invalidRequest', `${chain.name} is not offered by this installation: choose another chain`, pointer);

const notAnAddress = (chain: Chain, pointer: string): Refusal =>
  refuse(
    'invalidRequest',
    `this is no ${chain.name} address of a wallet, or its checksum is wrong: check every character`,
    pointer,
  );
