/** Asks all questions of a report at one moment: nothing is written, and what happens meanwhile is in none of the answers or in all. */
import type { Instant } from '../../domain/time.ts';
import type { Sql, SqlDatabase } from '../../projections/sql.ts';
import type { Month } from './month.ts';
import { type Question, questions } from './questions.ts';

/** What a coin costs in dollars, by chain, as the service is configured. */
export type CoinPrices = Readonly<Record<string, { readonly decimals: number; readonly usd: string }>>;

export interface About {
  readonly month: Month;
  /** Null for all apps. */
  readonly appId: string | null;
  readonly prices: CoinPrices;
  readonly now: Instant;
}

/** Numbers as Postgres prints them; amounts are never a JavaScript number. */
export type AnswerRow = Readonly<Record<string, string | null>>;

export interface Answer {
  readonly sql: string;
  readonly parameters: readonly (string | null)[];
  readonly rows: readonly AnswerRow[];
}

export type Answers = Readonly<Record<Question['id'], Answer>>;

/** @throws Unavailable */
export function askAll(database: SqlDatabase, about: About): Promise<Answers> {
  return database.transaction(async (tx) => {
    await tx.query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY');
    const answers: Partial<Record<Question['id'], Answer>> = {};
    for (const question of Object.values(questions)) answers[question.id] = await ask(tx, question, about);
    return answers as Answers;
  });
}

async function ask(tx: Sql, { sql, also }: Question, { month, appId, prices, now }: About): Promise<Answer> {
  const more = { prices: JSON.stringify(prices), now };
  const parameters = [month.from, month.to, appId, ...also.map((name) => more[name])];
  const rows = await tx.query<Readonly<Record<string, unknown>>>(sql, parameters);
  return { sql, parameters, rows: rows.map(asText) };
}

const asText = (row: Readonly<Record<string, unknown>>): AnswerRow =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === null ? null : String(value)]));
