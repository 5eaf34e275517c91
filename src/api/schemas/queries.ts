/** Query parameters of lists, exports, the feed and statistics. */
import Type, { type Static } from 'typebox';
import { parseInstant } from '../../../domain/time.ts';
import {
  AsOfSent,
  closed,
  Identifier,
  OrdinalSent,
  oneOf,
  PageCursor,
  PaymentStatus,
  StatsPeriod,
  TimeSent,
} from './base.ts';

const { Optional } = Type;

export const CreateQuery = Type.Object(
  {
    dryrun: Optional(
      oneOf(['true', 'false'], {
        title: 'DryRunFlag',
        default: 'false',
        description:
          'true: answers what the payment would cost, as a QuoteResponse, and creates nothing. An extension.',
      }),
    ),
  },
  closed,
);

export const PaymentQuery = Type.Object({ asOf: Optional(AsOfSent) }, closed);

/** Default and maximum number of entries per page. */
export const pageSize = 20;
export const pageMax = 100;

export const limit = (what: string) =>
  Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageMax,
      default: pageSize,
      description: `a number of ${what} from 1 to ${pageMax}`,
    }),
  );

const Search = Type.Unsafe<string>({
  ...(Identifier as object),
  description: 'the whole of a payment’s id, an order’s id or the hash of a transaction',
});

export const ListQuery = Type.Object(
  {
    limit: limit('payments'),
    cursor: Optional(PageCursor),
    status: Optional(PaymentStatus),
    orderId: Optional(Identifier),
    search: Optional(Search),
    createdAfter: Optional(TimeSent),
    createdBefore: Optional(TimeSent),
    updatedAfter: Optional(TimeSent),
  },
  closed,
);
export type ListQuery = Static<typeof ListQuery>;

const { limit: _limit, cursor: _cursor, ...listFilters } = ListQuery.properties;

export const ExportQuery = Type.Object({ period: Optional(StatsPeriod), ...listFilters }, closed);
export type ExportQuery = Static<typeof ExportQuery>;

/** A waiting shop is answered before balancers' usual idle timeout of 60 s. */
export const waitMax_s = 30;

export const EventsQuery = Type.Object(
  {
    after: Optional(OrdinalSent),
    limit: Optional(
      Type.Integer({
        minimum: 1,
        maximum: pageMax,
        default: pageMax,
        description: `a number of events from 1 to ${pageMax}`,
      }),
    ),
    wait: Optional(
      Type.Integer({
        minimum: 0,
        maximum: waitMax_s,
        default: 0,
        description: `seconds to wait for an event, 0 to ${waitMax_s}`,
      }),
    ),
  },
  closed,
);

export const StatsQuery = Type.Object({ period: StatsPeriod }, closed);

interface Times {
  readonly createdAfter?: string;
  readonly createdBefore?: string;
  readonly updatedAfter?: string;
}

/** Converts a filter's times to UTC with milliseconds, as in rows. */
export function inUtc<F extends Times>(filter: F): F {
  const { createdAfter, createdBefore, updatedAfter } = filter;
  const read = Object.entries({ createdAfter, createdBefore, updatedAfter }).flatMap(([name, text]) => {
    const at = text === undefined ? undefined : parseInstant(text);
    return at === undefined ? [] : [[name, at]];
  });
  return { ...filter, ...Object.fromEntries(read) };
}
