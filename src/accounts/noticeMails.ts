/** Mails to members about their app's payments. They contain numbers and our own words: no title, order or note, which others write. */
import type { NoticeKind } from '../../domain/merchant/notifications.ts';
import type { EmailText } from './emails.ts';

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
