/** SQL comparisons and sums that differ from JavaScript's. */
import type { Row, View } from './server.ts';

/** Null sorts last, as in Postgres. */
export function compare(a: unknown, b: unknown): number {
  if (a === b) return 0;
  if (a === null || a === undefined) return 1;
  if (b === null || b === undefined) return -1;
  return (a as string) < (b as string) ? -1 : 1;
}

/** Orders rows by these columns; `-name` is descending. */
export const by =
  (...columns: readonly string[]) =>
  (a: Row, b: Row): number => {
    for (const column of columns) {
      const name = column.replace(/^-/, '');
      const order = column === name ? compare(a[name], b[name]) : compare(b[name], a[name]);
      if (order !== 0) return order;
    }
    return 0;
  };

const scale = 36n;

/** Sum of decimal texts. */
export function decimalSum(amounts: readonly string[]): string {
  const sum = amounts.reduce((total, amount) => total + inUnits(amount), 0n);
  const digits = (sum < 0n ? -sum : sum).toString().padStart(Number(scale) + 1, '0');
  const fraction = digits.slice(-Number(scale)).replace(/0+$/, '');
  return `${sum < 0n ? '-' : ''}${digits.slice(0, -Number(scale))}${fraction === '' ? '' : `.${fraction}`}`;
}

/** A decimal text as a whole number of its smallest parts: for comparing. */
export function inUnits(amount: string): bigint {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(amount) ?? [];
  const units = BigInt(whole) * 10n ** scale + BigInt(fraction.padEnd(Number(scale), '0'));
  return sign === '-' ? -units : units;
}

/** Neither parked nor before its next attempt. */
export function notWaiting(view: View, worker: string, key: string, now: string): boolean {
  const failure = view.get('ops.work_failures', [worker, key]);
  return !failure || (failure['parked_at'] === null && failure['next_attempt_at'] <= now);
}

export const isOneOf =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
