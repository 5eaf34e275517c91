/** Team of an app: members with roles, invitations, transfer of the ownership with a mailed code; a person's invitations. */

import type { VNode } from 'preact';
import Type from 'typebox';
import { isRefusal } from '../../domain/decider.ts';
import {
  type Action,
  actions,
  allows,
  type MemberRole,
  memberRoles,
  type TeamRole,
} from '../../domain/merchant/roles.ts';
import type { TeamInvitation, TeamMember } from '../../queries/team.ts';
import type { Accounts } from '../../src/accounts/accounts.ts';
import type { TeamRoutesDeps } from '../../src/api/routes/team.ts';
import { AppId, oneOf } from '../../src/api/schemas/base.ts';
import { card, chip, empty, inside, notice, pairs } from '../parts/boxes.ts';
import { onDay, roleName } from '../parts/cells.ts';
import {
  choiceField,
  emptyForm,
  type FormState,
  linkButton,
  postButton,
  problems,
  selectField,
  submit,
  textField,
} from '../parts/field.ts';
import type { Frame, Outer, Site } from '../parts/frame.ts';
import { bdi, html } from '../parts/html.ts';
import { icon } from '../parts/icon.ts';
import type { Language } from '../parts/language.ts';
import { appPage, outerPage } from '../parts/layout.ts';
import { actionTexts } from '../parts/messages/actions.ts';
import { appPaths, paths } from '../parts/paths.ts';
import { type PlainName, pageLanguage, sayContent, sayText } from '../parts/say.ts';
import { table } from '../parts/table.ts';
import { confirmPage } from './confirm.ts';
import { entry, fields, noFields } from './forms.ts';
import { type AnyForm, type AnyPage, type Frames, form, type PageResult, page, type Visit } from './page.ts';
import { noSuchPage } from './router.ts';
import { askerOf, mailboxNote } from './signIn.ts';

export interface TeamModel extends Frame {
  /** The owner first, then members and open invitations. */
  readonly team: readonly TeamMember[];
  /** The visitor. */
  readonly developerId: string;
  /** Fields: email, role. */
  readonly form: FormState;
}

const roleHints: Readonly<Record<MemberRole, PlainName>> = {
  developer: 'developerHint',
  operations: 'operationsHint',
  readOnly: 'readOnlyHint',
};

const capitalized = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;
const titleOf = (role: TeamRole): string => capitalized(roleName(role));
const roleOptions = () =>
  memberRoles.map((role) => ({ value: role, label: titleOf(role), hint: sayText(roleHints[role]) }));
const nameOf = ({ email }: TeamMember): string => email ?? sayText('noAddress');

export const teamPage = (model: TeamModel): VNode => {
  const { app, team, developerId, form } = model;
  const to = appPaths(app.appId);
  const own = team.find((member) => member.developerId === developerId)?.role ?? 'readOnly';
  const isOwner = own === 'owner';
  return appPage(
    model,
    { title: sayText('team'), section: 'team' },
    html`<div class="stack">
      ${card(
        {
          title: sayText('members'),
          note: isOwner ? undefined : sayContent('yourRole', { role: roleName(own) }),
          controls: !isOwner && linkButton(to.leaveTeam, sayContent('leaveTheTeam'), 'quiet'),
        },
        memberTable(model, isOwner),
      )}
      ${
        isOwner &&
        card(
          { title: sayText('inviteMember') },
          html`<form class="inside" method="post" action=${to.team}>
            ${problems(form)}
            ${textField({ form, name: 'email', label: sayText('email'), type: 'email', inputmode: 'email', maxlength: 254, hint: sayContent('inviteHint') })}
            ${choiceField({ form, name: 'role', label: sayText('role'), options: roleOptions() })}
            ${submit(sayContent('sendInvitation'))}
          </form>`,
        )
      }
      ${card({ title: sayText('roleAllows'), note: sayContent('allSeeAll') }, roleTexts())}
    </div>`,
  );
};

const memberTable = ({ app, team, developerId }: TeamModel, isOwner: boolean): VNode => {
  const to = appPaths(app.appId);
  return table(
    sayText('members'),
    [
      { head: sayText('member'), kind: 'title' },
      { head: sayText('state'), kind: 'chip' },
      { head: sayText('role'), kind: 'detail' },
      { head: sayText('change'), kind: 'action' },
    ],
    team.map((member) => {
      const { developerId: id, role, invitedUntil } = member;
      return [
        html`<span><strong>${bdi(nameOf(member))}</strong> ${id === developerId && html`<small class="muted">${sayContent('byYou')}</small>`}</span>`,
        invitedUntil === null
          ? chip('ok', sayText('member'))
          : html`<span>${chip('wait', sayText('invited'))} <small class="below">${sayContent('until', { time: onDay(invitedUntil) })}</small></span>`,
        isOwner && role !== 'owner' && invitedUntil === null ? roleField(to.memberRole(id), member) : titleOf(role),
        isOwner && role !== 'owner' && (invitedUntil === null ? changes(to, member) : cancelling(to, member)),
      ];
    }),
  );
};

