/** Daily rates of currencies, as an operator's file has them: lines of `2026-11-29,EUR,0.8631`, units of the currency for one dollar. */
import { day_ms, type Instant, plus } from '../domain/time.ts';

export interface FiatRates {
  /** In the order of the alphabet. */
  readonly currencies: readonly string[];
  /** Rate of the day, or of the last day before it within a week: banks set none at weekends. Null without one. */
  on(currency: string, day: string): string | null;
}

export const fiatLimits = { bytes: 4_000_000, lines: 100_000, daysBack: 7 } as const;

const line = /^(\d{4}-\d{2}-\d{2}),([A-Z]{3}),(\d{1,9}(?:\.\d{1,12})?)$/;

/** Reads the file; a header and empty lines are skipped. @throws RangeError with the number of a wrong line */
export function readFiatRates(text: string): FiatRates {
  const lines = text.split(/\r?\n/);
  if (lines.length > fiatLimits.lines) throw new RangeError(`has more than ${fiatLimits.lines} lines`);
  const rates = new Map<string, string>();
  const currencies = new Set<string>();
  for (const [index, each] of lines.entries()) {
    if (each.trim() === '' || (index === 0 && !/\d/.test(each))) continue;
    const [, day = '', currency = '', rate = ''] = line.exec(each.trim()) ?? [];
    if (rate === '' || !/[1-9]/.test(rate)) throw new RangeError(`line ${index + 1} is no day, currency and rate`);
    rates.set(`${currency} ${day}`, rate);
    currencies.add(currency);
  }
  if (rates.size === 0) throw new RangeError('has no rates');
  return {
    currencies: [...currencies].sort(),
    on(currency, day) {
      for (let back = 0; back <= fiatLimits.daysBack; back += 1) {
        const rate = rates.get(`${currency} ${dayBefore(day, back)}`);
        if (rate !== undefined) return rate;
      }
      return null;
    },
  };
}

const dayBefore = (day: string, days: number): string =>
  plus(`${day}T00:00:00.000Z` as Instant, -days * day_ms).slice(0, 10);
