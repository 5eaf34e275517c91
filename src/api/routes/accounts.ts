/** Registration, sign-in, sign-out and sessions: the JSON counterpart of the dashboard's pages. */

import Type, { type Static } from 'typebox';
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { Accounts, AccountRegistration as Registration } from '../../accounts/accounts.ts';
import { type AnyRoute, ok, route } from '../router.ts';
import { AppId, closed, NullableText, oneOf, orNull, Text, Time, Uuid } from '../schemas/base.ts';
import { Settlement, SettlementRequest } from '../schemas/settings.ts';
import { readWallet } from './settings.ts';

// Requests and answers of registration, sign-in and sessions.

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
  description: 'the value `known` in the answer of verify',
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
      'The app is merchant_<slug> or wallet_<slug>; without a slug it gets one. It begins when the mailed code is sent to /merchant-api/sign-in/verify with the challenge of the answer; until then, or for 24 hours, its id is reserved. webhookUrl must begin with https://.',
    examples: [{ email: 'ada@shop.example', displayName: 'Ada’s beans', kind: 'merchant', slug: 'adas-beans' }],
  },
);
export type RegistrationRequest = Static<typeof RegistrationRequest>;

const secretShown = {
  webhookSecret: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Displayed once.' }),
  webhookSecretFingerprint: Type.String({
    pattern: '^sha256:[0-9a-f]{64}$',
    description: 'SHA-256 of the secret’s 64 characters.',
  }),
};

const challenged = {
  challenge: Type.Unsafe<string>({ ...challengeText, description: 'Required with the code: keep it secret.' }),
  expiresAt: Time,
};

export const RegistrationResponse = Shape(
  { developerId: Uuid, appId: AppId, webhookUrl: NullableText, ...secretShown, ...challenged },
  { title: 'RegistrationResponse', description: 'expiresAt is the code’s end.' },
);

export const CodeRequest = Shape({ email: Email, known: Optional(orNull(Known)) }, { ...closed, title: 'CodeRequest' });

export const CodeResponse = Shape(challenged, {
  title: 'CodeResponse',
  description: 'Equal for known and unknown addresses. Only a known address gets a code.',
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
      description: 'Send it with the next sign-in, so that other requesters cannot use up your limit of codes.',
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

const tag = 'Accounts';

/** Needs of the routes of people: registration, sign-in, sessions. */
export interface AccountRoutesDeps {
  readonly accounts: Accounts;
}

/** Registration and sign-in need no key: access to the mailbox proves the caller. */
function entrance({ accounts }: AccountRoutesDeps): readonly AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/merchant-api/register',
      auth: 'none',
      body: RegistrationRequest,
      answers: { 201: { description: 'It waits for the code that was mailed', schema: RegistrationResponse } },
      errors: ['invalidRequest', 'appIdTaken', 'registrationClosed', 'forbidden'],
      doc: {
        id: 'register',
        tag,
        summary: 'Register an app; prove the e-mail with a mailed code',
        description:
          'The app waits until the mailed code is sent to /merchant-api/sign-in/verify. The answer holds the webhook secret, which is shown once.',
      },
      async handle({ body, asker }) {
        const request = registrationOf(body);
        if (isRefusal(request)) return request;
        const registering = await accounts.register(request, { ...asker, known: body.known ?? null });
        return isRefusal(registering) ? registering : { status: 201, body: registering };
      },
    }),
    route({
      method: 'post',
      path: '/merchant-api/sign-in',
      auth: 'none',
      body: CodeRequest,
      answers: { 200: { description: 'A code is mailed to an address that is known', schema: CodeResponse } },
      errors: ['invalidRequest', 'forbidden'],
      doc: {
        id: 'signIn',
        tag,
        summary: 'Ask for a code to sign in with',
        description:
          'The service mails a code of six digits to a known address. Send it with the challenge of the answer to /merchant-api/sign-in/verify.',
      },
      async handle({ body, asker }) {
        const challenge = await accounts.ask(body.email, { ...asker, known: body.known ?? null });
        return isRefusal(challenge) ? challenge : ok(challenge);
      },
    }),
    route({
      method: 'post',
      path: '/merchant-api/sign-in/verify',
      auth: 'none',
      body: VerifyRequest,
      answers: { 200: { description: 'Signed in', schema: VerifyResponse } },
      errors: ['invalidRequest', 'codeWrong', 'codeExpired'],
      doc: {
        id: 'verifySignIn',
        tag,
        summary: 'Send the code: signs in, and registers what it was mailed for',
        description:
          'Returns a session token for the Authorization header. The code of a registration registers its app as well.',
      },
      async handle({ body, asker }) {
        const proved = await accounts.prove(body.challenge, body.code, { ...asker, known: body.known ?? null });
        return isRefusal(proved) ? proved : ok(proved);
      },
    }),
  ];
}

