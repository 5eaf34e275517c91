/** What people send who register, sign in and look after their sessions, and what they are answered. */
import Type, { type Static } from 'typebox';
import { AppId, closed, NullableText, oneOf, orNull, Text, Time, Uuid } from '../schemas/base.ts';
import { Settlement, SettlementRequest } from '../schemas/settings.ts';

const { Array: List, Object: Shape, Optional } = Type;

const Email = Type.Unsafe<string>({
  type: 'string',
  minLength: 3,
  maxLength: 254,
  pattern: '^[^@\\x00-\\x20\\x7f]+@[^@\\x00-\\x20\\x7f]+$',
  description: 'an e-mail address',
});

const challengeText = {
  type: 'string',
  pattern: '^[0-9a-f]{64}$',
  description: 'the challenge of a former answer: 64 hex digits',
};
const Challenge = Type.Unsafe<string>(challengeText);
const Known = Type.Unsafe<string>({
  type: 'string',
  maxLength: 512,
  pattern: '^[A-Za-z0-9._-]+$',
  description: 'what verify answered as known',
});

export const RegistrationRequest = Shape(
  {
    email: Email,
    displayName: Type.Unsafe<string>({
      type: 'string',
      minLength: 1,
      maxLength: 80,
      wellFormed: true,
      description: 'the name that payers see: 1 to 80 characters on one line',
    }),
    kind: oneOf(['merchant', 'wallet'], { title: 'AppKind' }),
    slug: Optional(
      orNull(
        Type.Unsafe<string>({
          type: 'string',
          pattern: '^[a-z0-9]([a-z0-9_-]{0,46}[a-z0-9])?$',
          description: '1 to 48 of a-z, 0-9, _ and -, a letter or digit at both ends',
        }),
      ),
    ),
    settlement: Optional(orNull(SettlementRequest)),
    webhookUrl: Optional(Text(2_048)),
    known: Optional(orNull(Known)),
  },
  {
    ...closed,
    title: 'RegistrationRequest',
    description:
      'The app is merchant_<slug> or wallet_<slug>; without a slug it gets one. It begins when the code that is mailed is sent to /merchant-api/sign-in/verify with the challenge of the answer; until then, or for 24 hours, its id is kept. webhookUrl must begin with https://.',
    examples: [{ email: 'ada@shop.example', displayName: 'Ada’s beans', kind: 'merchant', slug: 'adas-beans' }],
  },
);
export type RegistrationRequest = Static<typeof RegistrationRequest>;

const secretShown = {
  webhookSecret: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Shown here and never again.' }),
  webhookSecretFingerprint: Type.String({
    pattern: '^sha256:[0-9a-f]{64}$',
    description: 'SHA-256 of the secret’s 64 characters.',
  }),
};

const challenged = {
  challenge: Type.Unsafe<string>({ ...challengeText, description: 'Needed with the code: keep it to yourself.' }),
  expiresAt: Time,
};

export const RegistrationResponse = Shape(
  { developerId: Uuid, appId: AppId, webhookUrl: NullableText, ...secretShown, ...challenged },
  { title: 'RegistrationResponse', description: 'expiresAt is the code’s end.' },
);

export const CodeRequest = Shape({ email: Email, known: Optional(orNull(Known)) }, { ...closed, title: 'CodeRequest' });

export const CodeResponse = Shape(challenged, {
  title: 'CodeResponse',
  description: 'The same whether the address is known or not. A code is mailed to an address that is.',
});

export const VerifyRequest = Shape(
  {
    challenge: Challenge,
    code: Type.Unsafe<string>({
      type: 'string',
      pattern: '^([0-9]{6}|[0-9]{8})$',
      description: 'the six or eight digits of the mail',
    }),
    known: Optional(orNull(Known)),
  },
  { ...closed, title: 'VerifyRequest' },
);

export const VerifyResponse = Shape(
  {
    token: Type.String({ description: 'Send it as Authorization: Bearer.' }),
    expiresAt: Time,
    developerId: Uuid,
    registered: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description:
        'The app that is registered now; null when the code was to sign in only, or the id was taken meanwhile.',
    }),
    known: Type.String({
      description: 'Send it with the next sign-in: then nobody who asks for codes in your name can use up your limit.',
    }),
  },
  { title: 'VerifyResponse' },
);

const Session = Shape(
  {
    sessionId: Uuid,
    startedAt: Time,
    lastSeenAt: Time,
    expiresAt: Time,
    address: Type.String(),
    userAgent: NullableText,
    current: Type.Boolean(),
  },
  { title: 'Session', description: 'expiresAt is when it ends without another request.' },
);
export const SessionsResponse = Shape({ data: List(Session) }, { title: 'SessionsResponse' });
export const SessionPath = Shape({ id: Uuid }, closed);
export const EndedResponse = Shape({ ended: Type.Integer({ minimum: 0 }) }, { title: 'EndedResponse' });

export const RegistrationsResponse = Shape(
  {
    data: List(
      Shape(
        {
          appId: AppId,
          displayName: Type.String(),
          settlement: orNull(Settlement),
          webhookUrl: NullableText,
          requestedAt: Time,
          expiresAt: Time,
        },
        { title: 'PendingRegistration' },
      ),
    ),
  },
  { title: 'RegistrationsResponse' },
);
export const RegistrationPath = Shape({ appId: AppId }, closed);
export const DiscardedResponse = Shape({ appId: AppId }, { title: 'DiscardedResponse' });
export const ConfirmedResponse = Shape(
  { developerId: Uuid, appId: AppId, webhookUrl: NullableText, ...secretShown },
  { title: 'ConfirmedResponse' },
);
