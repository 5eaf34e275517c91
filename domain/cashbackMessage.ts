/**
 * The text that a buyer signs to pay out of credit; docs/cashback.md states the rule for those who build it elsewhere.
 *
 * One line for each field, in this order, its value in JSON: no value can pretend to be another line, so two different requests never
 * share a text. Only printable ASCII: every wallet shows and signs the same bytes.
 */
export const messageVersion = 1;

/** What a request says besides its signature. Null: the field is left out, and so is its line. */
export interface CashbackMessage {
  /** The endpoint's URL, without a query. */
  readonly service: string;
  /** Spelled as its chain spells it. */
  readonly fromAddress: string;
  readonly toHandle: string;
  readonly amountUsdCents: number;
  readonly timestamp_ms: number;
  readonly amountLocal: number | null;
  readonly currencyLocal: string | null;
  readonly orderId: string | null;
  readonly about: string | null;
}

export function messageText(message: CashbackMessage): string {
  const fields: readonly (readonly [name: string, value: string | number | null])[] = [
    ['service', message.service],
    ['version', messageVersion],
    ['from_address', message.fromAddress],
    ['to_handle', message.toHandle],
    ['amount_usd_cents', message.amountUsdCents],
    ['timestamp', message.timestamp_ms],
    ['amount_local', message.amountLocal],
    ['currency_local', message.currencyLocal],
    ['order_id', message.orderId],
    ['about', message.about],
  ];
  const lines = fields.flatMap(([name, value]) => (value === null ? [] : [`${name}: ${ascii(value)}`]));
  return ['Pay with cashback credit', ...lines].join('\n');
}

/** JSON in printable ASCII: every other UTF-16 unit of a text as \uXXXX, in lower case. */
const ascii = (value: string | number): string =>
  JSON.stringify(value).replaceAll(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
