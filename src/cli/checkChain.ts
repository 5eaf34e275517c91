/** `npm run check-chain -- <chain>`: asks each node of a chain what it is and what it can, before and after going live. */
import { Command } from 'commander';
import { type Chain, findChain } from '../../domain/chains.ts';
import type { Instant } from '../../domain/time.ts';
import { checkNode, type NodeReport } from '../chains/checkNode.ts';
import type { OpenChain } from '../chains/family.ts';
import { createLines } from '../chains/node/lines.ts';
import { openChains } from '../chains/open.ts';
import type { Config } from '../config.ts';
import { forgetChain, identityOf } from '../postgres/chainIdentities.ts';
import { type Database, openDatabase } from '../postgres/database.ts';
import { systemClock } from '../runtime/system.ts';
import { readEnvironment } from './core.ts';
import { runProgram } from './program.ts';

interface Options {
  readonly begunAnew?: true;
}

async function run(stated: string, { begunAnew }: Options): Promise<void> {
  const config = readEnvironment();
  const chain = findChain(stated);
  const open = chain && chainsOf(config).get(chain.id);
  if (!open) throw new Error(`${stated} is no chain that is configured here: set RPC_URLS_${chain?.id ?? '<chainId>'}`);
  const database = openDatabase({ url: config.databaseUrl, connectionsMax: 1 });
  try {
    if (begunAnew) await forget(database, chain);
    else tell(chain, await check(config, database, chain, open));
  } finally {
    await database.close();
  }
}

/** Nodes alone are asked: nothing is taken out of the service's own memory. */
function chainsOf(config: Config): ReadonlyMap<Chain['id'], OpenChain> {
  const nobody = async () => [];
  const needs = { lines: createLines(), takeOwners: nobody, watch: () => ({ open: nobody, late: nobody }) };
  return openChains(config, needs).chains;
}

async function check(config: Config, database: Database, chain: Chain, { health }: OpenChain) {
  const remembered = await identityOf(database, chain.id).catch(() => null);
  const about = { chain, remembered, pace: config.mode === 'production', now: (): Instant => systemClock.now() };
  const reports = await Promise.all(health.nodes.map((node) => checkNode(node, about)));
  const networks = new Set(reports.flatMap(({ identity }) => identity ?? []));
  return { remembered, reports, mixed: networks.size > 1 };
}

interface Checked {
  readonly remembered: string | null;
  readonly reports: readonly NodeReport[];
  /** Whether nodes belong to different networks. */
  readonly mixed: boolean;
}

function tell({ name }: Chain, { remembered, reports, mixed }: Checked): void {
  console.log(`${name}; its network as the service remembers it: ${remembered ?? 'not read yet'}`);
  console.table(
    Object.fromEntries(
      reports.map(({ node, verdict, head, final, took_ms }) => [
        node,
        { verdict, head, final, 'answers in': took_ms === null ? '' : `${Math.round(took_ms)} ms` },
      ]),
    ),
  );
  for (const { node, identity, features, problems } of reports) {
    console.log(`\n${node}: network ${identity ?? 'unknown'}`);
    for (const { what, said } of features) console.log(`  ${what}: ${said}`);
    for (const problem of problems) console.log(`  ! ${problem}`);
  }
  if (mixed) console.log('\n! These nodes belong to different networks: take out those that are not meant.');
  if (mixed || reports.some(({ verdict }) => verdict === 'unfit')) process.exitCode = 1;
}

async function forget(database: Database, { id, name }: Chain): Promise<void> {
  await forgetChain(database, id);
  console.log(
    `${name}: its network and how far it was read are forgotten. Restart the service: it reads from its oldest open payment on.`,
  );
}

const program = new Command('npm run check-chain --')
  .description(
    'Asks each node of a chain what it is, what it can and how far it has come. Exits with 1 when one of them does not fit. Nothing is changed.',
  )
  .argument('<chain>', 'its id or name')
  .option(
    '--begun-anew',
    'instead: forget the chain’s network and how far it was read, after a test network was begun anew',
  )
  .action(run);

await runProgram(() => program.parseAsync());
