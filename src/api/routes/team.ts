import Type from 'typebox';
import type { Changed } from '../../../commands/manageMerchant.ts';
import type { ManageTeam } from '../../../commands/team.ts';
import { isRefusal, type Refusal } from '../../../domain/decider.ts';
import { memberRoles, teamRoles } from '../../../domain/merchant/roles.ts';
import type { TeamInvitation, TeamMember } from '../../../queries/team.ts';
import type { Owner } from '../auth.ts';
import type { InForce } from '../issueKey.ts';
import { type Answer, type AnyRoute, ok, route } from '../router.ts';
import { AppId, closed, NullableText, oneOf, Time, TimeOrNull } from '../schemas/base.ts';

const { Array: List, Object: Shape } = Type;

const MemberRole = oneOf(memberRoles, {
  title: 'MemberRole',
  description: 'Permissions of each role: docs/reference/roles.md. An app has one owner besides its members.',
});

export const MemberRequest = Shape(
  { email: Type.String({ minLength: 3, maxLength: 254, description: 'an e-mail address' }), role: MemberRole },
  { ...closed, title: 'MemberRequest', examples: [{ email: 'bob@shop.example', role: 'operations' }] },
);
export const MemberRoleRequest = Shape(
  { role: MemberRole },
  { ...closed, title: 'MemberRoleRequest', examples: [{ role: 'readOnly' }] },
);
/** No format: a malformed id is answered like an unknown member. */
export const MemberPath = Shape({ id: Type.String({ description: 'The member’s developerId.' }) }, closed);
export const InvitationPath = Shape({ appId: AppId }, closed);

export const MembersResponse = Shape(
  {
    data: List(
      Shape(
        {
          developerId: Type.String(),
          email: NullableText,
          role: oneOf(teamRoles, { title: 'TeamRole' }),
          invitedUntil: Type.Unsafe<string | null>({
            ...TimeOrNull,
            description: 'End of an invitation that was not accepted yet; null for a member.',
          }),
        },
        { title: 'TeamMember' },
      ),
    ),
  },
  { title: 'MembersResponse', description: 'The owner, then members and open invitations.' },
);
export const InvitationsResponse = Shape(
  {
    data: List(Shape({ appId: AppId, name: NullableText, role: MemberRole, expiresAt: Time }, { title: 'Invitation' })),
  },
  { title: 'InvitationsResponse' },
);

/** Reads of teams, for their members and for invited people. */
export interface TeamReads {
  /** The owner first, then members and open invitations. */
  readonly list: (appId: string) => Promise<readonly TeamMember[]>;
  /** Open invitations of a person. */
  readonly invitations: (developerId: string) => Promise<readonly TeamInvitation[]>;
}

/** Needs of the routes of teams. */
export interface TeamRoutesDeps extends InForce {
  readonly team: ManageTeam & TeamReads;
}

const tag = 'Team';
const base = '/merchant-api/me';
const errors = ['invalidRequest', 'unauthenticated', 'forbidden'] as const;
const members = { 200: { description: 'The team', schema: MembersResponse } } as const;
const invitations = { 200: { description: 'Your open invitations', schema: InvitationsResponse } } as const;

/** Team of an app for its members, and invitations for the invited person. */
export const teamRoutes = (deps: TeamRoutesDeps): readonly AnyRoute[] => [
  ...managing(deps),
  ...membership(deps),
  ...invited(deps),
];

/** The team once the change can be read. */
async function teamAfter(
  { team, shown }: TeamRoutesDeps,
  { appId }: Owner,
  changed: Changed | Refusal,
): Promise<Answer | Refusal> {
  if (isRefusal(changed)) return changed;
  await shown(changed);
  return ok({ data: await team.list(appId) });
}

