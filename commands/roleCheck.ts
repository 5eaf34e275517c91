/** Check of a person's role before a command that changes another stream than the app's own. */
import { personOf, type Refusal } from '../domain/decider.ts';
import { type Action, refuseRole } from '../domain/merchant/roles.ts';
import { merchant } from '../domain/merchant/state.ts';
import { type By, currentState, type Handle } from './handle.ts';

/**
 * Refuses a person (cause `developer:…`) whose role in the app's team does not allow the action. Reads the app in the log only for people.
 * A removal that is appended after this read refuses the next command.
 */
export type RoleCheck = (appId: string, by: By, action: Action) => Promise<Refusal | undefined>;

export const createRoleCheck =
  (handle: Handle): RoleCheck =>
  async (appId, { cause }, action) =>
    personOf(cause) === null ? undefined : refuseRole(await currentState(handle, merchant, appId), cause, action);
