/** Names of roles in the language of the page. */
import type { TeamRole } from '../../domain/merchant/roles.ts';
import { type PlainName, sayText } from './say.ts';

const names: Readonly<Record<TeamRole, PlainName>> = {
  owner: 'roleOwner',
  developer: 'roleDeveloper',
  operations: 'roleOperations',
  readOnly: 'roleReadOnly',
};

export const roleName = (role: TeamRole): string => sayText(names[role]);