const managing = (deps: TeamRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: `${base}/members`,
    auth: 'owner',
    answers: members,
    errors,
    doc: { id: 'listMembers', tag, summary: 'List the team of the app' },
    handle: async ({ caller: { appId } }) => ok({ data: await deps.team.list(appId) }),
  }),
  route({
    method: 'post',
    path: `${base}/members/invite`,
    auth: 'owner',
    body: MemberRequest,
    answers: members,
    errors: [...errors, 'conflict'],
    doc: {
      id: 'inviteMember',
      tag,
      summary: 'Invite a member by e-mail',
      description:
        'For the owner. The invitation belongs to the address: only a person who signs in with it can accept. It ends after 7 days.',
    },
    handle: async ({ caller, body, by }) => teamAfter(deps, caller, await deps.team.invite(caller.appId, body, by)),
  }),
  route({
    method: 'post',
    path: `${base}/members/{id}/cancel-invitation`,
    auth: 'owner',
    params: MemberPath,
    answers: members,
    errors: [...errors, 'notFound'],
    doc: { id: 'cancelInvitation', tag, summary: 'Cancel an invitation' },
    handle: async ({ caller, params, by }) =>
      teamAfter(deps, caller, await deps.team.cancelInvitation(caller.appId, params.id, by)),
  }),
  route({
    method: 'post',
    path: `${base}/members/{id}/role`,
    auth: 'owner',
    params: MemberPath,
    body: MemberRoleRequest,
    answers: members,
    errors: [...errors, 'notFound'],
    doc: { id: 'setMemberRole', tag, summary: 'Change a member’s role' },
    handle: async ({ caller, params, body, by }) =>
      teamAfter(deps, caller, await deps.team.setRole(caller.appId, params.id, body.role, by)),
  }),
  route({
    method: 'post',
    path: `${base}/members/{id}/remove`,
    auth: 'owner',
    params: MemberPath,
    answers: members,
    errors: [...errors, 'notFound'],
    doc: {
      id: 'removeMember',
      tag,
      summary: 'Remove a member',
      description: 'Sessions of the person end for this app at once. Revoke API keys that the person knows.',
    },
    handle: async ({ caller, params, by }) =>
      teamAfter(deps, caller, await deps.team.remove(caller.appId, params.id, by)),
  }),
];

const membership = (deps: TeamRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'post',
    path: `${base}/leave`,
    auth: 'owner',
    answers: invitations,
    errors,
    doc: { id: 'leaveTeam', tag, summary: 'Leave the team', description: 'The owner transfers the ownership first.' },
    handle: async ({ caller, by }) => invitationsAfter(deps, caller, await deps.team.leave(caller.appId, by)),
  }),
];

async function invitationsAfter(
  { team, shown }: TeamRoutesDeps,
  { developerId }: Pick<Owner, 'developerId'>,
  changed: Changed | Refusal,
): Promise<Answer | Refusal> {
  if (isRefusal(changed)) return changed;
  await shown(changed);
  return ok({ data: await team.invitations(developerId) });
}

const invited = (deps: TeamRoutesDeps): readonly AnyRoute[] => [
  route({
    method: 'get',
    path: '/merchant-api/invitations',
    auth: 'person',
    answers: invitations,
    errors: ['unauthenticated'],
    doc: { id: 'listInvitations', tag, summary: 'List your invitations to teams' },
    handle: async ({ caller }) => ok({ data: await deps.team.invitations(caller.developerId) }),
  }),
  route({
    method: 'post',
    path: '/merchant-api/invitations/{appId}/accept',
    auth: 'person',
    params: InvitationPath,
    answers: invitations,
    errors: ['unauthenticated', 'notFound'],
    doc: { id: 'acceptInvitation', tag, summary: 'Accept an invitation: join the team' },
    handle: async ({ caller, params, by }) => invitationsAfter(deps, caller, await deps.team.accept(params.appId, by)),
  }),
  route({
    method: 'post',
    path: '/merchant-api/invitations/{appId}/decline',
    auth: 'person',
    params: InvitationPath,
    answers: invitations,
    errors: ['unauthenticated', 'notFound'],
    doc: { id: 'declineInvitation', tag, summary: 'Decline an invitation' },
    handle: async ({ caller, params, by }) => invitationsAfter(deps, caller, await deps.team.decline(params.appId, by)),
  }),
];