const roleField = (action: string, member: TeamMember): VNode =>
  html`<details class="rename"><summary>${titleOf(member.role)} <span class="small muted">${sayContent('change')}<span class="visually-hidden"> ${sayContent('changeRoleOf', { name: nameOf(member) })}</span></span></summary>
    <form method="post" action=${action}>
      ${selectField({ form: { values: { role: member.role }, errors: {} }, id: `role-${member.developerId}`, name: 'role', label: sayText('newRole'), options: roleOptions() })}
      ${submit(sayContent('save'), 'plain')}
    </form>
  </details>`;

type To = ReturnType<typeof appPaths>;

const changes = (to: To, member: TeamMember): VNode =>
  html`<span class="controls">
    ${linkButton(to.transferTo(member.developerId), html`<span>${sayContent('makeOwner')}<span class="visually-hidden">: ${nameOf(member)}</span></span>`, 'quiet')}
    ${linkButton(to.removeMember(member.developerId), html`<span>${sayContent('remove')}<span class="visually-hidden"> ${nameOf(member)}</span></span>`, 'quiet')}
  </span>`;

const cancelling = (to: To, member: TeamMember): VNode =>
  postButton(
    to.cancelInvitation(member.developerId),
    html`<span>${sayContent('cancel')}<span class="visually-hidden"> ${sayContent('invitationOf', { name: nameOf(member) })}</span></span>`,
    'quiet',
  );

const roleTexts = (): VNode =>
  inside(
    pairs([
      [titleOf('owner'), sayContent('ownerAllows')],
      ...memberRoles.map((role) => [titleOf(role), allowedText(role)] as const),
    ]),
  );

function allowedText(role: TeamRole): string {
  const allowed = actions.filter((action) => action !== 'leaveTeam' && allows(role, action));
  return allowed.length === 0 ? sayText('changesNothing') : sentenceOf(allowed);
}

function sentenceOf(allowed: readonly Action[]): string {
  const language = pageLanguage();
  const words = allowed.map((action) => actionTexts[language][action]);
  return `${capitalized(words.join(commas[language] ?? ', '))}${language === 'zh' ? '。' : '.'}`;
}

/** Between the entries of a list, where it is not a Latin comma. */
const commas: Readonly<Partial<Record<Language, string>>> = { zh: '、', ar: '، ' };

export interface TransferModel extends Frame {
  readonly member: TeamMember;
  /** Challenge of the mailed code; null before the code is requested. */
  readonly challenge: string | null;
  /** Field: code. */
  readonly form: FormState;
  /** Mailbox of the sandbox. */
  readonly mailboxUrl: string | null;
}

/** Transfer in two steps: first a code is requested, then it is entered. */
export function transferPage({ member, challenge, form, mailboxUrl, ...frame }: TransferModel): VNode {
  const to = appPaths(frame.app.appId);
  return appPage(
    frame,
    { title: sayText('transferTitle'), section: 'team', up: { href: to.team, label: sayText('team') } },
    html`<div class="narrow"><section class="card">
      <form class="inside" method="post" action=${challenge === null ? to.transferTo(member.developerId) : to.confirmTransfer(member.developerId)}>
        ${problems(form)}
        ${notice('wait', html`<p>${sayContent('transferText', { name: html`<strong>${bdi(nameOf(member))}</strong>` })}</p>`)}
        ${challenge !== null && html`<input type="hidden" name="challenge" value=${challenge} />`}
        ${challenge !== null && textField({ form, name: 'code', label: sayText('code'), autocomplete: 'one-time-code', inputmode: 'numeric', pattern: ' *([0-9] *){6,8}', maxlength: 16, mono: true, focus: true, hint: sayContent('transferCodeHint') })}
        <div class="controls">${challenge === null ? submit(sayContent('mailCode')) : submit(sayContent('transferTitle'), 'danger')}${linkButton(to.team, sayContent('leaveIt'))}</div>
      </form>${challenge !== null && mailboxUrl !== null && mailboxNote(mailboxUrl)}
    </section></div>`,
  );
}

export interface InvitationsModel extends Outer {
  readonly invitations: readonly TeamInvitation[];
}

/** A person's invitations to teams. */
export const invitationsPage = (model: InvitationsModel): VNode =>
  outerPage(
    model,
    sayText('invitations'),
    html`<div class="single">
      <div class="head"><div class="title"><a class="up small muted" href=${paths.choose}>${icon('back')}${sayContent('yourApps')}</a>
      <h1>${sayContent('invitations')}</h1></div></div>
      ${
        model.invitations.length === 0
          ? html`<section class="card">${empty(sayText('noInvitation'), sayContent('noInvitationText'))}</section>`
          : invitationCard(model.invitations)
      }
    </div>`,
  );

