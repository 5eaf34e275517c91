/** Roles of an app's members, and the actions that each role allows. Commands check them; docs/reference/roles.md is made from them. */
import { personOf, type Refusal, refuse } from '../decider.ts';

/** Roles that an owner can give. An app has one owner. */
export const memberRoles = ['developer', 'operations', 'readOnly'] as const;
export type MemberRole = (typeof memberRoles)[number];
export const teamRoles = ['owner', ...memberRoles] as const;
export type TeamRole = (typeof teamRoles)[number];

/** Names of the roles for people. */
export const roleNames: Readonly<Record<TeamRole, string>> = {
  owner: 'owner',
  developer: 'developer',
  operations: 'operations',
  readOnly: 'read-only',
};

/** The part of an app's state that decides roles. */
export interface TeamState {
  readonly developerId: string | null;
  readonly members: readonly { readonly developerId: string; readonly role: MemberRole }[];
}

interface Permission {
  /** The action, for people. */
  readonly words: string;
  readonly roles: readonly TeamRole[];
}

const owner = ['owner'] as const;
const technical = ['owner', 'developer'] as const;
const money = ['owner', 'operations'] as const;
const daily = ['owner', 'developer', 'operations'] as const;

/** Every action of a signed-in person that changes an app or its payments. All members read everything. */
export const permissions = {
  inviteMember: { words: 'invite a member', roles: owner },
  cancelInvitation: { words: 'cancel an invitation', roles: owner },
  setMemberRole: { words: 'change a member’s role', roles: owner },
  removeMember: { words: 'remove a member', roles: owner },
  leaveTeam: { words: 'leave the team', roles: memberRoles },
  transferOwnership: { words: 'transfer the ownership', roles: owner },
  requestSettlement: { words: 'change the settlement wallet', roles: owner },
  cancelSettlement: { words: 'cancel a change of the settlement wallet', roles: daily },
  setPolicy: { words: 'change the policy for other amounts', roles: owner },
  withdrawCashback: { words: 'withdraw cashback', roles: owner },
  issueAdminKey: { words: 'issue an API key of scope admin', roles: owner },
  issueKey: { words: 'issue an API key of scope orders', roles: technical },
  renameKey: { words: 'rename an API key', roles: technical },
  revokeKey: { words: 'revoke an API key', roles: technical },
  setWebhookUrl: { words: 'set or remove the webhook URL', roles: technical },
  setWebhookTypes: { words: 'choose types of webhooks', roles: technical },
  changeWebhookEndpoints: { words: 'add, change or remove a webhook endpoint', roles: technical },
  rotateSecret: { words: 'make a new webhook secret', roles: technical },
  sendTestWebhook: { words: 'send a test webhook', roles: technical },
  redeliver: { words: 'redeliver a webhook', roles: daily },
  setPayFrom: { words: 'set the sources that payers can choose', roles: technical },
  setEmbeddingSites: { words: 'set the sites that can embed payment pages', roles: technical },
  setProfile: { words: 'change the profile', roles: technical },
  setLogo: { words: 'change or remove the logo', roles: technical },
  setNotifications: { words: 'choose your own notifications', roles: teamRoles },
  createPayment: { words: 'create a payment', roles: daily },
  cancelPayment: { words: 'cancel a payment', roles: daily },
  annotatePayment: { words: 'write a note or tags on a payment', roles: daily },
  createLink: { words: 'create a reusable link', roles: daily },
  closeLink: { words: 'close a reusable link', roles: daily },
  orderRefund: { words: 'order a refund', roles: money },
  fundRefund: { words: 'fund a refund', roles: money },
  confirmRefundAddress: { words: 'confirm a refund address', roles: owner },
  withdrawRefundAddress: { words: 'withdraw a confirmed refund address', roles: daily },
} as const satisfies Readonly<Record<string, Permission>>;
export type Action = keyof typeof permissions;
export const actions = Object.keys(permissions) as readonly Action[];

export const allows = (role: TeamRole, action: Action): boolean =>
  (permissions[action].roles as readonly TeamRole[]).includes(role);

/** Null for a person who is not in the team. An invitation alone gives no role. */
export function roleOf({ developerId: ownerId, members }: TeamState, developerId: string): TeamRole | null {
  if (developerId === ownerId) return 'owner';
  return members.find((member) => member.developerId === developerId)?.role ?? null;
}

/** Refuses a person (cause `developer:…`) who is not in the app's team, or whose role does not allow the action. */
export function refuseRole(state: TeamState, cause: string, action: Action): Refusal | undefined {
  const developerId = personOf(cause);
  if (developerId === null) return undefined;
  const role = roleOf(state, developerId);
  if (role === null) return refuse('forbidden', 'the app is not yours');
  if (allows(role, action)) return undefined;
  return refuse(
    'forbidden',
    `your role in this team, ${roleNames[role]}, does not allow you to ${permissions[action].words}: ask its owner`,
    rolePointer,
  );
}

/** Pointer of a refusal by role, which no field can correct. */
export const rolePointer = '/role';
