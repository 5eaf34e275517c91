/** `npm run listen -- --forward <url>`: forwards the sandbox's webhooks to a developer's own program; docs at /docs/guides/testing. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { readSandboxFile } from './sandboxFile.ts';
import { type Answered, forwardTo, type Received } from './webhooks/forward.ts';
import { type Hand, openInbox } from './webhooks/inbox.ts';

const poll_ms = 200;

const program = new Command('npm run listen --')
  .description('Forwards the webhooks of the running sandbox unchanged.')
  .requiredOption('--forward <url>', 'URL of your program, such as http://localhost:4000/hooks', urlOf)
  .option('--redeliver', 'First redeliver webhooks that failed, or that were sent while nothing listened')
  .action(main);

program.addHelpText('after', '\nExample: npm run listen -- --forward http://localhost:4000/hooks');
await program.parseAsync();

async function main({ forward, redeliver = false }: { forward: URL; redeliver?: boolean }): Promise<void> {
  const dataDir = process.env['DATA_DIR'] ?? './data';
  const sandbox = readSandboxFile(dataDir);
  if (!sandbox) return fail(`no sandbox runs on ${dataDir}: start one with npm start`);
  const inbox = openInbox(dataDir, sandbox.webhook.log);
  const waiting = inbox.waiting();
  console.log(`\n  webhooks of ${sandbox.baseUrl} → ${forward}`);
  if (!redeliver && waiting > 0) console.log(`  ${waiting} of before were not taken: send them again with --redeliver`);
  console.log('');
  const hand: Hand = {
    forward: (webhook) => forwardTo(forward, webhook),
    tell: (webhook, answered) => console.log(`  ${lineOf(webhook, answered)}`),
  };
  if (redeliver) await inbox.again(hand);
  for (;;) {
    await inbox.next(hand);
    await sleep(poll_ms);
  }
}

/** Time, event, payment, answer and duration. */
function lineOf({ receivedAt, body }: Received, { says, taken, took_ms }: Answered): string {
  const { type, data } = JSON.parse(body) as { readonly type: string; readonly data?: { readonly id?: string } };
  const facts = [receivedAt.slice(11, 23), type.padEnd(24), data?.id ?? '', says, `${took_ms} ms`];
  return `${facts.join('  ')}${taken ? '' : '  not taken: --redeliver sends it again'}`;
}

function urlOf(text: string): URL {
  const url = URL.parse(text);
  if (url && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
  throw new InvalidArgumentError('Not an http:// or https:// address.');
}

function fail(message: string): void {
  console.error(`\n  ${message}\n`);
  process.exitCode = 1;
}
