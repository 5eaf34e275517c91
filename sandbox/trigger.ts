/**
 * `npm run trigger -- <situation>`: causes a situation in the running sandbox; `--list` lists all of them; docs at /docs/guides/testing.
 */
import { Command } from 'commander';
import { createActs } from './acts.ts';
import { keepKeys } from './keys.ts';
import { readSandboxFile } from './sandboxFile.ts';
import { situations } from './situations.ts';

const program = new Command('npm run trigger --')
  .description('Creates a payment in the running sandbox and brings it into a situation.')
  .argument('[situation]', 'Name of the situation; --list prints all names')
  .option('--list', 'List all situations')
  .action(main);

program.addHelpText('after', '\nExample: npm run trigger -- --list');
await program.parseAsync().catch((error: Error) => {
  console.error(`\n  ${error.message}\n`);
  process.exitCode = 1;
});

async function main(name: string | undefined, options: { list?: boolean }): Promise<void> {
  if (options.list) return console.log(table());
  const situation = situations.find((each) => each.name === name);
  if (!situation) throw new Error(`name a situation:\n\n${table()}`);
  const dataDir = process.env['DATA_DIR'] ?? './data';
  const sandbox = readSandboxFile(dataDir);
  if (!sandbox) throw new Error(`no sandbox runs on ${dataDir}: start one with npm start`);
  console.log(`\n  ${situation.name}: ${situation.says}\n`);
  const began_ms = performance.now();
  const seconds = () => ((performance.now() - began_ms) / 1000).toFixed(1).padStart(6);
  await situation.run(createActs(sandbox, keepKeys(dataDir), (line) => console.log(`  ${seconds()} s  ${line}`)));
  console.log('');
}

function table(): string {
  const rows = situations.map(({ name, ends, errorCode, webhooks, says }) => [
    name,
    errorCode ? `${ends}, ${errorCode}` : ends,
    webhooks === 0 ? 'no webhook' : `${webhooks} webhook${webhooks > 1 ? 's' : ''}`,
    says,
  ]);
  const widths = [0, 1, 2].map((column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`).join('\n');
}
