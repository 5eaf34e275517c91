/** A buyer pays a merchant by credit, with a signed message (service reference 4.10). */
import { createHash } from 'node:crypto';
import {
  type CreditState,
  credit,
  isExpired,
  isUsed,
  type MessageSigner,
  messageText,
  type Spending,
  type SpendOrder,
  spend,
} from '../domain/credit.ts';
import { assert, isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { instant } from '../domain/time.ts';
import { serializeByKey } from '../src/lib/concurrency.ts';
import { type By, currentState, type Handle } from './handle.ts';
import { type Clock, type MessageSigners, refuseUnavailable, type SignedMessage, Unavailable } from './ports.ts';

export interface PayByCreditDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  readonly signers: MessageSigners;
  /** The endpoint's URL, which every message contains. */
  readonly service: () => string;
  readonly isCurrency: (code: string) => boolean;
}

/** Request as sent; null for omitted fields. */
export interface CashbackRequest {
  readonly fromAddress: string;
  readonly toHandle: string;
  readonly amountUsdCents: number;
  readonly timestamp_ms: number;
  readonly signature: string;
  readonly amountLocal: number | null;
  readonly currencyLocal: string | null;
  readonly orderId: string | null;
  readonly about: string | null;
}

export const paymentResults = ['SUCCESS', 'EXPIRED', 'OUT_OF_CREDIT', 'NOT_VALID_SIGN'] as const;
export type PaymentResult = (typeof paymentResults)[number];

/** Maximum queries of a contract for one message. */
const triesMax = 3;

/** @param appId app of the handle in the request. @returns refusals of the request itself */
export type PayByCredit = (request: CashbackRequest, appId: string, by: By) => Promise<PaymentResult | Refusal>;

/**
 * The account's stream decides: one CreditSpent, or none. Crash before the append: nothing happened, the same message may be sent again.
 * Crash after it: the repeated message returns the earlier decision.
 */
export function createPayByCredit({ handle, clock, signers, service, isCurrency }: PayByCreditDeps): PayByCredit {
  const oneByOne = serializeByKey();

  return async (request, appId, by) => {
    const account = signers.canonical(request.fromAddress);
    const refused = malformed(request, account, isCurrency);
    if (refused) return refused;
    assert(account !== null, 'a request without an account is malformed');
    const text = messageText({ ...request, service: service(), fromAddress: account });
    const digest = createHash('sha256').update(text).digest('hex');
    const order = orderOf(request, { account, appId, digest });

    const message = { text, signature: request.signature };
    // The account may earn on another chain while its contract is queried: then the contract is queried there too.
    for (let tries = 1; tries <= triesMax; tries += 1) {
      const state = await currentState(handle, credit, account);
      if (!isUsed(state, digest) && isExpired(order.signedAt, clock.now())) return 'EXPIRED';
      const signer = await signerOf(account, message, state);
      if (signer === null) return 'NOT_VALID_SIGN';
      if (isRefusal(signer)) return signer;
      const verdict = await oneByOne(account, () => decide(order, signer, by));
      if (verdict !== 'unprovenChain') return resultOf(verdict);
    }
    return refuse('unavailable', 'this account is earning credit on new chains: send the same message again');
  };

  /** @returns null if no valid signature; a refusal while a contract cannot be queried */
  async function signerOf(
    account: string,
    message: SignedMessage,
    { earnedOn }: CreditState,
  ): Promise<MessageSigner | Refusal | null> {
    try {
      if (await signers.isSignedBy(account, message)) return 'key';
      return (await signers.isAcceptedBy(account, message, earnedOn)) ? { contractOn: earnedOn } : null;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      return refuseUnavailable(error);
    }
  }

  async function decide(order: SpendOrder, signer: MessageSigner, by: By): Promise<Spending['verdict']> {
    let verdict: Spending['verdict'] = 'busy';
    const handled = await handle(
      credit,
      order.account,
      (state) => {
        const spending = spend(state, order, signer, clock.now());
        verdict = spending.verdict;
        return spending.events;
      },
      { ...by, appId: order.appId },
    );
    assert(!isRefusal(handled), 'what an account decides is no refusal');
    return verdict;
  }
}

const orderOf = (
  { amountUsdCents, amountLocal, currencyLocal, orderId, about, timestamp_ms }: CashbackRequest,
  { account, appId, digest }: Pick<SpendOrder, 'account' | 'appId' | 'digest'>,
): SpendOrder => ({
  account,
  appId,
  digest,
  orderId,
  cents: BigInt(amountUsdCents),
  amountLocal: amountLocal === null ? null : String(amountLocal),
  currencyLocal,
  about,
  signedAt: instant(timestamp_ms),
});

/** Smaller numbers are not milliseconds: 1973 in milliseconds, year 5138 in seconds. */
const earliest_ms = 100_000_000_000;
/** Larger numbers are microseconds: year 5138 in milliseconds. */
const latest_ms = 100_000_000_000_000;

function malformed(
  { timestamp_ms, amountLocal, currencyLocal }: CashbackRequest,
  account: string | null,
  isCurrency: PayByCreditDeps['isCurrency'],
): Refusal | undefined {
  const bad = (field: string, message: string) => refuse('invalidRequest', `${field} ${message}`, `/${field}`);
  if (account === null) {
    return bad(
      'from_address',
      'must be the address that signs, with its right checksum: 0x…, a Solana wallet, or G… on Stellar',
    );
  }
  if (timestamp_ms < earliest_ms)
    return bad('timestamp', 'must be in milliseconds: this looks like seconds, send it times 1000');
  if (timestamp_ms > latest_ms) return bad('timestamp', 'must be in milliseconds since 1970: this is finer');
  // Requires plain digits, as every JSON library writes them: the signed text must be equal everywhere.
  if (amountLocal !== null && !/^\d{1,11}(\.\d{1,4})?$/.test(String(amountLocal))) {
    return bad('amount_local', 'must have at most 11 digits, and 4 after the point');
  }
  if (currencyLocal !== null && !isCurrency(currencyLocal)) {
    return bad('currency_local', 'must be a currency code of ISO 4217, such as EUR');
  }
  return undefined;
}

function resultOf(verdict: Exclude<Spending['verdict'], 'unprovenChain'>): PaymentResult | Refusal {
  switch (verdict) {
    case 'spent':
      return 'SUCCESS';
    case 'expired':
      return 'EXPIRED';
    case 'outOfCredit':
      return 'OUT_OF_CREDIT';
    case 'orderConflict':
      return refuse(
        'orderConflict',
        'this order_id was paid with another amount: send that, or another order_id',
        '/order_id',
      );
    case 'busy':
      return {
        ...refuse('rateLimited', 'this account changes too often: send a new message in a few minutes'),
        retryAfter_s: 600,
      };
  }
}
