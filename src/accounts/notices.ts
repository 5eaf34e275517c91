/** Mails to owners about changes of their apps: enough to notice them, and nothing that their author could write. */
import { chainOf } from '../../domain/chains.ts';
import type { MerchantEvent, SettlementWallet } from '../../domain/merchant/events.ts';
import { roleNames } from '../../domain/merchant/roles.ts';
import { type EmailText, teamInvitationEmail } from './emails.ts';

/** Mail to the person whom an event of the team concerns, besides the notice to the owner; null for other events. */
export function memberMailOf(event: MerchantEvent, appId: string, dashboard: string | null): MemberMail | null {
  switch (event.type) {
    case 'MemberInvited': {
      const url = dashboard === null ? null : `${dashboard}/invitations`;
      return { to: event.data.developerId, ...teamInvitationEmail(roleNames[event.data.role], url) };
    }
    case 'MemberJoined':
    case 'MemberRoleSet':
      return {
        to: event.data.developerId,
        subject: `Your role in a team: ${appId}`,
        text: `Your role in the team of ${appId} is now: ${roleNames[event.data.role]}.\n`,
      };
    case 'MemberRemoved':
      return {
        to: event.data.developerId,
        subject: `You left a team: ${appId}`,
        text: `You are no longer a member of the team of ${appId}. Its owner can invite you again.\n`,
      };
    default:
      return null;
  }
}

interface MemberMail extends EmailText {
  /** The person's id. */
  readonly to: string;
}

/** Notice to the owner; null for events without one. @param dashboard URL of the dashboard; null if the installation does not know its own address */
export function noticeOf(event: MerchantEvent, appId: string, dashboard: string | null): EmailText | null {
  const happened = tellingOf(event);
  if (happened === null) return null;
  const [subject, ...said] = happened;
  const place = dashboard === null ? 'the dashboard' : dashboard;
  // Only the operator or the former owner makes this change, so it is no sign of a stolen session of the reader.
  const warning =
    event.type === 'OwnerSet'
      ? 'If you did not expect this, ask the operator.'
      : `If that was not you, act now: open ${place}, end all sessions, and revoke unknown keys. Somebody can read your mail, or has the operator's rights.`;
  const text = [...said.map((line) => line.replaceAll('{app}', appId)), warning];
  return { subject: `${subject}: ${appId}`, text: `${text.join('\n\n')}\n` };
}

type Telling = readonly [subject: string, ...paragraphs: string[]];

function tellingOf(event: MerchantEvent): Telling | null {
  switch (event.type) {
    case 'SettlementChangeRequested':
      return [
        'Settlement wallet will change',
        `From ${event.data.effectiveAt} on, payouts of {app} go to ${walletOf(event.data.wallet)}.`,
        'You can cancel the change until then. Existing payments keep the wallet that they were created with.',
      ];
    case 'SettlementChangeCancelled':
      return ['Settlement wallet stays', 'The change of the settlement wallet of {app} was cancelled.'];
    case 'SettlementWalletSet':
      return ['Settlement wallet set', `New payments of {app} are paid out to ${walletOf(event.data)}.`];
    case 'WebhookUrlSet':
      return event.data.url === null
        ? ['Webhooks stopped', 'New payments of {app} send no webhooks.']
        : ['Webhook URL changed', 'New payments of {app} send their webhooks to another URL.'];
    case 'WebhookSecretRotated':
      return [
        'Webhook secret rotated',
        'Webhooks of {app} are signed with a new secret. The old secret is no longer used.',
      ];
    case 'ApiKeyIssued':
      return [
        'API key issued',
        `A new key of scope ${event.data.scope} can act for {app}. It ends with ${event.data.hint.slice(-4)}.`,
      ];
    case 'OwnerSet':
      return ['You own an app', 'You are the owner of {app} now.'];
    case 'MemberInvited':
      return ['Member invited', `A person was invited to the team of {app} as ${roleNames[event.data.role]}.`];
    case 'MemberJoined':
      return ['Member joined', `A person is now a member of the team of {app} as ${roleNames[event.data.role]}.`];
    case 'MemberRoleSet':
      return ['Role changed', `A member of the team of {app} is now ${roleNames[event.data.role]}.`];
    case 'MemberRemoved':
      return ['Member removed', 'A person is no longer a member of the team of {app}.'];
    default:
      return null;
  }
}

const walletOf = ({ chainId, token, receiverAddress }: SettlementWallet): string =>
  `${receiverAddress} on ${chainOf(chainId).name}, in ${token.symbol}`;
