/** What became of what was asked, told once by the page that it leads to. The cookie holds the name of a text, so that nobody can put words there. */
import type { Flash } from '../parts/frame.ts';
import type { Cookies, SetCookie } from './cookies.ts';

const done = (text: string): Flash => ({ kind: 'done', text });

const flashes = {
  signedOut: done('You have signed out.'),
  sessionEnded: done('The session has ended.'),
  otherSessionsEnded: done('All other sessions have ended.'),
  keyRenamed: done('The key has its new name.'),
  keyRevoked: done('The key is revoked: it is refused from now on.'),
  webhookSet: done('The webhook URL is saved. New payments use it; older ones keep theirs.'),
  webhookRemoved: done('The webhook URL is removed. New payments send no webhooks.'),
  testSent: done('The test was sent: here is what your server answered.'),
  redelivered: done('It was sent again: this is the new delivery.'),
  notRedelivered: {
    kind: 'problem',
    text: 'It was not sent again: tick the box below the warning first. A delivery can be sent again once, and only when it was not taken.',
  },
  linkMade: done('The payment is made. Send its link to whoever pays, or tell them what to pay where.'),
  orderKnown: { kind: 'warning', text: 'This order has its payment already: here it is. Nothing new was made.' },
  reusableLinkMade: done('The link is made. Whoever opens it makes a payment of his own.'),
  linkClosed: done('The link is closed.'),
  refundOrdered: done('The refund is ordered. It is sent and confirmed by itself: its state is below.'),
  evidenceNotYet: { kind: 'warning', text: 'No signed head covers this payment yet: try again in some minutes.' },
  withdrawn: done('The withdrawal is on its way: this is the payment that pays it out.'),
  settlementSet: done('The settlement wallet is saved.'),
  settlementRequested: done('The new wallet takes effect after the waiting time. You can cancel it until then.'),
  settlementCancelled: done('The change is cancelled: the wallet stays as it is.'),
  profileSaved: done('The branding is saved.'),
  logoSaved: done('The logo is saved.'),
  logoRemoved: done('The logo is removed.'),
  sitesSaved: done('The sites are saved. They count for every page of a payment from now on, open ones aside.'),
  payFromSaved: done('What payers may choose is saved. New payments offer it; older ones keep theirs.'),
  policySaved: done('What happens with other amounts is saved. New payments go by it; older ones keep theirs.'),
  registrationDiscarded: done('The registration is thrown away.'),
} as const satisfies Record<string, Flash>;

export type Notice = keyof typeof flashes;

const life_s = 60;

export const noticeCookie = (told: Notice): SetCookie => ({ name: 'told', value: told, life_s });
export const noNotice: SetCookie = { name: 'told', value: null };

export const noticeIn = ({ told }: Cookies): Flash | null =>
  told !== undefined && Object.hasOwn(flashes, told) ? flashes[told as Notice] : null;
