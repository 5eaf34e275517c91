/** Pages that belong to no app. */
import type { VNode } from 'preact';
import { chains } from '../../../domain/chains.ts';
import { hour_ms, plus } from '../../../domain/time.ts';
import { errorPage } from '../../../web/dashboard/refusals.ts';
import { confirmedPage, registerAppPage, registerPage } from '../../../web/dashboard/register.ts';
import { chooseAppPage, sessionsPage } from '../../../web/dashboard/sessions.ts';
import { codePage, signInPage } from '../../../web/dashboard/signIn.ts';
import { invitationsPage } from '../../../web/dashboard/team.ts';
import { frontPage } from '../../../web/front/index.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { AppName, Mode, Outer } from '../../../web/parts/frame.ts';
import { operationPage, type ReferenceModel, referencePage } from '../../../web/reference/index.ts';
import { readReference } from '../../../web/reference/operations.ts';
import { ago, fingerprint, now, type Say, secret } from './payments.ts';
import { sampleReference } from './reference.ts';

export function outerPages(mode: Mode, apps: readonly AppName[], say: Say): Readonly<Record<string, VNode>> {
  const stranger: Outer = { mode, person: null, flash: null };
  const somebody: Outer = { mode, person: say('ada@teahouse.example'), flash: null };
  const demo = { email: 'ada@teahouse.example', mailboxUrl: 'http://127.0.0.1:8025/' };
  const error = {
    retryAfter_s: null,
    isAgain: false,
    message: null,
    requestId: '51e61f19-6faf-464c-aaec-b8f58c1ad314',
  };
  const wrong = {
    values: { displayName: say('Tea\tHouse'), kind: 'wallet', slug: say('Tea House') },
    errors: {
      displayName: say('Name must be one line of text.'),
      slug: say('Short name accepts small letters, digits, - and _.'),
    },
  };
  const fee = { fixed_microUsd: 10_000n, basisPoints: 50 };
  const front = { chains, fee, registrationOpen: true, state: 'accepting', behind: new Set<number>() } as const;
  const model: ReferenceModel = {
    reference: readReference(sampleReference),
    language: 'curl',
    chosenApp: null,
    ownApps: ['merchant_teahouse', 'wallet_pocket'],
    appId: 'merchant_teahouse',
    keyHint: 'pi_live_…4f2a',
  };
  const [operation] = model.reference.operations;
  if (!operation) throw new Error('the sample reference has no operation');
  return {
    reference: referencePage(model, null),
    referenceFound: referencePage({ ...model, ownApps: null, appId: null, keyHint: null }, say('coffee')),
    referenceOperation: operationPage(model, operation),
    referencePython: operationPage({ ...model, language: 'python' }, operation),
    front: frontPage({ ...stranger, ...front }),
    frontDelayed: frontPage({ ...somebody, ...front, state: 'unknown', behind: new Set([8453]) }),
    signIn: signInPage({ ...stranger, form: emptyForm, next: null, registrationOpen: true, demo }),
    code: codePage({
      ...stranger,
      email: say('ada@teahouse.example'),
      form: { values: {}, errors: { code: say('This is not the code. Four tries are left.') } },
      next: '/dashboard',
      purpose: 'signIn',
      mailboxUrl: demo.mailboxUrl,
    }),
    register: registerPage({ ...stranger, form: emptyForm, registrationOpen: true }),
    registerClosed: registerPage({ ...stranger, form: emptyForm, registrationOpen: false }),
    registerApp: registerAppPage({ ...somebody, form: emptyForm }),
    registerAppAgain: registerAppPage({ ...somebody, form: wrong }),
    registered: confirmedPage({
      ...somebody,
      appId: 'merchant_teahouse',
      webhookUrl: say('https://shop.teahouse.example/webhooks'),
      webhookSecret: secret,
      webhookSecretFingerprint: fingerprint,
    }),
    chooseApp: chooseAppPage({
      ...somebody,
      apps,
      registrationOpen: true,
      invitations: [
        { appId: 'merchant_cinema', name: say('Cinema'), role: 'operations', expiresAt: plus(now, 96 * hour_ms) },
      ],
      pending: [
        {
          appId: 'merchant_coffee',
          displayName: say('Coffee House'),
          requestedAt: ago(hour_ms),
          expiresAt: plus(now, 23 * hour_ms),
        },
      ],
    }),
    chooseNone: chooseAppPage({ ...somebody, apps: [], registrationOpen: true, pending: [], invitations: [] }),
    invitations: invitationsPage({
      ...somebody,
      invitations: [
        { appId: 'merchant_cinema', name: say('Cinema'), role: 'operations', expiresAt: plus(now, 96 * hour_ms) },
      ],
    }),
    invitationsNone: invitationsPage({ ...somebody, invitations: [] }),
    sessions: sessionsPage({
      ...somebody,
      sessions: [
        {
          sessionId: 's1',
          startedAt: ago(hour_ms),
          lastSeenAt: now,
          expiresAt: plus(now, hour_ms),
          userAgent: say('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/150.0'),
          address: '203.0.113.7',
          current: true,
        },
        {
          sessionId: 's2',
          startedAt: ago(9 * hour_ms),
          lastSeenAt: ago(hour_ms),
          expiresAt: plus(now, hour_ms),
          userAgent: say('Mozilla/5.0 (iPhone) Version/20 Safari/605'),
          address: '2001:db8:7::/64',
          current: false,
        },
      ],
    }),
    notFound: errorPage({ ...stranger, ...error, status: 404 }),
    forbidden: errorPage({ ...somebody, ...error, status: 403 }),
    tooMany: errorPage({
      ...stranger,
      ...error,
      status: 429,
      retryAfter_s: 40,
      message: say('Ten codes an hour are mailed to one address.'),
    }),
    unavailable: errorPage({ ...somebody, ...error, status: 503, retryAfter_s: 60, isAgain: true }),
  };
}