function registrationOf(body: RegistrationRequest): Registration | Refusal {
  const { email, displayName, kind, slug = null, webhookUrl = null } = body;
  const settlement = body.settlement ? readWallet(body.settlement) : null;
  if (isRefusal(settlement)) return { ...settlement, pointer: `/settlement${settlement.pointer ?? ''}` };
  return { email, displayName, kind, slug, webhookUrl, settlement };
}

const ended = (count: number) => ok({ ended: count });
const endedAnswer = { 200: { description: 'How many sessions ended', schema: EndedResponse } } as const;

function sessions({ accounts }: AccountRoutesDeps): readonly AnyRoute[] {
  const common = { auth: 'person', errors: ['unauthenticated'] } as const;
  return [
    route({
      ...common,
      method: 'post',
      path: '/merchant-api/sign-out',
      answers: endedAnswer,
      doc: { id: 'signOut', tag, summary: 'End this session' },
      handle: async ({ caller }) => ended(Number(await accounts.endSession(caller.developerId, caller.sessionId))),
    }),
    route({
      ...common,
      method: 'get',
      path: '/merchant-api/sessions',
      answers: { 200: { description: 'Active sessions', schema: SessionsResponse } },
      doc: { id: 'listSessions', tag, summary: 'List your sessions, newest first' },
      async handle({ caller }) {
        const running = await accounts.sessions(caller.developerId);
        return ok({ data: running.map((each) => ({ ...each, current: each.sessionId === caller.sessionId })) });
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/merchant-api/sessions/{id}/revoke',
      params: SessionPath,
      answers: endedAnswer,
      errors: ['unauthenticated', 'notFound'],
      doc: { id: 'revokeSession', tag, summary: 'End one of your sessions, at once and everywhere' },
      async handle({ caller, params }) {
        const found = await accounts.endSession(caller.developerId, params.id);
        return found ? ended(1) : refuse('notFound', 'you have no such session', '/id');
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/merchant-api/sessions/revoke-others',
      answers: endedAnswer,
      doc: { id: 'revokeOtherSessions', tag, summary: 'End all your sessions but this one' },
      handle: async ({ caller }) => ended(await accounts.endAllSessions(caller.developerId, caller.sessionId)),
    }),
  ];
}

function registrations({ accounts }: AccountRoutesDeps): readonly AnyRoute[] {
  const common = { auth: 'person', errors: ['unauthenticated'] } as const;
  return [
    route({
      ...common,
      method: 'get',
      path: '/merchant-api/registrations',
      answers: { 200: { description: 'Registrations that wait', schema: RegistrationsResponse } },
      doc: { id: 'listRegistrations', tag, summary: 'List registrations with your e-mail that nobody has proved' },
      async handle({ caller }) {
        const waiting = await accounts.pendingRegistrations(caller.developerId);
        const shown = waiting.map(({ settlement, ...rest }) => ({
          ...rest,
          settlement: settlement && { ...settlement, chainId: String(settlement.chainId) },
        }));
        return ok({ data: shown });
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/merchant-api/registrations/{appId}/confirm',
      params: RegistrationPath,
      answers: { 200: { description: 'Registered, with a new secret', schema: ConfirmedResponse } },
      errors: ['unauthenticated', 'notFound', 'appIdTaken', 'registrationClosed'],
      doc: { id: 'confirmRegistration', tag, summary: 'Register an app that waits; its webhook secret is a new one' },
      async handle({ caller, params, by }) {
        const confirmed = await accounts.confirmRegistration(caller.developerId, params.appId, by);
        return isRefusal(confirmed) ? confirmed : ok({ developerId: caller.developerId, ...confirmed });
      },
    }),
    route({
      ...common,
      method: 'post',
      path: '/merchant-api/registrations/{appId}/discard',
      params: RegistrationPath,
      answers: { 200: { description: 'It waits no longer', schema: DiscardedResponse } },
      doc: { id: 'discardRegistration', tag, summary: 'Discard a registration that was made with your e-mail' },
      async handle({ caller, params }) {
        await accounts.discardRegistration(caller.developerId, params.appId);
        return ok({ appId: params.appId });
      },
    }),
  ];
}

export const accountRoutes = (deps: AccountRoutesDeps): readonly AnyRoute[] => [
  ...entrance(deps),
  ...sessions(deps),
  ...registrations(deps),
];
