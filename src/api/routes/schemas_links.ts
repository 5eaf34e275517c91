/** Reusable payment links. */
import Type, { type Static } from 'typebox';
import { openLinksMax } from '../../../commands/links.ts';
import { linkTypes } from '../../../domain/link.ts';
import {
  ChainId,
  ChainIdInput,
  Cursor,
  closed,
  DecimalOrNull,
  DisplayText,
  Identifier,
  NullableText,
  oneOf,
  orNull,
  Time,
  TimeOrNull,
  TokenSymbol,
  TokenSymbolInput,
} from '../schemas/base.ts';
import { limit } from '../schemas/queries.ts';

const { Optional } = Type;

const LinkType = oneOf(linkTypes, {
  title: 'LinkType',
  description: 'exactOut: the amount is what you get, the payer pays the fee. exactIn: it is what the payer pays.',
});

export const LinksQuery = Type.Object({ limit: limit('links'), cursor: Optional(Cursor) }, closed);

/** No pattern: a text that is no id is answered like the id of no link. */
export const LinkPath = Type.Object({ id: Type.String({ description: 'The link’s id.' }) }, closed);

export const LinkRequest = Type.Object(
  {
    type: Optional(orNull(LinkType)),
    amount: Optional(DecimalOrNull),
    minAmount: Optional(DecimalOrNull),
    maxAmount: Optional(DecimalOrNull),
    title: Optional(DisplayText(200)),
    description: Optional(DisplayText(1_000)),
    source: Optional(
      orNull(
        Type.Object(
          { chainId: ChainIdInput, tokenSymbol: TokenSymbolInput },
          { ...closed, title: 'LinkSourceRequest' },
        ),
      ),
    ),
    idempotencyKey: Optional(Identifier),
  },
  {
    ...closed,
    title: 'LinkRequest',
    description: `A link with which each payer makes a payment of his own, to the settlement wallet in force then. amount in dollars, from 0.02 to 10000; without it the payer chooses, from minAmount to maxAmount. type is exactOut unless it is said. Without source the payer chooses where he pays. idempotencyKey is your own name of the request: sent again, it is the same link, whatever else is said. At most ${openLinksMax} links of an app are open.`,
    examples: [{ amount: '12.50', title: 'A pot of tea', source: { chainId: '8453', tokenSymbol: 'USDC' } }],
  },
);
export type LinkRequest = Static<typeof LinkRequest>;

export const LinkResponse = Type.Object(
  {
    id: Type.String({ description: 'Payments that were made with the link have it as metadata.linkId.' }),
    url: Type.String({ description: 'Where payers open it.' }),
    type: LinkType,
    amount: NullableText,
    minAmount: NullableText,
    maxAmount: NullableText,
    title: NullableText,
    description: NullableText,
    source: orNull(Type.Object({ chainId: ChainId, tokenSymbol: TokenSymbol }, { ...closed, title: 'LinkSource' })),
    createdAt: Time,
    closedAt: TimeOrNull,
  },
  { ...closed, title: 'LinkResponse' },
);
export type LinkResponse = Static<typeof LinkResponse>;

export const LinksResponse = Type.Object(
  { data: Type.Array(LinkResponse), hasMore: Type.Boolean(), nextCursor: NullableText },
  { ...closed, title: 'LinksResponse' },
);
