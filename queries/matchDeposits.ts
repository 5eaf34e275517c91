import type { Place } from '../domain/payment/deposit.ts';
import type { Sql } from './sql.ts';

/** A deposit that a transfer may be for. */
export interface MatchedDeposit extends Place {
  readonly paymentId: string;
  readonly appId: string;
  /** The agreed amount in whole tokens, rounded up; null where the payment takes any amount. */
  readonly agreed_usd: bigint | null;
}

const columns = 'address, memo, payment_id AS "paymentId", app_id AS "appId", agreed_usd';

/** Which of these places are payments' own, on whichever EVM chain they were paid. @throws Unavailable */
export async function matchDeposits(sql: Sql, places: readonly Place[]): Promise<readonly MatchedDeposit[]> {
  const shared = places.filter(({ memo }) => memo !== '');
  const own = shared.length === 0 ? places : places.filter(({ memo }) => memo === '');
  const [byAddress, byMemo] = await Promise.all([matchOwn(sql, own), matchShared(sql, shared)]);
  return [...byAddress, ...byMemo];
}

/** Addresses that one payment has to itself: there may be very many, and the index takes them as they are. */
const matchOwn = async (sql: Sql, places: readonly Place[]) =>
  places.length === 0
    ? []
    : sql.query<MatchedDeposit>(`SELECT ${columns} FROM deposits WHERE address = ANY ($1) AND memo = ''`, [
        places.map(({ address }) => address),
      ]);

const matchShared = async (sql: Sql, places: readonly Place[]) =>
  places.length === 0
    ? []
    : sql.query<MatchedDeposit>(
        `SELECT ${columns} FROM unnest($1::text[], $2::text[]) AS paid (address, memo) JOIN deposits USING (address, memo)`,
        [places.map(({ address }) => address), places.map(({ memo }) => memo)],
      );
