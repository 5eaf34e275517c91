/** Habits of merchants, payers and operators that some worlds have. Each is drawn from a source of its own: a world without it runs as before. */
import type { Random, SimulatedChain } from '../kernel/ports.ts';

/** For each habit: one world in this many has it. */
const worldsPer = {
  /** Payouts of an EVM chain are batched. */
  batches: 5,
  /** Deposits are collected every minute. */
  sweeps: 5,
  /** Operators withdraw tokens and coins, approve withdrawals and call them off. */
  withdrawals: 5,
  /** Operators order refunds and call some of them off. */
  callOffs: 8,
  /** Payers omit the memo, and operators decide about their money. */
  strayMoney: 4,
  /** Payers earn credit and spend it; the merchant withdraws what buyers paid by credit. */
  credit: 5,
  /** Payments offer several sources, and payers choose another one or pay from two. */
  sources: 5,
  /** Operators move tokens from one account of the treasury to another one: over a bridge, and by USDT0. */
  rebalances: 6,
  /** Payers sign authorizations, which the relay account sends, or a stranger first. */
  relays: 5,
  /** Another process holds the treasury's keys and keeps a log of its own. */
  signer: 5,
} as const;

export type Habit = keyof typeof worldsPer;
export const habitNames = Object.keys(worldsPer) as readonly Habit[];
export type Habits = ReadonlySet<Habit>;

/** @param only these habits; null: those that the seed draws */
export function habitsOf(random: Random, only: readonly Habit[] | null): Habits {
  const drawn = habitNames.filter((name) =>
    only ? only.includes(name) : random.fork(`habits.${name}`).below(worldsPer[name]) === 0,
  );
  // The configuration refuses both: a signer of its own signs each payout alone.
  const isOneOfTwo = drawn.includes('batches') && drawn.includes('signer');
  const left = isOneOfTwo ? random.fork('batches or signer').pick<Habit>(['batches', 'signer']) : null;
  return new Set(drawn.filter((name) => name !== left));
}

/** Most payouts of a batch, and how long one waits for others. */
const batchMost = 3;
const batchWait_s = 20;

/** Variables of the service's configuration that the habits need. */
export function habitVariables(
  habits: Habits,
  chains: readonly SimulatedChain[],
  relayKeys: { readonly evm: string; readonly solana: string },
): Readonly<Record<string, string>> {
  const evm = habits.has('batches') ? chains.filter(({ family }) => family === 'evm') : [];
  return {
    ...Object.fromEntries(
      evm.flatMap(({ chainId }) => [
        [`PAYOUT_BATCH_${chainId}`, String(batchMost)],
        [`PAYOUT_BATCH_WAIT_SECONDS_${chainId}`, String(batchWait_s)],
      ]),
    ),
    ...(habits.has('sweeps') && { SWEEP_EVERY_MINUTES: '1', SWEEP_MIN_USD: '1' }),
    ...((habits.has('withdrawals') || habits.has('rebalances')) && {
      TREASURY_ADDRESS_COOLDOWN_HOURS: '0',
      TREASURY_APPROVAL_USD: '300',
    }),
    ...(habits.has('rebalances') && {
      ...{ USDT0_REBALANCES: 'on', CCTP_ATTESTATIONS_URL: 'https://attestations.simulated' },
    }),
    // Limits of gas have specs of their own.
    ...(habits.has('relays') && {
      ...{
        RELAY_PRIVATE_KEY: relayKeys.evm,
        SOLANA_RELAY_PRIVATE_KEY: relayKeys.solana,
        RELAY_MAX_USD: '100000',
        RELAY_ABOVE_FEE_USD: '100000',
      },
      ...{ RELAY_PAYER_HOUR_USD: '100000', RELAY_APP_HOUR_USD: '100000', RELAY_HOUR_USD: '100000' },
    }),
    ...(habits.has('credit') && { CASHBACK_BASIS_POINTS: '5000' }),
  };
}
