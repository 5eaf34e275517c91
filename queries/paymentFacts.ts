/** What a payment's events tell: typed facts, whole tokens, nothing that only the log needs. */
import type { ChainId, TokenSymbol } from '../domain/chains.ts';
import { formatAmount } from '../domain/money.ts';
import type { Payin, Standing } from '../domain/payment/counting.ts';
import type {
  BounceCode,
  DeathProof,
  PaymentCreated,
  PaymentEvent,
  PaymentEventData,
  TokenRef,
} from '../domain/payment/events.ts';
import { transferId } from '../domain/payment/events.ts';
import type { Payment } from '../domain/payment/state.ts';
import type { Attempt, TransferLeg } from '../domain/payment/transfer.ts';
import type { Instant } from '../domain/time.ts';

/** Whole tokens as a decimal text. */
export interface Money {
  readonly amount: string;
  readonly tokenSymbol: TokenSymbol;
}

interface PayinFact extends Money {
  readonly chainId: ChainId;
  readonly txHash: string;
  readonly from: string;
  readonly blockNumber: string;
  readonly standing: Standing;
}

/** Of a payout, or of the nth refund. */
interface Leg {
  readonly leg: 'payout' | 'refund';
  /** 1, 2, … of a refund; null for the payout. */
  readonly refund: number | null;
}

interface AttemptFact extends Leg {
  readonly attempt: number;
  readonly chainId: ChainId;
  readonly txHash: string;
}

export type PaymentFact =
  | {
      readonly type: 'created';
      /** Null for anyAmount. */
      readonly pays: Money | null;
      readonly gets: Money | null;
      readonly sourceChainId: ChainId;
      readonly destinationChainId: ChainId;
      readonly expiresAt: Instant;
    }
  /** Null where any amount is taken. */
  | {
      readonly type: 'sourceChosen';
      readonly chainId: ChainId;
      readonly tokenSymbol: TokenSymbol;
      readonly pays: Money | null;
      readonly depositAddress: string;
    }
  | { readonly type: 'payinRegistered'; readonly txHash: string; readonly senderAddress: string }
  /** `confirmations` as far as the chain has been read by now, the transfer's own block included; null where it is not known. */
  | ({ readonly type: 'payinDetected'; readonly confirmations: number | null } & PayinFact)
  | ({ readonly type: 'payinConfirmed' } & PayinFact)
  /** Its block left the chain; `payinLost` when it had funded the payment. */
  | ({ readonly type: 'payinOrphaned' | 'payinLost' } & PayinFact)
  | {
      readonly type: 'funded';
      readonly rule: PaymentEventData<'PaymentFunded'>['rule'];
      readonly received: Money;
      readonly fee: Money;
      /** Over the agreed amount: held, can be refunded. */
      readonly excess: Money;
      /** What the destination's token cannot express. */
      readonly dust: Money;
      readonly payout: Money;
    }
  | ({
      readonly type: 'ordered';
      readonly money: Money;
      readonly chainId: ChainId;
      readonly receiverAddress: string;
      readonly receiverMemo: string | null;
      /** Why it goes back; null for the payout. */
      readonly reason: PaymentEventData<'RefundRequested'>['reason'] | null;
    } & Leg)
  /** `fate` is what became of the attempt by now. */
  | ({
      readonly type: 'signed';
      readonly account: string;
      readonly nonce: string | null;
      readonly fate: Attempt['fate'];
    } & AttemptFact)
  | ({ readonly type: 'died'; readonly proof: DeathProof['reason'] } & AttemptFact)
  /** Its block left the chain: the same bytes are sent again. */
  | ({ readonly type: 'left' } & AttemptFact)
  /** It is on its chain for good, and less than was ordered arrived. */
  | ({ readonly type: 'short'; readonly arrived: Money; readonly ordered: Money } & AttemptFact)
  | ({ readonly type: 'settled'; readonly blockNumber: string } & AttemptFact)
  | { readonly type: 'expired'; readonly chainTime: Instant }
  | { readonly type: 'bounced'; readonly code: BounceCode; readonly received: Money }
  | { readonly type: 'refundAddressSet'; readonly address: string; readonly memo: string | null }
  /** An event of a type that this version does not know. */
  | { readonly type: 'other'; readonly name: string };

/**
 * @param after the payment right after the event
 * @param now the payment as it is by now: what became of attempts and payins
 */
export function factOf(event: PaymentEvent, after: Payment, now: Payment): PaymentFact {
  switch (event.type) {
    case 'PaymentCreated':
      return created(event.data);
    case 'SourceChosen':
      return chosen(event.data, after);
    case 'PayinRegistered':
      return { type: 'payinRegistered', txHash: event.data.txHash, senderAddress: event.data.senderAddress };
    case 'PaymentFunded':
      return funded(event.data, after);
    case 'PaymentExpired':
      return { type: 'expired', chainTime: event.data.chainTime };
    case 'PaymentBounced':
      return bounced(event.data, after);
    case 'RefundAddressSet':
      return { type: 'refundAddressSet', address: event.data.address, memo: event.data.memo };
    default:
      return payinFact(event, after) ?? legFact(event, now) ?? { type: 'other', name: event.type };
  }
}

