/** `npm run merchant -- policy …` and `fee …`: what happens with other amounts, and what an app pays. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ManageMerchant } from '../commands/manageMerchant.ts';
import type { StatedRoute } from '../commands/statedPolicy.ts';
import type { Refusal } from '../domain/decider.ts';
import { overVerdicts, type StatedPolicy, type Verdict, verdicts } from '../domain/payment/amountPolicy.ts';
import { operator } from './operator.ts';

/** Runs one command and prints its answer. */
export type Run = (command: (merchants: ManageMerchant) => Promise<object | Refusal>) => Promise<void>;

interface PolicyOptions {
  readonly toleranceBp?: number;
  readonly toleranceMost?: string;
  readonly under?: Verdict;
  readonly over?: 'hold' | 'refund';
  readonly late?: Verdict;
  readonly lateWithin?: number;
  readonly wrongToken?: Verdict;
  readonly wrongChain?: Verdict;
}

const whole = (text: string): number => {
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError('say a whole number.');
  return Number(text);
};

const verdict = (flag: string, about: string, choices: readonly string[] = verdicts) =>
  new Option(`${flag} <verdict>`, about).choices([...choices]);

/** Basis points alone, or a sum alone, would forgive nothing: the command refuses it. */
function policyOf({ toleranceBp, toleranceMost, lateWithin, ...said }: PolicyOptions): StatedPolicy {
  const forgives = toleranceBp !== undefined || toleranceMost !== undefined;
  return {
    ...said,
    ...(forgives && { tolerance: { basisPoints: toleranceBp ?? 0, most: toleranceMost ?? '0' } }),
    ...(lateWithin !== undefined && { lateWithinMinutes: lateWithin }),
  };
}

interface FeeOptions extends StatedRoute {
  readonly fixed: string;
  readonly bp: number;
  readonly belowCost?: boolean;
}

export function addTerms(program: Command, run: Run): void {
  program
    .command('policy <appId>')
    .description('set what happens with money that is not what was agreed, of new payments; what is left out is held')
    .option('--tolerance-bp <basisPoints>', 'an amount may be short by so much of it, and pays', whole)
    .option('--tolerance-most <dollars>', 'and by no more than this')
    .addOption(verdict('--under', 'too little when the time to pay is over'))
    .addOption(verdict('--over', 'too much', overVerdicts))
    .addOption(verdict('--late', 'too late'))
    .option('--late-within <minutes>', 'how long after the end late money is accepted', whole)
    .addOption(verdict('--wrong-token', 'another token on the right chain'))
    .addOption(verdict('--wrong-chain', 'the right address on another chain'))
    .action((appId: string, options: PolicyOptions) => run((m) => m.setPolicy(appId, policyOf(options), operator())));

  const route = (command: Command) =>
    command
      .option('--from <chain>', 'payments made on this chain; every chain when left out')
      .option('--to <chain>', 'payments paid out on this chain; every chain when left out');
  route(program.command('fee <appId>'))
    .description('set its fee for a route, for new payments; a payout that costs more raises the fixed part')
    .requiredOption('--fixed <dollars>', 'for each payment')
    .requiredOption('--bp <basisPoints>', 'of the amount', whole)
    .option(
      '--below-cost',
      'the fee may be less than what the payout costs, where the app’s own key creates the payment',
    )
    .action((appId: string, { from, to, fixed, bp, belowCost = false }: FeeOptions) =>
      run((m) => m.setFee(appId, { from, to, fixed, basisPoints: bp, belowCost }, operator())),
    );
  route(program.command('remove-fee <appId>'))
    .description('let its fee for a route be again what a less particular one says, or the installation’s')
    .action((appId: string, stated: StatedRoute) => run((m) => m.removeFee(appId, stated, operator())));
}
