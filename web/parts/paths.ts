/** Where every page and every form of the dashboard is. Ids are put into paths here alone. */
const at = (...parts: readonly string[]): string => `/dashboard/${parts.map(encodeURIComponent).join('/')}`;

export const paths = {
  /** Leads to the person's app, or lets them choose. */
  home: '/dashboard',
  /** Lets them choose in any case. */
  choose: '/dashboard?choose=yes',
  signIn: at('sign-in'),
  code: at('code'),
  /** POST */
  signOut: at('sign-out'),
  register: at('register'),
  /** POST: a registration that waits for its proof is taken up, or thrown away. */
  confirmPending: (appId: string) => at('register', appId, 'confirm'),
  discardPending: (appId: string) => at('register', appId, 'discard'),
  sessions: at('sessions'),
  /** POST */
  endSession: (sessionId: string) => at('sessions', sessionId, 'revoke'),
  endOtherSessions: at('sessions', 'others', 'revoke'),
  /** look.css and the modules of web/client, by file name. */
  asset: (file: string) => at('assets', file),
} as const;

/** The pages of one app. A path that says GET and POST asks first and acts on the same form. */
export const appPaths = (appId: string) => {
  const here = (...parts: readonly string[]): string => at('apps', appId, ...parts);
  return {
    overview: `${here()}/`,
    payments: here('payments'),
    payment: (paymentId: string) => here('payments', paymentId),
    evidence: (paymentId: string) => here('payments', paymentId, 'evidence'),
    /** GET and POST: what goes back. */
    refund: (paymentId: string) => here('payments', paymentId, 'refund'),
    /** POST: with the code that was mailed. */
    confirmRefund: (paymentId: string) => here('payments', paymentId, 'refund', 'confirm'),
    /** GET and POST */
    cancelPayment: (paymentId: string) => here('payments', paymentId, 'cancel'),
    /** POST */
    note: (paymentId: string) => here('payments', paymentId, 'note'),
    /** Payments, pages and apps by what is typed. */
    find: here('find'),
    csv: here('payments.csv'),
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
    testWebhook: here('webhooks', 'test'),
    /** GET and POST */
    removeWebhook: here('webhooks', 'remove'),
    rotateSecret: here('webhooks', 'rotate'),
    delivery: (deliveryId: string) => here('webhooks', deliveryId),
    redeliver: (deliveryId: string) => here('webhooks', deliveryId, 'redeliver'),
    settlement: here('settlement'),
    /** GET and POST */
    cancelSettlement: here('settlement', 'cancel'),
    branding: here('branding'),
    /** POST */
    logo: here('branding', 'logo'),
    removeLogo: here('branding', 'logo', 'remove'),
    /** GET and POST */
    embedding: here('embedding'),
    /** GET and POST */
    payFrom: here('pay-from'),
    /** GET and POST */
    policy: here('policy'),
    audit: here('audit'),
    /** Server-sent events: any message means that the page is to be read again. */
    live: here('live'),
  } as const;
};

/** The path with a query of what is not empty. */
export function withQuery(path: string, query: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(query).filter((pair): pair is [string, string] => pair[1] !== null && pair[1] !== '');
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}

/** Opens a mail that somebody sends himself; texts may be anybody's. */
export const mailLink = (subject: string, body: string): string =>
  `mailto:?subject=${mailed(subject)}&body=${mailed(body)}`;

const mailed = (text: string): string => encodeURIComponent(text.toWellFormed());
