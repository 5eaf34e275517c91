/** Checks of the configured chains: each node alone, all together, the clocks, and the treasury's balances. */
import { type Chain, chainOf } from '../../domain/chains.ts';
import { formatAmount } from '../../domain/money.ts';
import type { Instant } from '../../domain/time.ts';
import { checkNode, type NodeReport } from '../../src/chains/checkNode.ts';
import { familyFor } from '../../src/chains/families.ts';
import type { OpenChain } from '../../src/chains/family.ts';
import type { Config } from '../../src/config.ts';
import { broken, type Check, type DoctorFinding, errorReason, fineFinding, look } from './machine.ts';

export interface ChainAsked {
  readonly open: OpenChain;
  readonly mode: Config['mode'];
  /** Network that the service has read so far; null before that, or if Postgres does not answer. */
  readonly remembered: () => Promise<string | null>;
  readonly now: () => Instant;
}

/** An installation begins with two of different providers (docs/operate/going-live.md). */
const nodesLeast = 2;

export function chainCheck({ open, mode, remembered, now }: ChainAsked): Check {
  const chain = chainOf(open.rail.chainId);
  return {
    area: `${chain.name} (${chain.id})`,
    async look(signal) {
      const about = { chain, remembered: await remembered(), pace: mode === 'production', now };
      const [reports, float] = await Promise.all([
        Promise.all(open.health.nodes.map((node) => checkNode(node, about))),
        floatOf(open, chain, signal),
      ]);
      return [...reports.map((report) => nodeFinding(report, chain)), ...together(reports, chain, mode), ...float];
    },
  };
}

function nodeFinding({ node, verdict, head, took_ms, problems }: NodeReport, { id }: Chain): DoctorFinding {
  const said = problems.length > 0 ? problems.join('; ') : `block ${head}, answers in ${Math.round(took_ms ?? 0)} ms`;
  if (verdict === 'fit') return fineFinding(node, said);
  const todo = `npm run check-chain -- ${id} tells more`;
  return verdict === 'look'
    ? look(node, said, todo)
    : broken(node, said, `take another node into RPC_URLS_${id}; ${todo}`);
}

function together(reports: readonly NodeReport[], { id }: Chain, mode: Config['mode']): readonly DoctorFinding[] {
  const networks = new Set(reports.flatMap(({ identity }) => identity ?? []));
  const mixed = broken(
    'nodes',
    'they belong to different networks',
    `take out of RPC_URLS_${id} those that are not meant`,
  );
  const few = look('nodes', `${reports.length} alone`, `name a second one, of another operator, in RPC_URLS_${id}`);
  return [
    ...(networks.size > 1 ? [mixed] : []),
    ...(mode === 'production' && reports.length < nodesLeast ? [few] : []),
  ];
}

/** Payouts need tokens and the chain's coin. */
async function floatOf({ rail }: OpenChain, chain: Chain, signal: AbortSignal): Promise<readonly DoctorFinding[]> {
  try {
    const { gas, tokens } = await rail.balances(signal);
    const of = (what: string, amount: bigint, decimals: number, lacking: string) => {
      const said = formatAmount(amount, decimals);
      return amount > 0n ? fineFinding(what, said) : look(what, said, `send some to ${rail.account}: ${lacking}`);
    };
    return [
      of('coin of the treasury', gas, familyFor(chain).coinDecimals, 'it pays for every transaction'),
      ...chain.tokens.map(({ symbol, address, decimals }) =>
        of(
          `${symbol} of the treasury`,
          tokens[address] ?? 0n,
          decimals,
          `no payment can ask to be paid out in ${symbol} here`,
        ),
      ),
    ];
  } catch (error) {
    return [look('treasury', `not asked: ${errorReason(error)}`, 'mend the nodes first')];
  }
}
