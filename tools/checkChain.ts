/** `npm run check-chain -- <chain>`: reports identity and capabilities of each node of a chain, before and after going live. */
import { Command } from 'commander';
import { closeOldNetwork } from '../commands/networkBegunAnew.ts';
import type { Chain, Token } from '../domain/chains.ts';
import { isRefusal } from '../domain/decider.ts';
import { formatAmount, parseAmount } from '../domain/money.ts';
import type { Instant } from '../domain/time.ts';
import type { OpenChain } from '../src/chains/family.ts';
import { checkNode, type NodeReport } from '../src/chains/health.ts';
import type { Config } from '../src/config.ts';
import { forgetChain, furthestRead, identityOf } from '../src/postgres/chainIdentities.ts';
import type { Database } from '../src/postgres/database.ts';
import { systemClock } from '../src/process/system.ts';
import { signersOf } from '../src/signer/index.ts';
import { openChainsOnly, openToolDatabase, readEnvironment, withCore } from './connections.ts';
import { print, printTable } from './print.ts';
import { chainNames, namedChain, operator, runProgram, untilInterrupted } from './program.ts';
import { selfTestPayment } from './selfTestPayment.ts';

interface Options {
  readonly begunAnew?: true;
  readonly force?: true;
  /** In whole tokens; true without an amount. */
  readonly pay?: string | true;
}

async function run(stated: string, { begunAnew, force, pay }: Options): Promise<void> {
  const config = readEnvironment();
  const chain = namedChain(stated);
  if (!chain) throw new Error(`${stated} is not a chain of the catalogue: use one of ${chainNames()}`);
  const open = openChainsOnly(config).get(chain.id);
  if (!open) throw new Error(`${chain.name} is not configured: set RPC_URLS_${chain.id}`);
  const paying = pay === undefined ? null : amountOf(config, chain, pay);
  const database = openToolDatabase({ url: config.databaseUrl, connectionsMax: 1 });
  try {
    if (begunAnew) return await beginAnew(chain, open, force === true);
    tell(chain, await check(config, database, chain, open));
  } finally {
    await database.close();
  }
  if (paying && process.exitCode === undefined) await payOnce(chain, paying);
}

const cent = '0.01';
const payMost = 1n;

/** Real money is spent only with an explicit amount: it returns to the treasury, less the fee. */
function amountOf({ mode }: Config, { tokens, name }: Chain, stated: string | true): PayingOneself {
  const [token] = tokens;
  if (!token) throw new Error(`${name} has no token`);
  if (stated === true && mode === 'production')
    throw new Error(
      `this moves real money: state the amount, for example --pay ${cent}. The treasury pays it to itself and loses the fee`,
    );
  const text = stated === true ? cent : stated;
  const amount = parseAmount(text, token.decimals);
  if (typeof amount === 'string' || amount <= 0n || amount > payMost * 10n ** BigInt(token.decimals))
    throw new Error(`--pay ${text}: use an amount of at most ${payMost} ${token.symbol}, such as ${cent}`);
  return { token, amount };
}

interface PayingOneself {
  readonly token: Token;
  readonly amount: bigint;
}

async function payOnce({ id, name, family }: Chain, { token, amount }: PayingOneself): Promise<void> {
  const interrupted = untilInterrupted('Interrupted: what was sent lands or not. Run it again.');
  await withCore(async (core) => {
    const signer = signersOf(core).get(family);
    const rail = core.chains.get(id)?.rail;
    if (!signer || !rail) throw new Error(`a payment on ${name} needs the key of its treasury`);
    print('', `${rail.account} pays ${formatAmount(amount, token.decimals)} ${token.symbol} to itself.`);
    const deps = { ...core, ...operatorOf(), rail, signer, tell: (step: string) => print(`  ${step}`) };
    const { blockNumber, took_ms } = await selfTestPayment(deps, token, amount, interrupted);
    print(`It is final in block ${blockNumber}, ${Math.round(took_ms / 1_000)} s after it was begun.`);
  });
}

const operatorOf = () => ({ by: operator().cause });

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
  /** True if nodes belong to different networks. */
  readonly mixed: boolean;
}

