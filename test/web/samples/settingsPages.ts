/** Pages of an app's settings. */

import type { VNode } from 'preact';
import { chains } from '../../../domain/chains.ts';
import { defaultChoice } from '../../../domain/merchant/notifications.ts';
import { holdAll, shownPolicy } from '../../../domain/payment/amountPolicy.ts';
import { hour_ms, plus } from '../../../domain/time.ts';
import type { TeamMember } from '../../../queries/team.ts';
import { auditPage } from '../../../web/dashboard/audit.ts';
import { brandingPage } from '../../../web/dashboard/branding.ts';
import { confirmPage, type Danger } from '../../../web/dashboard/confirm.ts';
import { bulkRedeliveryPage } from '../../../web/dashboard/deliveries.ts';
import { embeddingPage } from '../../../web/dashboard/embedding.ts';
import { keysPage, type ShownKey } from '../../../web/dashboard/keys.ts';
import { notificationsPage } from '../../../web/dashboard/notifications.ts';
import { payFromPage } from '../../../web/dashboard/payFrom.ts';
import { policyForm, policyPage } from '../../../web/dashboard/policy.ts';
import { refusalText } from '../../../web/dashboard/refusals.ts';
import { reportsPage } from '../../../web/dashboard/reports.ts';
import { settlementPage, type WalletFields } from '../../../web/dashboard/settlementForm.ts';
import { teamPage, transferPage } from '../../../web/dashboard/team.ts';
import { webhooksPage } from '../../../web/dashboard/webhooks.ts';
import { emptyForm } from '../../../web/parts/field.ts';
import type { Frame } from '../../../web/parts/frame.ts';
import { pageLanguage } from '../../../web/parts/say.ts';
import { networkText } from '../../../web/pay/choice.ts';
import { sayIn } from '../../../web/pay/messages/index.ts';
import { ago, fingerprint, now, type Say, secret, wallet } from './payments.ts';
import { delivery, exhausted } from './story.ts';

export const settled: WalletFields = {
  chainId: 42161,
  tokenSymbol: 'USDC',
  receiverAddress: wallet,
  receiverMemo: null,
};
const later: WalletFields = {
  chainId: 1500,
  tokenSymbol: 'USDC',
  receiverAddress: 'GA5ZSEJYB37JRC5AVCIA5MOP4RHTM335X2KGX3IHOJAPP5RE34K4KZVN',
  receiverMemo: '1739048',
};

const noPayment = { paymentId: null, amount: null, tokenSymbol: null } as const;

const endpoint = (say: Say) => ({
  endpointId: '4b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2',
  url: say('https://books.teahouse.example/paid'),
  types: ['payment_payout_completed', 'payment_refunded'],
  fingerprint,
  rotatedAt: ago(24 * hour_ms),
});

const key = (say: Say, changed: Partial<ShownKey> = {}): ShownKey => ({
  keyId: '0b1c4e2f-97d0-4a3b-8c6e-8f214f1a77b2',
  name: say('Shop server'),
  scope: 'orders',
  hint: 'pi_7Qd…x41d',
  createdAt: ago(40 * 24 * hour_ms),
  revokedAt: null,
  expiresAt: null,
  createdBy: say('ada@teahouse.example'),
  lastUsedAt: ago(hour_ms),
  ...changed,
});

const otto = (say: Say): TeamMember => ({
  developerId: 'otto',
  email: say('otto@teahouse.example'),
  role: 'operations',
  invitedUntil: null,
});

const team = (say: Say): readonly TeamMember[] => [
  { developerId: 'ada', email: say('ada@teahouse.example'), role: 'owner', invitedUntil: null },
  otto(say),
  { developerId: 'rita', email: null, role: 'readOnly', invitedUntil: null },
  {
    developerId: 'ines',
    email: say('ines@teahouse.example'),
    role: 'developer',
    invitedUntil: plus(now, 96 * hour_ms),
  },
];

