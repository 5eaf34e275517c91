/** Notifications of an app's members: each member chooses kinds by mail and in the dashboard's bell. */
import { type Decision, type Refusal, refuse } from '../decider.ts';
import type { MerchantEvent, NotificationsSet } from './events.ts';
import { roleOf } from './roles.ts';
import { type MerchantState, ofRegistered } from './state.ts';

export const noticeKinds = [
  'moneyHeld',
  'webhookFailing',
  'largePayment',
  'firstPayment',
  'dailySummary',
  'weeklySummary',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export type NotificationChoice = Omit<NotificationsSet, 'developerId'>;

/** Smallest amount that can count as a large payment: read models keep a row for each payment from this amount on. */
export const largeMin_microUsd = 100_000_000n;
const largeMax_microUsd = 1_000_000_000_000n;

/** Choice of a member who has set none. */
export const defaultChoice: NotificationChoice = {
  mail: ['moneyHeld', 'webhookFailing'],
  bell: ['moneyHeld', 'webhookFailing', 'largePayment', 'firstPayment'],
  large_microUsd: '1000000000',
};

/** Changes of one member. Members cannot use up the changes of the whole app (`changesMax`). */
export const notificationChangesMax = 200;

const chosenBy = ({ notifications }: MerchantState, developerId: string) =>
  notifications.find((each) => each.developerId === developerId);

/** The choice of a member; null for a person who is not in the team, whatever they chose before. */
export function choiceOf(state: MerchantState, developerId: string): NotificationChoice | null {
  if (roleOf(state, developerId) === null) return null;
  return chosenBy(state, developerId) ?? defaultChoice;
}

/** Replaces a member's whole choice. */
export function setNotifications(
  state: MerchantState,
  developerId: string,
  choice: NotificationChoice,
): Decision<MerchantEvent> {
  const before = choiceOf(state, developerId);
  if (before === null) return refuse('forbidden', 'the app is not yours');
  const unfit = unfitness(choice);
  if (unfit) return unfit;
  const next = { mail: ordered(choice.mail), bell: ordered(choice.bell), large_microUsd: choice.large_microUsd };
  if (textOf(next) === textOf(before)) return [];
  if ((chosenBy(state, developerId)?.times ?? 0) >= notificationChangesMax)
    return refuse('forbidden', `you changed your notifications ${notificationChangesMax} times: ask the operator`);
  return ofRegistered(state, [{ type: 'NotificationsSet', data: { developerId, ...next } }]);
}

function unfitness({ large_microUsd }: NotificationChoice): Refusal | undefined {
  const large = BigInt(large_microUsd);
  if (large >= largeMin_microUsd && large <= largeMax_microUsd) return undefined;
  const dollars = (microUsd: bigint): string => (microUsd / 1_000_000n).toString();
  return refuse(
    'invalidRequest',
    `must be from ${dollars(largeMin_microUsd)} to ${dollars(largeMax_microUsd)} dollars`,
    '/large',
  );
}

const ordered = (kinds: readonly NoticeKind[]): NoticeKind[] => noticeKinds.filter((kind) => kinds.includes(kind));
const textOf = ({ mail, bell, large_microUsd }: NotificationChoice): string =>
  JSON.stringify([ordered(mail), ordered(bell), large_microUsd]);