/** Invitations with their answers. */
export const invitationCard = (invitations: readonly TeamInvitation[]): VNode =>
  card(
    { title: sayText('invitationsToTeams') },
    html`<div><ul class="list">${invitations.map(
      ({ appId, name, role, expiresAt }) =>
        html`<li><div class="go"><span><strong>${bdi(name ?? appId)}</strong><small class="muted">
          ${sayContent('invitedAs', { app: appId, role: roleName(role), day: onDay(expiresAt) })}</small></span>
          <span class="controls">${postButton(paths.declineInvitation(appId), sayContent('decline'), 'quiet')}
          ${postButton(paths.acceptInvitation(appId), sayContent('join'))}</span></div></li>`,
    )}</ul><p class="foot">${sayContent('invitationUnknown')}</p></div>`,
  );

/** Needs of the pages of teams. */
export interface TeamPagesDeps extends TeamRoutesDeps {
  readonly accounts: Accounts;
  readonly site: Site;
}

const path = '/dashboard/apps/{appId}/team';
const MemberPath = Type.Object({
  memberId: Type.Unsafe<string>({ type: 'string', pattern: '^[0-9A-Za-z-]{1,64}$', description: 'a member’s id' }),
});
const RoleField = oneOf(memberRoles, { description: 'one of the list' });

type Own = Visit<'owner'>;
type OfMember = Visit<'owner', { readonly memberId: string }>;
type Listed = (visit: Own, state: FormState) => Promise<PageResult>;

export function teamPages(deps: TeamPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { team } = deps;
  const listed: Listed = async (visit, state) => {
    const { appId, developerId } = visit.visitor;
    const [frame, members] = await Promise.all([frames.ofApp(visit), team.list(appId)]);
    return { page: teamPage({ ...frame, team: members, developerId, form: state }) };
  };
  return [
    page({ path, audience: 'owner', show: (visit) => listed(visit, emptyForm) }),
    form({
      path,
      audience: 'owner',
      fields: fields({ email: entry(254), role: RoleField }),
      async act({ visitor: { appId }, fields: asked, by }) {
        const invited = await team.invite(appId, asked, by);
        if (isRefusal(invited)) return invited;
        await deps.shown(invited);
        return { to: appPaths(appId).team, told: 'memberInvited' };
      },
      again: listed,
    }),
    form({
      path: `${path}/{memberId}/cancel`,
      audience: 'owner',
      params: MemberPath,
      fields: noFields,
      async act({ visitor: { appId }, params, by }) {
        const ended = await team.cancelInvitation(appId, params.memberId, by);
        if (isRefusal(ended)) return ended;
        await deps.shown(ended);
        return { to: appPaths(appId).team, told: 'invitationCancelled' };
      },
      again: listed,
    }),
    form({
      path: `${path}/{memberId}/role`,
      audience: 'owner',
      params: MemberPath,
      fields: fields({ role: RoleField }),
      async act({ visitor: { appId }, params, fields: { role }, by }) {
        const set = await team.setRole(appId, params.memberId, role, by);
        if (isRefusal(set)) return set;
        await deps.shown(set);
        return { to: appPaths(appId).team, told: 'roleSet' };
      },
      again: listed,
    }),
    ...removing(deps, frames, listed),
    ...transferring(deps, frames),
    ...invited(deps, frames),
  ];
}

async function memberOf({ team }: TeamPagesDeps, { visitor, params }: OfMember): Promise<TeamMember> {
  const members = await team.list(visitor.appId);
  const member = members.find(({ developerId }) => developerId === params.memberId);
  if (!member || member.invitedUntil !== null || member.role === 'owner') throw noSuchPage();
  return member;
}

const removing = (deps: TeamPagesDeps, frames: Frames, listed: Listed): readonly (AnyPage | AnyForm)[] => [
  page({
    path: `${path}/{memberId}/remove`,
    audience: 'owner',
    params: MemberPath,
    async show(visit) {
      const { developerId, ...member } = await memberOf(deps, visit);
      const danger = { kind: 'removeMember', memberId: developerId, name: nameOf({ developerId, ...member }) } as const;
      return { page: confirmPage({ ...(await frames.ofApp(visit)), danger }) };
    },
  }),
  form({
    path: `${path}/{memberId}/remove`,
    audience: 'owner',
    params: MemberPath,
    fields: noFields,
    async act({ visitor: { appId }, params, by }) {
      const removed = await deps.team.remove(appId, params.memberId, by);
      if (isRefusal(removed)) return removed;
      await deps.shown(removed);
      return { to: appPaths(appId).team, told: 'memberRemoved' };
    },
    again: listed,
  }),
  page({
    path: `${path}/leave`,
    audience: 'owner',
    show: async (visit) => ({ page: confirmPage({ ...(await frames.ofApp(visit)), danger: { kind: 'leaveTeam' } }) }),
  }),
  form({
    path: `${path}/leave`,
    audience: 'owner',
    fields: noFields,
    async act({ visitor: { appId }, by }) {
      const left = await deps.team.leave(appId, by);
      if (isRefusal(left)) return left;
      await deps.shown(left);
      return { to: paths.choose, told: 'teamLeft' };
    },
    again: listed,
  }),
];

