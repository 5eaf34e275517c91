/** Texts of e-mails. They contain nothing that a stranger could write: readers would trust it under our name. */
import { domainToASCII } from 'node:url';
import type { NoticeKind } from '../../domain/merchant/notifications.ts';
import { minute_ms } from '../../domain/time.ts';

export interface EmailText {
  readonly subject: string;
  readonly text: string;
}

export const codeLife_ms = 10 * minute_ms;

const letter = (subject: string, ...paragraphs: readonly string[]): EmailText => ({
  subject,
  text: `${paragraphs.join('\n\n')}\n`,
});

const minutes = codeLife_ms / minute_ms;
const where = (address: string) => `The request came from the network address ${address}.`;

export const signInEmail = (code: string, address: string): EmailText =>
  letter(
    'Your sign-in code',
    `Your code is ${code}`,
    `Enter it on the page where you requested it, within ${minutes} minutes. Never share this code. We will never ask for it.`,
    `${where(address)} If that was not you, ignore this mail: nobody can sign in without the code.`,
  );

/** Omits the app's id, which the requester chooses and could turn into a message. */
export const registrationEmail = (code: string, address: string): EmailText =>
  letter(
    'Confirm your app',
    `Your code is ${code}`,
    `It registers an app with this e-mail address as its owner. Enter it where you registered, within ${minutes} minutes. Never share this code. We will never ask for it.`,
    `${where(address)} If that was not you, ignore this mail: nothing is registered without the code.`,
  );

export const beginningEmail = (code: string, address: string): EmailText =>
  letter(
    'Your registration code',
    `Your code is ${code}`,
    `It proves your e-mail address, so that you can register an app. Enter it on the page where you requested it, within ${minutes} minutes. Never share this code. We will never ask for it.`,
    `${where(address)} If that was not you, ignore this mail: nothing is registered without the code.`,
  );

export interface ConfirmationWords {
  readonly words: string;
  readonly subject?: string;
  readonly withoutCode?: string;
}

export const confirmationEmail = (
  code: string,
  { words, subject = 'Confirm a refund', withoutCode = 'no money is sent' }: ConfirmationWords,
  address: string,
): EmailText =>
  letter(
    subject,
    `Your code is ${code}`,
    words,
    `Enter it on the page where you requested it, within ${minutes} minutes. Never share this code. We will never ask for it.`,
    `${where(address)} If that was not you, somebody else uses your session: sign in, end all sessions, and check the audit trail of your apps. Without the code ${withoutCode}.`,
  );

export const newBrowserEmail = (address: string): EmailText =>
  letter(
    'New sign-in',
    `Somebody has signed in to your account from a new browser, from the network address ${address}.`,
    'If that was not you, somebody can read your mail. Sign in, end all sessions, and check the audit trail of your apps.',
  );

export const invitationEmail = (url: string | null): EmailText =>
  letter(
    'You are invited to register',
    `You are invited to accept payments with us. Register with this e-mail address${url === null ? '.' : ` at ${url}`}`,
    'If you did not expect this, ignore this mail.',
  );

/** Names neither app nor owner: both could be chosen to read like a message. */
export const teamInvitationEmail = (role: string, url: string | null): EmailText =>
  letter(
    'You are invited to a team',
    `The owner of an app invites you to its team. Your role is: ${role}.`,
    `To accept or decline, sign in with this e-mail address${url === null ? ' to the dashboard' : ` at ${url}`}. The invitation ends after 7 days.`,
    'If you did not expect this, ignore this mail: nothing happens until you accept.',
  );

const emailMax = 254;
const localMax = 64;
/** RFC 5322's dot-atom: no quotes, no comments, no character that could break a mail header. */
const local = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
/** Host names of DNS. The last label is no number, which excludes IP addresses. */
const domain = /^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Allowed input for a domain: host names of all scripts, and no character that a URL parser would drop or decode. */
const written = /^[\p{L}\p{M}\p{N}.-]+$/u;

/**
 * Canonical form of an e-mail address, which identifies its person: lower case, with the domain as in DNS, so look-alike letters stay
 * different. Dots and `+tags` before the @ stay: the mail server decides about them.
 *
 * @returns undefined for text that is no address for mail
 */
export function readEmail(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [before, after] = [text.slice(0, at).toLowerCase(), text.slice(at + 1)];
  if (at < 1 || before.length > localMax || !local.test(before) || !written.test(after)) return undefined;
  const host = domainToASCII(after);
  const email = `${before}@${host}`;
  return domain.test(host) && email.length <= emailMax ? email : undefined;
}

// Mails to members about their app's payments. They contain numbers and our own words: no title, order or note, which
// others write.

export interface CollectedNotice {
  readonly appId: string;
  readonly kind: NoticeKind;
  readonly count: number;
  /** Text of a summary; null for other kinds. */
  readonly line: string | null;
}

const payments = (count: number, one: string, many: string): string =>
  count === 1 ? `1 payment ${one}` : `${count} payments ${many}`;

const lines: Readonly<Record<NoticeKind, (notice: CollectedNotice) => string>> = {
  moneyHeld: ({ count }) =>
    `${payments(count, 'holds', 'hold')} money that is not what was agreed. It can be refunded.`,
  webhookFailing: ({ count }) =>
    `Your server did not accept ${count} webhooks. The service does not repeat them automatically.`,
  largePayment: ({ count }) => `${payments(count, 'is', 'are')} large, as you defined it.`,
  firstPayment: () => 'Your first payment was paid out.',
  dailySummary: ({ line }) => line ?? '',
  weeklySummary: ({ line }) => line ?? '',
};

const pages: Readonly<Record<NoticeKind, string>> = {
  moneyHeld: '/payments?group=needs',
  webhookFailing: '/webhooks?state=exhausted',
  largePayment: '/payments',
  firstPayment: '/payments',
  dailySummary: '',
  weeklySummary: '',
};

/**
 * One mail for all notices that were collected for a person.
 *
 * @param dashboard URL of the dashboard; null if the installation does not know its own address
 */
export function noticesEmail(notices: readonly CollectedNotice[], dashboard: string | null): EmailText {
  const appIds = [...new Set(notices.map(({ appId }) => appId))];
  const linked = (text: string, path: string): string => (dashboard === null ? text : `${text}\n${dashboard}${path}`);
  const ofApp = (appId: string): readonly string[] => [
    `${appId}:`,
    ...notices
      .filter((notice) => notice.appId === appId)
      .map((notice) => linked(lines[notice.kind](notice), `/apps/${appId}${pages[notice.kind]}`)),
  ];
  const choose = linked('Choose your notifications in the dashboard:', `/apps/${appIds[0]}/notifications`);
  return {
    subject: appIds.length === 1 ? `News of ${appIds[0]}` : `News of ${appIds.length} apps`,
    text: `${[...appIds.flatMap(ofApp), choose].join('\n\n')}\n`,
  };
}
