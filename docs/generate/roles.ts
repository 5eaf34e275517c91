/** Makes docs/reference/roles.md from the permissions that the commands check. */

import { actions, allows, permissions, roleNames, teamRoles } from '../../domain/merchant/roles.ts';
import { teamMembersMax } from '../../domain/merchant/team.ts';

const rows = actions.map(
  (action) =>
    `| ${permissions[action].words} | ${teamRoles.map((role) => (allows(role, action) ? 'yes' : '–')).join(' | ')} |`,
);

export const rolesDocument = (): string => `# Roles

For owners of apps and their teams: what each role allows. Made by \`npm run docs\` from \`domain/merchant/roles.ts\`; do not edit. The commands check the same
table on the log, so pages and API agree, and a spec tries every role with every command, form and route.

An app has one owner and at most ${teamMembersMax} members and open invitations. Everybody in the team reads everything of the app. No role shows an existing key or webhook
secret. How to invite members: [apps.md](../integrate/apps.md).

| action | ${teamRoles.map((role) => roleNames[role]).join(' | ')} |
| --- | ${teamRoles.map(() => '---').join(' | ')} |
${rows.join('\n')}

Only operators assign an app to a person without a transfer, set fees, and let payments of a \`wallet_\` app be created without a key. API keys act for the app with their own
scope: a removed member can still use a key that the member knows, so revoke it.`;
