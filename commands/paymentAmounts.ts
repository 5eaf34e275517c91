/** Reads what a create request says of its type and amounts, each refused with a pointer to its field. */
import type { Token } from '../domain/chains.ts';
import { isRefusal, type Refusal, refuse } from '../domain/decider.ts';
import { microUsdDecimals, parseAmount, units } from '../domain/money.ts';
import type { PaymentType } from '../domain/payment/events.ts';
import type { NewPayment } from './paymentRequest.ts';

export interface ReadAmounts {
  readonly type: PaymentType;
  /** In the token's own units; null but for the side that the type takes. */
  readonly source: bigint | null;
  readonly destination: bigint | null;
}

type Stated = Pick<NewPayment, 'type' | 'intent'> & {
  readonly source: { readonly amount?: string | undefined };
  readonly destination: { readonly amount?: string | undefined } | null;
};

/** Which side of a request carries the amount. */
const amountSide: Readonly<Record<PaymentType, 'source' | 'destination' | null>> = {
  exactIn: 'source',
  exactOut: 'destination',
  anyAmount: null,
};

/** Of the field that says how much: of the type's where that takes any amount. */
export const amountPointer = (type: PaymentType): string =>
  amountSide[type] === null ? '/type' : `/${amountSide[type]}/amount`;

/** The other side's amount follows from the agreed one: clients that send back what they got may state it, and it says nothing. */
export function readAmounts(
  request: Stated,
  source: { readonly token: Token },
  destination: { readonly token: Token },
): ReadAmounts | Refusal {
  const type = readType(request);
  if (typeof type !== 'string') return type;
  const takes = amountSide[type];
  if (takes === null) return noAmounts(request);
  const text = request[takes]?.amount;
  const pointer = amountPointer(type);
  if (text === undefined) return refuse('invalidRequest', `${type} needs ${takes}.amount`, pointer);
  const amount = readAmount(text, takes === 'source' ? source.token : destination.token, pointer);
  if (isRefusal(amount)) return amount;
  return { type, source: null, destination: null, [takes]: amount };
}

/** The type that the request names, or the only one that its amounts can mean. */
function readType({ type, intent, source, destination }: Stated): PaymentType | Refusal {
  if (type !== null) return type;
  const [goesIn, comesOut] = [source.amount !== undefined, destination?.amount !== undefined];
  if (goesIn && comesOut) {
    const message = 'source.amount would mean exactIn, destination.amount exactOut: send one of them, or the type';
    return refuse('invalidRequest', message, '/type');
  }
  if (goesIn) return 'exactIn';
  if (comesOut) return 'exactOut';
  if (intent !== null) return 'anyAmount';
  const message =
    'is not said, neither by an amount: send source.amount (exactIn), destination.amount (exactOut) or a type';
  return refuse('invalidRequest', message, '/type');
}

function noAmounts({ source, destination }: Stated): ReadAmounts | Refusal {
  for (const [side, stated] of Object.entries({ source, destination })) {
    if (stated?.amount === undefined) continue;
    return refuse('invalidRequest', `anyAmount takes no ${side}.amount: leave it out`, `/${side}/amount`);
  }
  return { type: 'anyAmount', source: null, destination: null };
}

function readAmount(text: string, { decimals, symbol }: Token, pointer: string): bigint | Refusal {
  const amount = parseAmount(text, decimals);
  if (typeof amount === 'string') {
    const message = {
      notDecimal: 'amounts are plain decimal strings greater than zero, like "10.00"',
      tooManyDecimals: `${symbol} has ${decimals} decimals on this chain: use at most that many`,
      tooLong: 'the amount has too many digits',
    }[amount];
    return refuse('invalidRequest', message, pointer);
  }
  if (amount <= amountMax(decimals)) return amount;
  return refuse('invalidRequest', `the amount is above the limit of ${amountMax_usd} per payment`, pointer);
}

/** No payment may be larger. This is far more than a hot treasury holds, and far less than a column of the database can. */
export const amountMax_usd = 1_000_000_000n;
const amountMax = (decimals: number) => units(amountMax_usd * 10n ** BigInt(decimals));

/** Reads a decimal text in dollars. @param pointer of the field that states it */
export function readMicroUsd(text: string, pointer: string): bigint | Refusal {
  const amount = parseAmount(text, microUsdDecimals);
  if (typeof amount === 'bigint') return amount;
  const places = `must be an amount like 10.00 with at most ${microUsdDecimals} decimals`;
  return refuse('invalidRequest', places, pointer);
}
