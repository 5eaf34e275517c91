/** Registering, signing in and out, sessions: the JSON side of what the dashboard's pages do. */
import { isRefusal, type Refusal, refuse } from '../../../domain/decider.ts';
import type { RegistrationRequest } from '../../accounts/accounts.ts';
import type { HttpDeps } from '../deps.ts';
import { type AnyRoute, ok, route } from '../route.ts';
import * as schemas from './schemas_accounts.ts';
import { readWallet } from './settings.ts';

const tag = 'Accounts';

/** Registering and signing in need no key: who asks is who can read the mail. */
function entrance({ accounts }: HttpDeps): readonly AnyRoute[] {
  return [
    route({
      method: 'post',
      path: '/merchant-api/register',
      auth: 'none',
      body: schemas.RegistrationRequest,
      answers: { 201: { description: 'It waits for the code that was mailed', schema: schemas.RegistrationResponse } },
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
      body: schemas.CodeRequest,
      answers: { 200: { description: 'A code is mailed to an address that is known', schema: schemas.CodeResponse } },
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
      body: schemas.VerifyRequest,
      answers: { 200: { description: 'Signed in', schema: schemas.VerifyResponse } },
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

function registrationOf(body: schemas.RegistrationRequest): RegistrationRequest | Refusal {
  const { email, displayName, kind, slug = null, webhookUrl = null } = body;
  const settlement = body.settlement ? readWallet(body.settlement) : null;
  if (isRefusal(settlement)) return { ...settlement, pointer: `/settlement${settlement.pointer ?? ''}` };
  return { email, displayName, kind, slug, webhookUrl, settlement };
}

const ended = (count: number) => ok({ ended: count });
const endedAnswer = { 200: { description: 'How many sessions ended', schema: schemas.EndedResponse } } as const;

function sessions({ accounts }: HttpDeps): readonly AnyRoute[] {
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
      answers: { 200: { description: 'Sessions that run', schema: schemas.SessionsResponse } },
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
      params: schemas.SessionPath,
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

function registrations({ accounts }: HttpDeps): readonly AnyRoute[] {
  const common = { auth: 'person', errors: ['unauthenticated'] } as const;
  return [
    route({
      ...common,
      method: 'get',
      path: '/merchant-api/registrations',
      answers: { 200: { description: 'Registrations that wait', schema: schemas.RegistrationsResponse } },
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
      params: schemas.RegistrationPath,
      answers: { 200: { description: 'Registered, with a new secret', schema: schemas.ConfirmedResponse } },
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
      params: schemas.RegistrationPath,
      answers: { 200: { description: 'It waits no longer', schema: schemas.DiscardedResponse } },
      doc: { id: 'discardRegistration', tag, summary: 'Discard a registration that was made with your e-mail' },
      async handle({ caller, params }) {
        await accounts.discardRegistration(caller.developerId, params.appId);
        return ok({ appId: params.appId });
      },
    }),
  ];
}

export const accountRoutes = (deps: HttpDeps): readonly AnyRoute[] => [
  ...entrance(deps),
  ...sessions(deps),
  ...registrations(deps),
];