function transferring(deps: TeamPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const { team, accounts, site } = deps;
  const asking = async (visit: OfMember, state: FormState, challenge: string | null = null): Promise<PageResult> => {
    const [frame, member] = await Promise.all([frames.ofApp(visit), memberOf(deps, visit)]);
    return { page: transferPage({ ...frame, member, challenge, form: state, mailboxUrl: site.mailboxUrl }) };
  };
  const thingOf = ({ visitor, params }: OfMember): string =>
    JSON.stringify(['transferOwnership', visitor.appId, params.memberId]);
  return [
    page({
      path: `${path}/{memberId}/transfer`,
      audience: 'owner',
      params: MemberPath,
      show: (visit) => asking(visit, emptyForm),
    }),
    form({
      path: `${path}/{memberId}/transfer`,
      audience: 'owner',
      params: MemberPath,
      fields: noFields,
      async act(visit) {
        const member = await memberOf(deps, visit);
        const { appId, developerId } = visit.visitor;
        const refused = await team.refuseTransfer(appId, member.developerId, visit.by);
        if (refused) return refused;
        const told = {
          thing: thingOf(visit),
          words: `It makes ${nameOf(member)} the owner of ${appId}.`,
          subject: 'Confirm the new owner',
          withoutCode: 'the app stays yours',
        };
        const challenged = await accounts.askToConfirm(developerId, told, askerOf(visit));
        if (isRefusal(challenged)) return challenged;
        return asking(visit, emptyForm, challenged.challenge);
      },
      again: (visit, state) => asking(visit, state),
    }),
    form({
      path: `${path}/{memberId}/transfer/confirm`,
      audience: 'owner',
      params: MemberPath,
      fields: fields({ challenge: entry(128), code: entry(20) }),
      async act(visit) {
        const { challenge, code } = visit.fields;
        const { appId, developerId } = visit.visitor;
        const { memberId } = visit.params;
        const refused = await team.refuseTransfer(appId, memberId, visit.by);
        if (refused) return refused;
        const confirmed = await accounts.confirm(developerId, challenge, code.replaceAll(/\s/g, ''), thingOf(visit));
        if (isRefusal(confirmed)) return { ...confirmed, pointer: '/code' };
        const transferred = await team.transfer(appId, memberId, visit.by);
        if (isRefusal(transferred)) return transferred;
        await deps.shown(transferred);
        return { to: appPaths(appId).team, told: 'ownershipTransferred' };
      },
      // A code is never returned.
      again: (visit, { values, errors }) => asking(visit, { values: {}, errors }, values['challenge'] ?? null),
    }),
  ];
}

function invited({ team, shown }: TeamPagesDeps, frames: Frames): readonly (AnyPage | AnyForm)[] {
  const InvitationPath = Type.Object({ appId: AppId });
  const toInvitations = async () => ({ to: paths.invitations, told: 'invitationOver' as const });
  return [
    page({
      path: paths.invitations,
      audience: 'person',
      async show(visit) {
        const [outer, invitations] = await Promise.all([
          frames.outer(visit),
          team.invitations(visit.visitor.developerId),
        ]);
        return { page: invitationsPage({ ...outer, invitations }) };
      },
    }),
    form({
      path: '/dashboard/invitations/{appId}/accept',
      audience: 'person',
      params: InvitationPath,
      fields: noFields,
      async act({ params: { appId }, by }) {
        const joined = await team.accept(appId, by);
        if (isRefusal(joined)) return joined.refused === 'notFound' ? toInvitations() : joined;
        await shown(joined);
        return { to: appPaths(appId).overview, told: 'teamJoined' };
      },
      again: toInvitations,
    }),
    form({
      path: '/dashboard/invitations/{appId}/decline',
      audience: 'person',
      params: InvitationPath,
      fields: noFields,
      async act({ params: { appId }, by }) {
        const declined = await team.decline(appId, by);
        if (isRefusal(declined)) return declined.refused === 'notFound' ? toInvitations() : declined;
        await shown(declined);
        return { to: paths.invitations, told: 'invitationDeclined' };
      },
      again: toInvitations,
    }),
  ];
}
