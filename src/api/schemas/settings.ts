/** Requests and answers of an app's settings, keys and history. */
import Type, { type Static } from 'typebox';
import { contactMax, profileNameMax, returnUrlPlaceholders, urlMax } from '../../../domain/merchant/profile.ts';
import { embeddingSitesMax, siteMax } from '../../../domain/merchant/settings.ts';
import { lateMax_minutes, overVerdicts, toleranceMax, verdicts } from '../../../domain/payment/amountPolicy.ts';
import { alternativesMax } from '../../../domain/payment/sources.ts';
import { laterWebhookTypesMax, webhookEventTypes } from '../../../domain/webhook.ts';
import { historyCursorPattern } from '../../../queries/merchantAudit.ts';
import {
  Address,
  AppId,
  ChainId,
  ChainIdInput,
  ChosenWebhookType,
  closed,
  Decimal,
  Memo,
  NullableText,
  OptionalWebhookType,
  oneOf,
  orNull,
  Time,
  TimeOrNull,
  TokenSymbol,
  TokenSymbolInput,
  Uuid,
} from './base.ts';
import { limit } from './queries.ts';

const { Array: List, Integer, Object: Shape, Optional } = Type;

const stated = (maxLength: number, description: string) =>
  Optional(Type.Unsafe<string | null>({ type: ['string', 'null'], maxLength, wellFormed: true, description }));

const placeholders = returnUrlPlaceholders.map((name) => `{${name}}`).join(', ');

export const ProfileRequest = Shape(
  {
    name: stated(2 * profileNameMax, `1 to ${profileNameMax} visible characters: what payers read`),
    supportContact: stated(contactMax, 'an e-mail address or an https URL'),
    returnUrlTemplate: stated(
      urlMax,
      `an https URL that may contain ${placeholders} after the host; the page leads payers there`,
    ),
    colour: stated(16, 'of the form #rrggbb'),
  },
  {
    ...closed,
    title: 'ProfileRequest',
    description: 'Omitted fields stay unchanged; null removes a value. Payers see all fields.',
    examples: [
      {
        name: 'Bäckerei Sonntag',
        supportContact: 'help@bakery.example',
        returnUrlTemplate: 'https://bakery.example/thanks/{orderId}',
        colour: '#b5432a',
      },
    ],
  },
);

export const SettlementRequest = Shape(
  {
    chainId: ChainIdInput,
    tokenSymbol: TokenSymbolInput,
    receiverAddress: Address,
    receiverMemo: Optional(Memo),
  },
  {
    ...closed,
    title: 'SettlementRequest',
    description: 'Settlement wallet of payments created from its time on. receiverMemo: only for Stellar accounts.',
    examples: [{ chainId: '8453', tokenSymbol: 'USDC', receiverAddress: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8' }],
  },
);
export type SettlementRequest = Static<typeof SettlementRequest>;

export const WebhookUrlRequest = Shape(
  {
    webhookUrl: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      maxLength: urlMax,
      description: 'a publicly reachable https URL; null for no webhooks',
    }),
  },
  { ...closed, title: 'WebhookUrlRequest', examples: [{ webhookUrl: 'https://bakery.example/hooks' }] },
);

export const WebhookTypesRequest = Shape(
  {
    webhookTypes: List(OptionalWebhookType, {
      maxItems: laterWebhookTypesMax,
      description: 'types of webhooks, each once; an empty list for none',
    }),
  },
  { ...closed, title: 'WebhookTypesRequest', examples: [{ webhookTypes: ['payment_held', 'payment_refunded'] }] },
);

const EndpointTypes = List(ChosenWebhookType, {
  minItems: 1,
  maxItems: webhookEventTypes.length,
  description: 'the only types that the endpoint gets, each once',
});

export const WebhookEndpointRequest = Shape(
  { url: Type.String({ maxLength: urlMax, description: 'a publicly reachable https URL' }), types: EndpointTypes },
  {
    ...closed,
    title: 'WebhookEndpointRequest',
    examples: [{ url: 'https://bakery.example/accounting', types: ['payment_payout_completed', 'payment_refunded'] }],
  },
);

export const EndpointTypesRequest = Shape(
  { types: EndpointTypes },
  { ...closed, title: 'WebhookEndpointTypesRequest', examples: [{ types: ['payment_payout_completed'] }] },
);

/** No format: a malformed id is answered like an unknown endpoint. */
export const EndpointPath = Shape(
  { id: Type.String({ description: 'The endpoint’s id. Any other text is notFound.' }) },
  closed,
);

export const EndpointSecretResponse = Shape(
  { endpointId: Uuid, secret: Type.String(), secretFingerprint: Type.String(), secretRotatedAt: Time },
  { title: 'WebhookEndpointSecretResponse', description: 'The secret is displayed once.' },
);

export const PayFromRequest = Shape(
  {
    payFrom: List(
      Shape({ chainId: ChainIdInput, tokenSymbol: TokenSymbolInput }, { ...closed, title: 'PayFromEntry' }),
      {
        maxItems: alternativesMax,
        description: `chains and tokens, at most ${alternativesMax}, each once; an empty list leaves payers no choice`,
      },
    ),
  },
  {
    ...closed,
    title: 'PayFromSetting',
    examples: [
      {
        payFrom: [
          { chainId: '8453', tokenSymbol: 'USDC' },
          { chainId: '501', tokenSymbol: 'USDC' },
        ],
      },
    ],
  },
);

