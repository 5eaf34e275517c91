/** What one operator's word moved within a day. Each order may be small enough; their sum must be, too. */
import { day_ms, minute_ms } from '../../domain/time.ts';
import type { Unapproved } from './claims.ts';
import { type Finding, findingAt } from './findings.ts';

/** An order takes its share of the day some moments before or after its own time. */
const window_ms = day_ms - 10 * minute_ms;

/** @param orders in the order in which the log recorded them; at most one day of them is in memory. @param most in millionths of a dollar */
export function* allowanceFindings(orders: Iterable<Unapproved>, most: bigint): Iterable<Finding> {
  let recent: { readonly at_ms: number; readonly value: bigint }[] = [];
  let sum = 0n;
  for (const { where, at, by, value_microUsd } of orders) {
    const at_ms = Date.parse(at);
    const value = BigInt(value_microUsd);
    const over = recent.filter((each) => at_ms - each.at_ms >= window_ms);
    for (const each of over) sum -= each.value;
    if (over.length > 0) recent = recent.filter((each) => at_ms - each.at_ms < window_ms);
    recent.push({ at_ms, value });
    sum += value;
    // One that is too large alone is found in its own stream.
    if (sum > most && value <= most)
      yield findingAt(
        'approvalMissing',
        where,
        `with it ${sum} millionths of a dollar were ordered within a day and not approved, the last by ${by}; ${most} may be`,
      );
  }
}