export function settingsPages(frame: Frame, say: Say): Readonly<Record<string, VNode>> {
  const confirm = (danger: Danger): VNode => confirmPage({ ...frame, danger });
  return {
    keys: keysPage({
      ...frame,
      keys: [
        key(say),
        key(say, {
          keyId: 'k2',
          name: say('Books'),
          scope: 'admin',
          expiresAt: plus(now, 240 * hour_ms),
          lastUsedAt: null,
        }),
        key(say, { keyId: 'k3', name: say('Old server'), revokedAt: ago(240 * hour_ms) }),
      ],
      form: emptyForm,
      issued: { key: 'pi_test_7QdPpT0XkYx8sJm2uWzR4v9LhBcE6aNf3x41d', name: say('Till'), scope: 'orders' },
      now,
    }),
    keysFirst: keysPage({ ...frame, keys: [], form: emptyForm, issued: null, now }),
    webhooks: webhooksPage({
      ...frame,
      webhookUrl: say('https://shop.teahouse.example/webhooks'),
      webhookTypes: ['payment_held'],
      fingerprint,
      rotatedAt: ago(24 * hour_ms),
      form: emptyForm,
      newSecret: null,
      endpoints: [endpoint(say)],
      endpointForm: emptyForm,
      newEndpointSecret: null,
      deliveries: [exhausted(say), delivery(say)],
      cursor: null,
      nextCursor: 'c',
      filter: { state: null, payment: null },
    }),
    webhooksNone: webhooksPage({
      ...frame,
      ...{
        webhookUrl: null,
        webhookTypes: [],
        fingerprint,
        rotatedAt: null,
        form: emptyForm,
        newSecret: null,
        endpoints: [],
        endpointForm: emptyForm,
        newEndpointSecret: null,
        deliveries: [],
      },
      ...{ cursor: null, nextCursor: null, filter: { state: 'exhausted', payment: null } },
    }),
    webhooksAgain: bulkRedeliveryPage({ ...frame, deliveries: [exhausted(say)], form: emptyForm }),
    webhooksRotated: webhooksPage({
      ...frame,
      webhookUrl: null,
      webhookTypes: [],
      fingerprint,
      rotatedAt: now,
      form: {
        values: { webhookUrl: say('http://shop.example') },
        errors: {
          webhookUrl: refusalText('invalidRequest', 'webhookUrl must start with https:// and a host', 'webhookUrl'),
        },
      },
      newSecret: secret,
      endpoints: [endpoint(say)],
      endpointForm: {
        values: { url: say('http://books.example') },
        errors: { url: refusalText('invalidRequest', 'url must be a URL', 'url') },
      },
      newEndpointSecret: null,
      deliveries: [],
      cursor: null,
      nextCursor: null,
      filter: { state: null, payment: null },
    }),
    settlement: settlementPage({
      ...frame,
      current: settled,
      pending: { wallet: later, effectiveAt: plus(now, 40 * hour_ms), requestedAt: ago(8 * hour_ms) },
      cooldown_hours: 48,
      form: emptyForm,
      chains,
      now,
    }),
    settlementFirst: settlementPage({
      ...frame,
      current: null,
      pending: null,
      cooldown_hours: 48,
      form: emptyForm,
      chains,
      now,
    }),
    branding: brandingPage({
      ...frame,
      logoUrl: '/dashboard/assets/icon.svg',
      returnUrl: 'https://shop.teahouse.example/A-1042',
      form: {
        values: {
          name: say('Tea House'),
          supportContact: say('help@teahouse.example'),
          returnUrlTemplate: say('https://shop.teahouse.example/{orderId}'),
          colour: '#e0a02a',
        },
        errors: {
          logo: refusalText(
            'invalidRequest',
            'the picture has too much detail for a logo: send a simpler or smaller one',
            'logo',
          ),
        },
      },
    }),
    payFrom: payFromPage({
      ...frame,
      payFrom: [{ chainId: 8453, tokenSymbol: 'USDC' }],
      chains,
      networkText: (chainId) =>
        networkText(sayIn(pageLanguage()), { final_ms: 20_000, cost_microUsd: chainId === 1 ? 340_000n : 3_000n }),
      form: emptyForm,
    }),
    notifications: notificationsPage({
      ...frame,
      form: emptyForm,
      choice: defaultChoice,
      seenAt: ago(2 * hour_ms),
      notices: [
        {
          kind: 'moneyHeld',
          at: ago(hour_ms),
          count: 1,
          paymentId: 'p1',
          amount: '12.00',
          tokenSymbol: 'USDT',
          line: null,
        },
        { kind: 'webhookFailing', at: ago(3 * hour_ms), count: 7, ...noPayment, line: null },
        { kind: 'firstPayment', at: ago(30 * hour_ms), count: 1, ...noPayment, line: null },
        {
          kind: 'dailySummary',
          at: ago(31 * hour_ms),
          count: 1,
          ...noPayment,
          line: 'On 2026-11-20 (UTC): 12 payments paid out, 340.00 dollars received, 0.00 refunded. Now 2 payments hold money that can be refunded.',
        },
      ],
    }),
    notificationsNone: notificationsPage({
      ...frame,
      unread: 0,
      form: emptyForm,
      choice: { ...defaultChoice, mail: [], bell: [] },
      seenAt: null,
      notices: [],
    }),
    policy: policyPage({
      ...frame,
      fees: [
        { sourceChainId: 8453, destinationChainId: null, fixed_microUsd: '0', basisPoints: 5, belowCost: false },
        { sourceChainId: null, destinationChainId: 1, fixed_microUsd: '250000', basisPoints: 0, belowCost: true },
      ],
      form: policyForm(
        shownPolicy({ ...holdAll, over: 'refund', late: 'accept', lateWithin_minutes: 120, wrongToken: 'accept' }),
      ),
    }),
    policyRefused: policyPage({
      ...frame,
      fees: [],
      form: {
        values: { ...policyForm(shownPolicy(holdAll)).values, most: say('many') },
        errors: { most: refusalText('invalidRequest', 'must be an amount like 10.00 with at most 6 decimals', 'most') },
      },
    }),
    embedding: embeddingPage({
      ...frame,
      sites: [say('https://shop.teahouse.example'), 'https://xn--tehaus-cua.example:8443'],
      publicUrl: 'https://pay.example',
      form: emptyForm,
    }),
    embeddingRefused: embeddingPage({
      ...frame,
      sites: [],
      publicUrl: 'https://pay.example',
      form: {
        values: { sites: say('http://shop.example\nhttps://*.shop.example') },
        errors: {
          sites: refusalText(
            'invalidRequest',
            'The site http://shop.example cannot be allowed: state it like https://shop.example, beginning with https://, without a path, a wildcard or an IP address',
            'sites',
          ),
        },
      },
    }),
    reports: reportsPage({ ...frame, month: '2026-10', currencies: ['CHF', 'EUR'] }),
    reportsWithoutRates: reportsPage({ ...frame, month: '2026-10', currencies: null }),
    team: teamPage({ ...frame, team: team(say), developerId: 'ada', form: emptyForm }),
    teamOfMember: teamPage({ ...frame, team: team(say), developerId: 'otto', form: emptyForm }),
    teamRefused: teamPage({
      ...frame,
      team: team(say),
      developerId: 'ada',
      form: {
        values: { email: say('otto@teahouse.example') },
        errors: { email: refusalText('conflict', 'this person is in the team already', 'email') },
      },
    }),
    transferAsked: transferPage({ ...frame, member: otto(say), challenge: null, form: emptyForm, mailboxUrl: null }),
    transferCode: transferPage({
      ...frame,
      member: otto(say),
      challenge: 'c'.repeat(64),
      form: emptyForm,
      mailboxUrl: 'http://localhost:8025',
    }),
    removeMember: confirm({ kind: 'removeMember', memberId: 'otto', name: say('otto@teahouse.example') }),
    leaveTeam: confirm({ kind: 'leaveTeam' }),
    audit: auditPage({
      ...frame,
      changes: [
        {
          revision: 2,
          at: ago(hour_ms),
          by: say('ada@teahouse.example'),
          what: say('issued key "Shop server" (orders, pi_7Qd…x41d)'),
        },
        {
          revision: 1,
          at: ago(25 * hour_ms),
          by: 'operator',
          what: `set its wallet: USDC on Arbitrum to ${wallet}`,
        },
        { revision: 0, at: ago(26 * hour_ms), by: say('ada@teahouse.example'), what: 'registered the app' },
      ],
      cursor: 'c',
      nextCursor: null,
    }),
    confirmRevoke: confirm({
      kind: 'revokeKey',
      keyId: 'k1',
      name: say('Shop server'),
      hint: 'pi_7Qd…x41d',
      lastUsedAt: ago(hour_ms),
    }),
    confirmRotate: confirm({ kind: 'rotateSecret' }),
    confirmRemove: confirm({ kind: 'removeWebhook', webhookUrl: say('https://shop.teahouse.example/webhooks') }),
    confirmCancel: confirm({ kind: 'cancelSettlement', wallet: later, effectiveAt: plus(now, 40 * hour_ms) }),
  };
}
