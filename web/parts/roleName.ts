/** Names of roles in the language of the page. */
import { roleNames, type TeamRole, teamRoles } from '../../domain/merchant/roles.ts';
import { type PlainName, sayText } from './say.ts';

const names: Readonly<Record<TeamRole, PlainName>> = {
  owner: 'roleOwner',
  developer: 'roleDeveloper',
  operations: 'roleOperations',
  readOnly: 'roleReadOnly',
};

export const roleName = (role: TeamRole): string => sayText(names[role]);

/** @param english name of a role in English, as sentences of the service have it */
export function roleOfName(english: string): string {
  const role = teamRoles.find((each) => roleNames[each] === english);
  return role === undefined ? english : roleName(role);
}
