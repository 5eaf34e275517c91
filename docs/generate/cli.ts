/** Makes docs/reference/cli.md from the help of every command. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Helped } from './helpOfAll.ts';

/** Runs every program as far as its options, in a process of its own. */
export async function helpOfAllCommands(): Promise<readonly Helped[]> {
  const file = fileURLToPath(new URL('helpOfAll.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [file], {
    cwd: fileURLToPath(new URL('../../', import.meta.url)),
    maxBuffer: 10 ** 7,
    // Defaults of options come from these: the page must not depend on where it is made.
    env: {
      ...process.env,
      DATA_DIR: undefined,
      DATABASE_URL: undefined,
      EVENTSTORE_URL: undefined,
      COLUMNS: undefined,
    },
  });
  return JSON.parse(stdout) as readonly Helped[];
}

/** By reader; a program that is in no group fails the page. */
const groups: readonly (readonly [title: string, programs: readonly string[]])[] = [
  ['Install and check', ['setup', 'doctor', 'check-chain', 'deploy:payin']],
  ['Apps and people', ['merchant']],
  ['Payments and money', ['explain', 'payouts', 'refunds', 'unmatched', 'work', 'rescan']],
  ['Treasury and keys', ['treasury', 'sweep', 'keystore', 'rotate-master-key']],
  ['Stores and backups', ['backup', 'restore', 'rebuild', 'replay', 'eventstore']],
  ['Audit and reports', ['audit', 'evidence', 'report', 'export']],
  ['Sandbox', ['start', 'pay', 'listen', 'trigger', 'cashback']],
  ['Tests, measurements and releases', ['simulate', 'chaos', 'mutants', 'bench', 'compose:check', 'release']],
];

const fenced = (text: string): string => `\`\`\`text\n${text.trimEnd()}\n\`\`\``;

function programText(name: string, helped: readonly Helped[]): string {
  const own = helped.filter((each) => each.name === name);
  if (own.length === 0) throw new Error(`no program ${name}`);
  const commands = own.map(
    ({ words, said }) => (words.length > 0 ? `#### ${name} ${words.join(' ')}\n\n` : '') + fenced(said),
  );
  return `### ${name}\n\n${commands.join('\n\n')}`;
}

export function cliDocument(helped: readonly Helped[]): string {
  const grouped = new Set(groups.flatMap(([, programs]) => programs));
  const left = helped.find(({ name }) => !grouped.has(name));
  if (left) throw new Error(`npm run ${left.name} is in no group of docs/generate/cli.ts`);
  const contents = groups.map(
    ([title, programs]) => `- ${title}: ${programs.map((name) => `[${name}](#${name.replace(':', '')})`).join(', ')}`,
  );
  return `# Commands

For operators and contributors: the help of every command. Made by \`npm run docs\` from \`--help\`; do not edit.

Run a command as \`npm run <name> -- <command> [options]\`. In a container, use \`npm run -s <name>\` in the same way ([containers.md](../operate/containers.md)). Commands
read the variables of the service ([configuration.md](configuration.md)). A failed command prints the reason and exits with a code other than 0.

${contents.join('\n')}

${groups.map(([title, programs]) => `## ${title}\n\n${programs.map((name) => programText(name, helped)).join('\n\n')}`).join('\n\n')}`;
}
