import type { Sql } from './sql.ts';

/** A deposit that a transfer may be for. */
export interface MatchedDeposit {
  /** EVM addresses in lower case. */
  readonly address: string;
  readonly paymentId: string;
  readonly appId: string;
  /** The agreed amount in whole tokens, rounded up; null where the payment takes any amount. */
  readonly agreed_usd: bigint | null;
}

/** Which of these addresses are payments' own, on whichever EVM chain they were paid. @throws Unavailable */
export const matchDeposits = (sql: Sql, addresses: readonly string[]): Promise<readonly MatchedDeposit[]> =>
  sql.query<MatchedDeposit>(
    `SELECT address, payment_id AS "paymentId", app_id AS "appId", agreed_usd
       FROM deposits WHERE address = ANY ($1) AND memo = ''`,
    [addresses.map((address) => (/^0x/i.test(address) ? address.toLowerCase() : address))],
  );
