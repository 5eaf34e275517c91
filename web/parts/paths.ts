import { assetName } from './assets.ts';

/** Paths of all dashboard pages and forms. Ids are inserted into paths only here. */
const at = (...parts: readonly string[]): string => `/dashboard/${parts.map(encodeURIComponent).join('/')}`;

export const paths = {
  /** Redirects to the person's app, or lists their apps. */
  home: '/dashboard',
  /** Always lists the apps. */
  choose: '/dashboard?choose=yes',
  signIn: at('sign-in'),
  code: at('code'),
  /** POST */
  signOut: at('sign-out'),
  language: at('language'),
  /** GET and POST: e-mail. */
  register: at('register'),
  /** GET and POST: name and kind of the app. */
  registerApp: at('register', 'app'),
  /** POST: a pending registration is confirmed or discarded. */
  confirmPending: (appId: string) => at('register', appId, 'confirm'),
  discardPending: (appId: string) => at('register', appId, 'discard'),
  sessions: at('sessions'),
  /** POST */
  endSession: (sessionId: string) => at('sessions', sessionId, 'revoke'),
  endOtherSessions: at('sessions', 'others', 'revoke'),
  invitations: at('invitations'),
  /** POST */
  acceptInvitation: (appId: string) => at('invitations', appId, 'accept'),
  declineInvitation: (appId: string) => at('invitations', appId, 'decline'),
  /** Stylesheets, modules and drawings, by the name of the file in web/. */
  asset: (file: string) => at('assets', assetName(file)),
} as const;

/** The pages of one app. A path with GET and POST asks first and acts on the same form. */
export const appPaths = (appId: string) => {
  const here = (...parts: readonly string[]): string => at('apps', appId, ...parts);
  return {
    overview: `${here()}/`,
    payments: here('payments'),
    payment: (paymentId: string) => here('payments', paymentId),
    evidence: (paymentId: string) => here('payments', paymentId, 'evidence'),
    /** GET and POST: the order. */
    refund: (paymentId: string) => here('payments', paymentId, 'refund'),
    /** POST: with the mailed code. */
    confirmRefund: (paymentId: string) => here('payments', paymentId, 'refund', 'confirm'),
    /** GET and POST */
    fundRefund: (paymentId: string) => here('payments', paymentId, 'fund-refund'),
    confirmAddress: (paymentId: string) => here('payments', paymentId, 'confirm-address'),
    /** POST: with the mailed code. */
    confirmAddressCode: (paymentId: string) => here('payments', paymentId, 'confirm-address', 'code'),
    withdrawAddress: (paymentId: string) => here('payments', paymentId, 'confirm-address', 'withdraw'),
    /** GET and POST */
    cancelPayment: (paymentId: string) => here('payments', paymentId, 'cancel'),
    /** POST */
    note: (paymentId: string) => here('payments', paymentId, 'note'),
    /** Payments, pages and apps by typed text. */
    find: here('find'),
    csv: here('payments.csv'),
    reports: here('reports'),
    monthlyReport: here('reports', 'month'),
    accounting: here('reports', 'accounting'),
    /** GET and POST */
    testPayment: here('test-payment'),
    links: here('links'),
    link: (linkId: string) => here('links', linkId),
    /** GET and POST */
    newLink: here('links', 'new'),
    newReusableLink: here('links', 'reusable'),
    closeLink: (linkId: string) => here('links', linkId, 'close'),
    cashback: here('cashback'),
    /** POST */
    withdrawCashback: here('cashback', 'withdraw'),
    keys: here('keys'),
    /** POST */
    renameKey: (keyId: string) => here('keys', keyId, 'rename'),
    /** GET and POST */
    revokeKey: (keyId: string) => here('keys', keyId, 'revoke'),
    webhooks: here('webhooks'),
    /** POST */
    webhookUrl: here('webhooks', 'url'),
    webhookTypes: here('webhooks', 'types'),
    endpoints: here('webhooks', 'endpoints'),
    endpointTypes: (endpointId: string) => here('webhooks', 'endpoints', endpointId, 'types'),
    rotateEndpoint: (endpointId: string) => here('webhooks', 'endpoints', endpointId, 'rotate'),
    removeEndpoint: (endpointId: string) => here('webhooks', 'endpoints', endpointId, 'remove'),
    testEndpoint: (endpointId: string) => here('webhooks', 'endpoints', endpointId, 'test'),
    testWebhook: here('webhooks', 'test'),
    /** GET and POST */
    removeWebhook: here('webhooks', 'remove'),
    rotateSecret: here('webhooks', 'rotate'),
    delivery: (deliveryId: string) => here('webhooks', deliveryId),
    /** GET and POST */
    redeliverFailed: here('webhooks', 'again'),
    redeliver: (deliveryId: string) => here('webhooks', deliveryId, 'redeliver'),
    settlement: here('settlement'),
    /** GET and POST */
    cancelSettlement: here('settlement', 'cancel'),
    branding: here('branding'),
    brandingPreview: here('branding', 'preview'),
    /** POST */
    logo: here('branding', 'logo'),
    removeLogo: here('branding', 'logo', 'remove'),
    /** GET and POST */
    embedding: here('embedding'),
    /** GET and POST */
    payFrom: here('pay-from'),
    /** GET and POST */
    policy: here('policy'),
    /** GET and POST */
    notifications: here('notifications'),
    /** POST */
    readNotifications: here('notifications', 'read'),
    /** GET, and POST: an invitation. */
    team: here('team'),
    /** POST */
    cancelInvitation: (memberId: string) => here('team', memberId, 'cancel'),
    memberRole: (memberId: string) => here('team', memberId, 'role'),
    /** GET and POST */
    removeMember: (memberId: string) => here('team', memberId, 'remove'),
    leaveTeam: here('team', 'leave'),
    transferTo: (memberId: string) => here('team', memberId, 'transfer'),
    /** POST: with the mailed code. */
    confirmTransfer: (memberId: string) => here('team', memberId, 'transfer', 'confirm'),
    audit: here('audit'),
    requests: here('requests'),
    events: here('events'),
    eventsJson: here('events.json'),
    /** Server-sent events: any message means that the page must be reloaded. */
    live: here('live'),
  } as const;
};

/** The path with a query of the non-empty values. */
export function withQuery(path: string, query: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== '');
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** Opens a mail to oneself; texts may be foreign. */
export const mailLink = (subject: string, body: string): string =>
  `mailto:?subject=${mailed(subject)}&body=${mailed(body)}`;

const mailed = (text: string): string => encodeURIComponent(text.toWellFormed());