const money = (units: bigint | string, { symbol, decimals }: TokenRef): Money => ({
  amount: formatAmount(BigInt(units), decimals),
  tokenSymbol: symbol,
});

const created = ({ source, destination, expiresAt }: PaymentCreated): PaymentFact => ({
  type: 'created',
  pays: source.amount === null ? null : money(source.amount, source.token),
  gets: destination.amount === null ? null : money(destination.amount, destination.token),
  sourceChainId: source.chainId,
  destinationChainId: destination.chainId,
  expiresAt,
});

function chosen({ deposit }: PaymentEventData<'SourceChosen'>, { chosen: source }: Payment): PaymentFact {
  const { chainId, token, amount } = source;
  const pays = amount === null ? null : money(amount, token);
  return { type: 'sourceChosen', chainId, tokenSymbol: token.symbol, pays, depositAddress: deposit.address };
}

const bounced = (
  { code, received, asset }: PaymentEventData<'PaymentBounced'>,
  { sources: [first] }: Payment,
): PaymentFact => ({ type: 'bounced', code, received: money(received, asset?.token ?? first.token) });

function funded(data: PaymentEventData<'PaymentFunded'>, { terms }: Payment): PaymentFact {
  const { token } = terms.source;
  return {
    type: 'funded',
    rule: data.rule,
    received: money(data.received, token),
    fee: money(data.fee, token),
    excess: money(data.excess, token),
    dust: money(data.dust, token),
    payout: money(data.payout, terms.destination.token),
  };
}

function payinFact(event: PaymentEvent, { payins }: Payment): PaymentFact | undefined {
  const of = (id: string): PayinFact | undefined => {
    const payin = payins.find((known) => known.id === id);
    return payin && payinOf(payin);
  };
  switch (event.type) {
    case 'PayinDetected': {
      const payin = of(transferId(event.data.transfer));
      return payin && { type: 'payinDetected', confirmations: null, ...payin };
    }
    case 'PayinConfirmed': {
      const payin = of(transferId(event.data.transfer));
      return payin && { type: 'payinConfirmed', ...payin };
    }
    case 'PayinOrphaned':
    case 'PayinLost': {
      const payin = of(event.data.transferId);
      return payin && { type: event.type === 'PayinLost' ? 'payinLost' : 'payinOrphaned', ...payin };
    }
    default:
      return undefined;
  }
}

const payinOf = ({ transfer, amount, standing }: Payin): PayinFact => ({
  ...money(amount, transfer.token),
  chainId: transfer.chainId,
  txHash: transfer.txHash,
  from: transfer.from,
  blockNumber: transfer.blockNumber,
  standing,
});

function legFact(event: PaymentEvent, now: Payment): PaymentFact | undefined {
  const refund = 'refund' in event.data ? event.data.refund : null;
  const which: Leg = { leg: refund === null ? 'payout' : 'refund', refund };
  const leg = refund === null ? now.payout : now.refunds.find((known) => known.refund === refund);
  if (!leg) return undefined;
  switch (event.type) {
    case 'PayoutRequested':
    case 'RefundRequested':
      return ordered(event, which);
    case 'PayoutSigned':
    case 'RefundSigned': {
      const { account, nonce, attempt } = event.data;
      const fate = leg.attempts.find(({ signed }) => signed.attempt === attempt)?.fate ?? 'live';
      return { type: 'signed', ...which, ...attemptOf(leg, attempt), account, nonce, fate };
    }
    case 'PayoutDied':
    case 'RefundDied':
      return { type: 'died', ...which, ...attemptOf(leg, event.data.attempt), proof: event.data.proof.reason };
    case 'PayoutOrphaned':
      return { type: 'left', ...which, ...attemptOf(leg, event.data.attempt) };
    case 'PayoutShort': {
      const { token, amount } = leg.order;
      const { attempt, arrived } = event.data;
      return {
        type: 'short',
        ...which,
        ...attemptOf(leg, attempt),
        arrived: money(arrived, token),
        ordered: money(amount, token),
      };
    }
    case 'PayoutConfirmed':
    case 'RefundConfirmed': {
      const { attempt, blockNumber } = event.data;
      return { type: 'settled', ...which, ...attemptOf(leg, attempt), blockNumber };
    }
    default:
      return undefined;
  }
}

type Ordered = Extract<PaymentEvent, { type: 'PayoutRequested' | 'RefundRequested' }>;

function ordered({ data }: Ordered, which: Leg): PaymentFact {
  const { chainId, token, amount, receiverAddress, receiverMemo } = data;
  const reason = 'reason' in data ? data.reason : null;
  return { type: 'ordered', ...which, money: money(amount, token), chainId, receiverAddress, receiverMemo, reason };
}

const attemptOf = ({ order, attempts }: TransferLeg, attempt: number) => ({
  attempt,
  chainId: order.chainId,
  txHash: attempts.find(({ signed }) => signed.attempt === attempt)?.signed.hash ?? '',
});