function tell({ name }: Chain, { remembered, reports, mixed }: Checked): void {
  print(`${name}; its network as the service remembers it: ${remembered ?? 'not read yet'}`);
  printTable(
    Object.fromEntries(
      reports.map(({ node, verdict, head, final, took_ms }) => [
        node,
        { verdict, head, final, 'answers in': took_ms === null ? '' : `${Math.round(took_ms)} ms` },
      ]),
    ),
  );
  for (const { node, identity, features, problems } of reports) {
    print('', `${node}: network ${identity ?? 'unknown'}`);
    for (const { what, said } of features) print(`  ${what}: ${said}`);
    for (const problem of problems) print(`  ! ${problem}`);
  }
  if (mixed) print('', '! These nodes belong to different networks: take out those that are not meant.');
  if (mixed || reports.some(({ verdict }) => verdict === 'unfit')) process.exitCode = 1;
}

/**
 * Crash anywhere before the chain's records are deleted: the next run finds the same proof of a reset, and continues. Crash after it: the
 * next run finds nothing to do.
 */
async function beginAnew(chain: Chain, open: OpenChain, force: boolean): Promise<void> {
  const { id, name } = chain;
  const signal = AbortSignal.timeout(closing_ms);
  await withCore(async (core) => {
    const network = await identityOf(core.database, id);
    if (!force) await mustHaveBegunAnew(core.database, chain, { open, network, signal });
    const rail = core.chains.get(id)?.rail ?? open.rail;
    const old = { chainId: id, account: rail.account, payinAddresses: open.ingester.sharedAddresses, network };
    const closed = await closeOldNetwork(core, old, operator(), signal);
    if (isRefusal(closed)) throw new Error(closed.message);
    for (const account of closed.books) print(`${name}: the books of ${account} are closed.`);
    for (const account of closed.treasury) print(`${name}: the nonces of ${account} are closed.`);
    const unreadable = await forgetChain(core.database, id);
    if (unreadable > 0) print(`${name}: ${unreadable} transactions of the old network were never read.`);
  });
  print(
    `${name}: its network and how far it was read are forgotten. Start the service: it opens the books on the new network, and reads from its oldest open payment on.`,
    'npm run audit names payments that the old network left unsettled.',
  );
}

const closing_ms = 10 * 60_000;
const answer_ms = 20_000;

interface Proof {
  readonly open: OpenChain;
  readonly network: string | null;
  readonly signal: AbortSignal;
}

/** Closing the books of an existing network would hide its payments from the audit. */
async function mustHaveBegunAnew(database: Database, { id, name }: Chain, { open, network, signal }: Proof) {
  const read = await furthestRead(database, id);
  const answer = AbortSignal.any([signal, AbortSignal.timeout(answer_ms)]);
  const asked = open.health.nodes.map(async (node) => {
    const [identity, { head }] = await Promise.all([node.identity(answer), node.look(answer)]);
    return { node: node.name, identity, head: head.blockNumber };
  });
  const answers = (await Promise.allSettled(asked)).flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
  if (answers.length === 0)
    throw new Error(
      `${name}: no node answers. Run the command again later, or add --force if you know that the network was reset`,
    );
  const same = answers.find(({ identity, head }) => identity === network && read !== null && head >= read);
  if (same)
    throw new Error(
      `${name}: nothing to do. ${same.node} serves the network that was read, and its block ${same.head} is not behind the last read block ${read}. If the network was reset nevertheless, add --force`,
    );
}

const program = new Command('npm run check-chain --')
  .description(
    'Checks the network, methods and newest block of each node of a chain. Exit code 1: a node is unusable. Changes nothing.',
  )
  .argument('<chain>', 'Id or name of the chain: 8453, base, Arbitrum')
  .option(
    '--begun-anew',
    'After a reset of a test network: close the treasury’s books and nonces, and reset the cursors. Stop the service first.',
  )
  .option('--force', 'With --begun-anew: continue although the nodes do not prove the reset')
  .option(
    '--pay [amount]',
    'Then pay this amount from the treasury to itself and wait until it is final; default: 0.01, not allowed in production',
  )
  .action(run);

program.addHelpText('after', '\nExample: npm run check-chain -- base --pay 0.01');
await runProgram(() => program.parseAsync());