const Verdict = oneOf(verdicts, {
  title: 'Verdict',
  description: 'accept: it counts. hold: it is held until a person decides. refund: it is refunded',
});
const OverVerdict = oneOf(overVerdicts, { title: 'OverVerdict' });
const policyProperties = {
  under: Verdict,
  over: OverVerdict,
  late: Verdict,
  wrongToken: Verdict,
  wrongChain: Verdict,
  tolerance: Shape(
    {
      basisPoints: Integer({ minimum: 0, maximum: toleranceMax.basisPoints }),
      most: Decimal,
    },
    {
      ...closed,
      title: 'Tolerance',
      description: 'A shortfall within both limits is accepted, and you get that much less. most: in dollars',
    },
  ),
  lateWithinMinutes: Integer({ minimum: 0, maximum: lateMax_minutes }),
};

export const PolicyRequest = Type.Partial(Shape(policyProperties), {
  ...closed,
  title: 'PolicyRequest',
  description:
    'The whole policy: an omitted field means hold, without tolerance. lateWithinMinutes belongs to late accept: minutes after the end of a payment.',
  examples: [
    {
      tolerance: { basisPoints: 50, most: '0.50' },
      over: 'refund',
      late: 'accept',
      lateWithinMinutes: 120,
    },
  ],
});

export const EmbeddingRequest = Shape(
  {
    sites: List(Type.String({ maxLength: siteMax }), {
      maxItems: embeddingSitesMax,
      description: `origins like https://shop.example, at most ${embeddingSitesMax}; all others stop`,
    }),
  },
  {
    ...closed,
    title: 'EmbeddingRequest',
    examples: [{ sites: ['https://bakery.example', 'https://www.bakery.example'] }],
  },
);

export const AuditQuery = Shape(
  {
    limit: limit('changes'),
    cursor: Optional(
      Type.String({ pattern: historyCursorPattern, maxLength: 110, description: 'the nextCursor of a former answer' }),
    ),
  },
  closed,
);

export const Settlement = Shape(
  { chainId: ChainId, tokenSymbol: TokenSymbol, receiverAddress: Type.String(), receiverMemo: NullableText },
  { title: 'Settlement' },
);
const SettlementChange = Shape(
  { changeId: Type.String(), settlement: Settlement, effectiveAt: Time },
  {
    title: 'SettlementChange',
    description: 'Replaces the current wallet at this time, unless it is cancelled before.',
  },
);
const Profile = Shape(
  {
    name: NullableText,
    supportContact: NullableText,
    returnUrlTemplate: NullableText,
    colour: NullableText,
    logoUrl: NullableText,
  },
  { title: 'Profile' },
);

export const SettingsResponse = Shape(
  {
    appId: AppId,
    registeredAt: Time,
    profile: Profile,
    settlement: Type.Unsafe<Static<typeof Settlement> | null>(orNull(Settlement)),
    settlementChange: Type.Unsafe<Static<typeof SettlementChange> | null>(orNull(SettlementChange)),
    webhookUrl: NullableText,
    webhookTypes: List(Type.String(), {
      description: 'Webhook types that the app chose, in addition to the two that are always sent.',
    }),
    webhookEndpoints: List(
      Shape(
        {
          endpointId: Uuid,
          url: Type.String(),
          types: List(Type.String()),
          secretFingerprint: Type.String(),
          secretRotatedAt: Time,
        },
        { title: 'WebhookEndpoint' },
      ),
      {
        description:
          'Endpoints besides webhookUrl, oldest first. Each gets only its types, signed with its own secret.',
      },
    ),
    webhookSecretFingerprint: NullableText,
    webhookSecretRotatedAt: TimeOrNull,
    embeddingSites: List(Type.String(), {
      description: 'Origins that can frame payment pages of the app.',
    }),
    payFrom: List(Shape({ chainId: ChainId, tokenSymbol: TokenSymbol }, { title: 'PayFromChoice' }), {
      description: 'Sources that payers can choose, in addition to the source of each payment.',
    }),
    policy: Shape(policyProperties, {
      title: 'Policy',
      description: 'Policy of new payments for money that differs from the agreed amount or token.',
    }),
    fees: List(
      Shape(
        {
          sourceChainId: orNull(ChainId),
          destinationChainId: orNull(ChainId),
          fixed: Decimal,
          basisPoints: Integer({ minimum: 0 }),
        },
        { title: 'FeeTier' },
      ),
      {
        description:
          'Fees that the operator agreed with you, in dollars and basis points; null means every chain. The most specific one applies; a payout that costs more raises the fixed part.',
      },
    ),
    keylessAllowed: Type.Boolean({ description: 'True if anybody can create its payments without a key.' }),
  },
  { title: 'SettingsResponse', description: 'The current settings of an app. Every field is always present.' },
);
export type SettingsResponse = Static<typeof SettingsResponse>;

export const AppsResponse = Shape(
  {
    data: List(
      Shape({ appId: AppId, name: NullableText, logoUrl: NullableText, registeredAt: Time }, { title: 'OwnApp' }),
    ),
  },
  { title: 'AppsResponse', description: 'In the order in which they were registered.' },
);

export const WebhookSecretResponse = Shape(
  { webhookSecret: Type.String(), webhookSecretFingerprint: Type.String(), webhookSecretRotatedAt: Time },
  { title: 'WebhookSecretResponse', description: 'The secret is displayed once.' },
);

export const AuditResponse = Shape(
  {
    data: List(
      Shape(
        {
          revision: orNull(
            Integer({
              minimum: 0,
              description: 'Number among the app’s own changes, from 0 without gaps; null for a change of a link.',
            }),
          ),
          at: Time,
          by: Type.String({ description: 'you, another owner, the operator, a key or the service' }),
          what: Type.String({ description: 'For people; contains no secret.' }),
        },
        { title: 'Change' },
      ),
    ),
    hasMore: Type.Boolean(),
    nextCursor: NullableText,
  },
  { title: 'AuditResponse', description: 'Newest first.' },
);
