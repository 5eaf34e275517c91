/** Balances and signing state of the treasury per chain: listed, paused, resumed, explained. */
import type { Command } from 'commander';
import type { PayoutRail } from '../../commands/transferPorts.ts';
import { type ChainId, chainOf, heldTokens } from '../../domain/chains.ts';
import { isRefusal } from '../../domain/decider.ts';
import { formatAmount } from '../../domain/money.ts';
import { familyFor } from '../../src/chains/families.ts';
import type { Core } from '../../src/core.ts';
import { readNumberingAccounts } from '../../src/workers/payouts/numberingAccounts.ts';
import { explainNoncesOf, loadTreasury, pausePayouts, resumePayouts } from '../../src/workers/treasury/account.ts';
import { withCore } from '../connections.ts';
import { printTable } from '../print.ts';
import { namedChain, operator } from '../program.ts';

const answer_ms = 15_000;

type Line = Readonly<Record<string, string>>;

/** Runs a command on one or all of the configured chains, and prints a line for each. */
async function run(
  stated: string | undefined,
  command: (core: Core, rail: PayoutRail) => Promise<Line>,
): Promise<void> {
  await withCore(async (core) => {
    const rails = [...core.chains.values()].map(({ rail }) => rail);
    const chosen = stated === undefined ? rails : rails.filter(({ chainId }) => chainId === namedChain(stated)?.id);
    if (chosen.length === 0) throw new Error(`${stated} is not a configured chain: set RPC_URLS_<chainId>`);
    const lines = await Promise.all(chosen.map(async (rail) => [nameOf(rail.chainId), await command(core, rail)]));
    printTable(Object.fromEntries(lines));
  });
}

const nameOf = (chainId: ChainId): string => `${chainOf(chainId).name} (${chainId})`;

async function show({ handle }: Core, rail: PayoutRail): Promise<Line> {
  const { nextNonce, paused, taken } = await loadTreasury(handle, rail);
  const strange = taken.length > 0 && { 'used by others': taken.map(({ nonce }) => nonce).join(', ') };
  return {
    ...(await holdings(rail)),
    'next nonce': String(nextNonce ?? 'none yet'),
    paused: paused ?? 'no',
    ...strange,
  };
}

async function holdings(rail: PayoutRail): Promise<Line> {
  try {
    const signal = AbortSignal.timeout(answer_ms);
    const { numbering: own } = rail;
    const [{ gas, tokens }, mined, accounts] = await Promise.all([
      rail.balances(signal),
      own.kind === 'expiring' ? 'has none' : own.minedNonce(signal),
      own.kind === 'sequence' ? own.accounts(signal) : undefined,
    ]);
    const chain = chainOf(rail.chainId);
    const held = heldTokens(chain).map(({ symbol, address, decimals }) => [
      symbol,
      formatAmount(tokens[address] ?? 0n, decimals),
    ]);
    const coin = formatAmount(gas, familyFor(chain).coinDecimals);
    const numbering = accounts && { 'numbering accounts': String(accounts.length) };
    return { coin, ...Object.fromEntries(held), 'mined nonce': String(mined), ...numbering };
  } catch {
    return { coin: 'the chain does not answer' };
  }
}

/** For each account that numbers payouts on the chain. */
async function explain({ handle, clock }: Core, rail: PayoutRail, reason: string): Promise<Line> {
  const signal = AbortSignal.timeout(answer_ms);
  const accounts = await readNumberingAccounts(rail, signal);
  const lines = accounts.map(async ({ account, minedNonce }) => {
    const at = { chainId: rail.chainId, account };
    const outcome = await explainNoncesOf({ handle, clock }, at, { minedNonce, reason }, operator());
    return [account, outcomeOf(outcome)['outcome'] ?? ''];
  });
  return Object.fromEntries(await Promise.all(lines));
}

const outcomeOf = (outcome: Awaited<ReturnType<typeof pausePayouts>>): Line => ({
  outcome: isRefusal(outcome) ? outcome.message : outcome.appended > 0 ? 'done' : 'nothing to do: already done',
});

/** Adds `show`, `pause`, `resume` and `explain`. */
export function addAccountVerbs(program: Command): void {
  program
    .command('show [chain]', { isDefault: true })
    .description('Print balances and nonces of each account.')
    .action((chain?: string) => run(chain, show));

  program
    .command('pause <reason> [chain]')
    .description(
      'Stop signing on one chain or on all, fee bumps and cancels included. Signed transactions are still sent.',
    )
    .action((reason: string, chain?: string) =>
      run(chain, async ({ handle, clock }, rail) =>
        outcomeOf(await pausePayouts({ handle, clock }, rail, reason, operator())),
      ),
    );

  program
    .command('resume [chain]')
    .description('Resume signing. Waiting payouts continue automatically.')
    .action((chain?: string) =>
      run(chain, async ({ handle, clock }, rail) =>
        outcomeOf(await resumePayouts({ handle, clock }, rail, operator())),
      ),
    );

  program
    .command('explain <reason> <chain>')
    .description(
      'After the alarm treasuryBehindChain: acknowledge nonces that the log does not know, so payouts continue. First hold the payouts that they paid (npm run payouts -- hold).',
    )
    .action((reason: string, chain: string) => run(chain, (core, rail) => explain(core, rail, reason)));
}
