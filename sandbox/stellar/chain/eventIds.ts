/** Positions in the history as RPC nodes write them: ledger, transaction and operation in one number (SEP-35). */

export interface Position {
  readonly ledger: number;
  /** From 1; 0 is before all transactions of the ledger. */
  readonly transaction: number;
  readonly operation: number;
}

const transactionBits = 20n;
const operationBits = 12n;
/** Position after all transactions of a ledger. */
export const transactionMax = 2 ** 20 - 1;
const operationMax = 2 ** 12 - 1;
const eventMax = 2 ** 32 - 1;

/** Total order id, in decimal. */
export const totalOrderId = ({ ledger, transaction, operation }: Position): string =>
  (
    (BigInt(ledger) << (transactionBits + operationBits)) |
    (BigInt(transaction) << operationBits) |
    BigInt(operation)
  ).toString();

export function positionOf(id: string): Position {
  const number = BigInt(id);
  return {
    ledger: Number(number >> (transactionBits + operationBits)),
    transaction: Number((number >> operationBits) & BigInt(transactionMax)),
    operation: Number(number & BigInt(operationMax)),
  };
}

/** Ids of events sort as text in the order of the events. */
export const eventId = (position: Position, index: number): string =>
  `${totalOrderId(position).padStart(19, '0')}-${String(index).padStart(10, '0')}`;

/** The last possible position of a ledger. */
export const lastPosition = (ledger: number): Position => ({
  ledger,
  transaction: transactionMax,
  operation: operationMax,
});

/** After every event of a ledger. */
export const endOfLedger = (ledger: number): string => eventId(lastPosition(ledger), eventMax);

/** Before every event of a ledger. */
export const startOfLedger = (ledger: number): string => eventId({ ledger, transaction: 0, operation: 0 }, 0);

export const ledgerOf = (eventId: string): number => positionOf(eventId.slice(0, 19)).ledger;
