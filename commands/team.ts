/** Team of an app: its owner invites, removes and promotes members; invited people accept or decline. */
import { type Decision, isRefusal, personOf, type Refusal, refuse } from '../domain/decider.ts';
import type { MerchantEvent } from '../domain/merchant/events.ts';
import { type Action, type MemberRole, refuseRole } from '../domain/merchant/roles.ts';
import { type MerchantState, merchant } from '../domain/merchant/state.ts';
import * as decide from '../domain/merchant/team.ts';
import type { Instant } from '../domain/time.ts';
import { type By, currentState, type Handle } from './handle.ts';
import type { Changed } from './manageMerchant.ts';
import type { Clock } from './ports.ts';

export interface ManageTeamDeps {
  readonly handle: Handle;
  readonly clock: Pick<Clock, 'now'>;
  /** Finds or creates the person of an e-mail address, who can prove the address until then. */
  readonly findInvitee: (email: string, until: Instant) => Promise<{ readonly developerId: string } | Refusal>;
}

export interface InvitationRequest {
  readonly email: string;
  readonly role: MemberRole;
}

/** All refuse a person whose role does not allow the action with `forbidden`. `accept` and `decline` need an invitation of the person. */
export interface ManageTeam {
  /** Crash before the append: only a person without rights exists. Repeating it changes nothing. */
  invite(appId: string, request: InvitationRequest, by: By): Promise<Changed | Refusal>;
  cancelInvitation(appId: string, developerId: string, by: By): Promise<Changed | Refusal>;
  accept(appId: string, by: By): Promise<Changed | Refusal>;
  decline(appId: string, by: By): Promise<Changed | Refusal>;
  setRole(appId: string, developerId: string, role: MemberRole, by: By): Promise<Changed | Refusal>;
  remove(appId: string, developerId: string, by: By): Promise<Changed | Refusal>;
  leave(appId: string, by: By): Promise<Changed | Refusal>;
  /** Refuses what `transfer` would refuse, before a code is mailed. */
  refuseTransfer(appId: string, developerId: string, by: By): Promise<Refusal | undefined>;
  /** Makes a member the owner. Pages call it only with a mailed code. */
  transfer(appId: string, developerId: string, by: By): Promise<Changed | Refusal>;
}

export function createManageTeam({ handle, clock, findInvitee }: ManageTeamDeps): ManageTeam {
  type Decide = (state: MerchantState) => Decision<MerchantEvent>;
  const append = async (appId: string, by: By, decideOn: Decide): Promise<Changed | Refusal> => {
    const handled = await handle(merchant, appId, decideOn, { ...by, appId });
    return isRefusal(handled) ? handled : { position: handled.position };
  };
  const change = (action: Action, appId: string, by: By, decideOn: Decide): Promise<Changed | Refusal> =>
    append(appId, by, (state) => refuseRole(state, by.cause, action) ?? decideOn(state));
  const asPerson = (by: By, act: (developerId: string) => Promise<Changed | Refusal>): Promise<Changed | Refusal> => {
    const developerId = personOf(by.cause);
    return developerId === null ? Promise.resolve(peopleOnly) : act(developerId);
  };

  return {
    async invite(appId, { email, role }, by) {
      // Before the person exists: a caller without the right leaves no trace.
      const state = await currentState(handle, merchant, appId);
      const refused = refuseRole(state, by.cause, 'inviteMember');
      if (refused) return refused;
      const person = await findInvitee(email, decide.invitationEnd(clock.now()));
      if (isRefusal(person)) return person;
      const invited = { developerId: person.developerId, role };
      return change('inviteMember', appId, by, (now) => decide.inviteMember(now, invited, clock.now()));
    },
    cancelInvitation: (appId, developerId, by) =>
      change('cancelInvitation', appId, by, (state) => decide.endInvitation(state, developerId)),
    accept: (appId, by) =>
      asPerson(by, (developerId) =>
        append(appId, by, (state) => decide.acceptInvitation(state, developerId, clock.now())),
      ),
    decline: (appId, by) =>
      asPerson(by, (developerId) => append(appId, by, (state) => decide.endInvitation(state, developerId))),
    setRole: (appId, developerId, role, by) =>
      change('setMemberRole', appId, by, (state) => decide.setMemberRole(state, developerId, role)),
    remove: (appId, developerId, by) =>
      change('removeMember', appId, by, (state) => decide.removeMember(state, developerId)),
    leave: (appId, by) =>
      asPerson(by, (developerId) => change('leaveTeam', appId, by, (state) => decide.removeMember(state, developerId))),
    async refuseTransfer(appId, developerId, by) {
      const state = await currentState(handle, merchant, appId);
      const decision = refuseRole(state, by.cause, 'transferOwnership') ?? decide.transferOwnership(state, developerId);
      return isRefusal(decision) ? decision : undefined;
    },
    transfer: (appId, developerId, by) =>
      change('transferOwnership', appId, by, (state) => decide.transferOwnership(state, developerId)),
  };
}

const peopleOnly = refuse('forbidden', 'only a signed-in person can do this');
