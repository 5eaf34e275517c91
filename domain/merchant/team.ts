/** Team of an app: invitations, members with teamRoles, transfer of ownership. */
import { type Decision, type Refusal, refuse } from '../decider.ts';
import { hour_ms, type Instant, plus } from '../time.ts';
import type { MerchantEvent } from './events.ts';
import { type MemberRole, memberRoles, roleNames } from './roles.ts';
import { type Invitation, type MerchantState, ofRegistered } from './state.ts';

/** Maximum members of an app, with open invitations, besides its owner. */
export const teamMembersMax = 20;
const invitationLife_ms = 7 * 24 * hour_ms;

export const invitationEnd = (now: Instant): Instant => plus(now, invitationLife_ms);

/** An invitation that can still be accepted. */
const openInvitation = (
  { invitations }: Pick<MerchantState, 'invitations'>,
  developerId: string,
  now: Instant,
): Invitation | undefined => invitations.find((each) => each.developerId === developerId && each.expiresAt > now);

/** Refuses an invitation for which the team has no place. */
function refuseFull({ members, invitations }: MerchantState, now: Instant): Refusal | undefined {
  const open = invitations.filter(({ expiresAt }) => expiresAt > now).length;
  if (members.length + open < teamMembersMax) return undefined;
  return refuse('conflict', `the team has ${teamMembersMax} members and open invitations: remove one first`, '/email');
}

export function inviteMember(
  state: MerchantState,
  { developerId, role }: { readonly developerId: string; readonly role: MemberRole },
  now: Instant,
): Decision<MerchantEvent> {
  if (isInTeam(state, developerId)) return refuse('conflict', 'this person is in the team already', '/email');
  const open = openInvitation(state, developerId, now);
  if (open?.role === role) return [];
  if (open)
    return refuse(
      'conflict',
      `this person is invited as ${roleNames[open.role]}: cancel that invitation first`,
      '/email',
    );
  const full = refuseFull(state, now);
  if (full) return full;
  return ofRegistered(state, [{ type: 'MemberInvited', data: { developerId, role, expiresAt: invitationEnd(now) } }]);
}

/** Ends an invitation: its owner cancels it, or the invited person declines it. It protects the app, so it has no limit. */
export function endInvitation(state: MerchantState, developerId: string): Decision<MerchantEvent> {
  const known = state.invitations.some((each) => each.developerId === developerId);
  return known ? [{ type: 'InvitationEnded', data: { developerId } }] : noInvitation;
}

/** Joins with the role of the invitation. A repeated request changes nothing. */
export function acceptInvitation(state: MerchantState, developerId: string, now: Instant): Decision<MerchantEvent> {
  if (isInTeam(state, developerId)) return [];
  const open = openInvitation(state, developerId, now);
  if (!open) return noInvitation;
  return ofRegistered(state, [{ type: 'MemberJoined', data: { developerId, role: open.role } }]);
}

export function setMemberRole(state: MerchantState, developerId: string, role: MemberRole): Decision<MerchantEvent> {
  const member = state.members.find((each) => each.developerId === developerId);
  if (!member) return noMember;
  return ofRegistered(state, member.role === role ? [] : [{ type: 'MemberRoleSet', data: { developerId, role } }]);
}

/** Removes a member. It protects the app, so it has no limit. */
export function removeMember(state: MerchantState, developerId: string): Decision<MerchantEvent> {
  const known = state.members.some((each) => each.developerId === developerId);
  return known ? [{ type: 'MemberRemoved', data: { developerId } }] : noMember;
}

/** Makes a member the owner. The former owner stays as a developer. */
export function transferOwnership(state: MerchantState, developerId: string): Decision<MerchantEvent> {
  const { developerId: former } = state;
  if (developerId === former) return [];
  if (!state.members.some((each) => each.developerId === developerId)) return noMember;
  const stays: MerchantEvent[] =
    former === null ? [] : [{ type: 'MemberJoined', data: { developerId: former, role: memberRoles[0] } }];
  return ofRegistered(state, [{ type: 'OwnerSet', data: { developerId } }, ...stays]);
}

const isInTeam = ({ developerId: ownerId, members }: MerchantState, developerId: string): boolean =>
  developerId === ownerId || members.some((each) => each.developerId === developerId);

const noMember = refuse('notFound', 'the team has no such member: list its members to see their ids', '/id');
const noInvitation = refuse(
  'notFound',
  'there is no open invitation for this person: ask the owner for another one',
  '/id',
);
