/** A month of the calendar, in UTC. */
import { type Instant, instant } from '../../domain/time.ts';

export interface Month {
  /** `2026-11` */
  readonly name: string;
  /** `November 2026` */
  readonly title: string;
  readonly from: Instant;
  /** The first moment of the next one. */
  readonly to: Instant;
}

const names = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July'],
  ...['August', 'September', 'October', 'November', 'December'],
];

/** @param text `2026-11`. @returns undefined when it is no month */
export function monthNamed(text: string): Month | undefined {
  const [, year, month] = /^(20\d\d)-(0[1-9]|1[0-2])$/.exec(text) ?? [];
  if (year === undefined || month === undefined) return undefined;
  const [y, m] = [Number(year), Number(month)];
  return {
    name: text,
    title: `${names[m - 1]} ${y}`,
    from: instant(Date.UTC(y, m - 1)),
    to: instant(Date.UTC(y, m)),
  };
}
