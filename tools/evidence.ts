/** `npm run evidence -- <paymentId>`: writes proof of a payment for a third party without access. The service may keep running. */
import { writeFile } from 'node:fs/promises';
import { Command, Option } from 'commander';
import { eventCodec } from '../commands/codec.ts';
import { createFindEvidence, packOf } from '../commands/heads/evidence.ts';
import { newestAnchor } from '../commands/heads/sign.ts';
import { isRefusal } from '../domain/decider.ts';
import type { HeadAnchored } from '../domain/heads/heads.ts';
import { paymentIdIn } from '../queries/payments.ts';
import { createHeadTree } from '../src/postgres/headTree.ts';
import { openEventStore } from '../src/store/client.ts';
import { connections, masterKeyOf, openToolDatabase, verifiedStore } from './connections.ts';
import { print } from './print.ts';
import { refusalError, runProgram } from './program.ts';

interface Options {
  readonly out?: string;
  readonly database?: string;
  readonly eventstore?: string;
  readonly data: string;
}

const program = new Command()
  .name('npm run evidence --')
  .description(
    'Writes the evidence of a payment: its events, a signed log head, and the proof between them. The file contains the payment’s metadata.',
  )
  .argument('<paymentId>')
  .option('--out <file>', 'File to write; default: evidence-<paymentId>.json')
  .addOption(new Option('--database <url>', 'Default: the URL of the running service').env('DATABASE_URL'))
  .addOption(new Option('--eventstore <url>', 'Default: the URL of the running service').env('EVENTSTORE_URL'))
  .addOption(new Option('--data <directory>', 'Data directory of the service').env('DATA_DIR').default('./data'))
  .action((paymentId: string, options: Options) => runProgram(() => main(paymentId, options)));
program.addHelpText('after', '\nExample: npm run evidence -- 9c2d4c1e-51e6-4a53-9a57-0d2f6d3b8a11 --out evidence.json');
await program.parseAsync();

async function main(text: string, { out, ...where }: Options): Promise<void> {
  const paymentId = paymentIdIn(text);
  if (paymentId === undefined) throw new Error(`${text} is not a payment id: use the UUID of the create response`);
  const { databaseUrl, eventStoreUrl, close } = await connections(where, 'join');
  const database = openToolDatabase({ url: databaseUrl, applicationName: 'evidence' });
  const opened = openEventStore({ url: eventStoreUrl });
  try {
    const store = await verifiedStore(opened, masterKeyOf(where.data));
    const tree = createHeadTree(database);
    const proven = await createFindEvidence({ store, codec: eventCodec, tree })(`payment-${paymentId}`);
    if (isRefusal(proven)) throw refusalError(proven);
    const file = out ?? `evidence-${paymentId}.json`;
    await writeFile(file, packOf(proven));
    print(`${file}: ${proven.events.length} events, in head ${proven.head.number} of key ${proven.head.publicKey}`);
    const anchor = await newestAnchor({ store, codec: eventCodec });
    if (anchor) print(anchorText(anchor, proven.head.number));
    print(`Check it anywhere: node clients/verify/verify-evidence.mjs --key <the key that you have published> ${file}`);
  } finally {
    await opened.close();
    await database.close();
    await close();
  }
}

/** An anchor belongs to an earlier head, so most packs wait for the next one. */
function anchorText({ head, headHash, chainId, transaction }: HeadAnchored, proven: number): string {
  const where = `${transaction} on chain ${chainId}, memo ${headHash}`;
  if (head >= proven) return `Anchored by head ${head}: ${where}`;
  return `The newest anchor is of head ${head}: ${where}. The next one will stand for this pack too: then add /payment-api/proof/heads?after=${proven - 1}`;
}
