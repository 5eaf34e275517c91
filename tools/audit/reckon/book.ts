/** The address book at any moment: at most a few hundred entries ever. */
import type { AuditEntry } from '../entry.ts';
import type { Book } from './others.ts';

interface Span {
  readonly place: string;
  readonly address: string;
  readonly from: string;
  until: string | null;
}

export const addressBookStream = 'addressBook-treasury';

export interface WrittenBook extends Book {
  next(entry: AuditEntry): void;
}

export function createBook(): WrittenBook {
  const spans: Span[] = [];
  const addressOf = ({ chainId, address }: Parameters<Book['isUsable']>[0]): string =>
    JSON.stringify([chainId, address]);
  const placeOf = ({ chainId, address, memo }: Parameters<Book['isUsable']>[0]): string =>
    JSON.stringify([chainId, address, memo]);
  return {
    next({ type, data }) {
      const place = placeOf(data);
      for (const span of spans)
        if (span.place === place && span.until === null) span.until = data.removedAt ?? data.addedAt;
      if (type === 'AddressAdded') spans.push({ place, address: addressOf(data), from: data.usableFrom, until: null });
    },
    isUsable: (asked, at) =>
      spans.some(
        ({ place, address, from, until }) =>
          (asked.memo === undefined ? address === addressOf(asked) : place === placeOf(asked)) &&
          from <= at &&
          (until === null || at < until),
      ),
  };
}
