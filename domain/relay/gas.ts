/**
 * Gas limit of relays in one hour of the clock, over all instances: a stream for each hour, `relayGas-2026-11-22T18`. A relay reserves
 * its share before it is ordered. After a crash in between, the same relay still has its share at the next try.
 */
import Type, { type Static } from 'typebox';
import { type Decider, type Decision, type Refusal, refuse } from '../decider.ts';
import { formatAmount, microUsdDecimals } from '../money.ts';
import { Address, Amount, closed, Id, Text, Time } from '../schema.ts';
import { epochMs, hour_ms, type Instant } from '../time.ts';

export const relayGasSchemaVersion = 1;

/** In an hour: one a second and more. */
export const relaysPerHourMax = 5_000;

export const relayGasEventSchemas = {
  RelayGasReserved: Type.Object(
    {
      /** Id of the relay's stream, with the nonce of its authorization. */
      relay: Text(256),
      appId: Id,
      payer: Address,
      /** Most that the relay's first transaction may cost, in millionths of a dollar. */
      cost_microUsd: Amount,
      reservedAt: Time,
    },
    closed,
  ),
} as const;

export type RelayGasEvent = {
  readonly type: 'RelayGasReserved';
  readonly data: Static<(typeof relayGasEventSchemas)['RelayGasReserved']>;
};
export type RelayGasReserved = RelayGasEvent['data'];

export interface RelayGasState {
  readonly relays: ReadonlySet<string>;
  /** In millionths of a dollar, by beneficiary: `all`, `app <id>` or `payer <address>`. */
  readonly spent_microUsd: ReadonlyMap<string, bigint>;
}

export const relayGas: Decider<RelayGasState, RelayGasEvent> = {
  category: 'relayGas',
  initial: { relays: new Set(), spent_microUsd: new Map() },
  evolve({ relays, spent_microUsd }, { data }) {
    const spent = new Map(spent_microUsd);
    for (const who of spendersOf(data)) spent.set(who, (spent.get(who) ?? 0n) + BigInt(data.cost_microUsd));
    return { relays: new Set([...relays, data.relay]), spent_microUsd: spent };
  },
};

type Spender = Pick<RelayGasReserved, 'appId' | 'payer'>;
const spendersOf = ({ appId, payer }: Spender): readonly string[] => ['all', `app ${appId}`, `payer ${payer}`];

/** The stream that a reservation made now belongs to. */
export const relayHourOf = (at: Instant): string => at.slice(0, '2026-11-22T18'.length);

/** Maximum cost of relays, in millionths of a dollar. */
export interface RelayLimits {
  /** Limit of one relay. */
  readonly perRelay_microUsd: bigint;
  /** Limit of one payer in an hour of the clock. */
  readonly perPayerHour_microUsd: bigint;
  /** Limit of one app in an hour of the clock. */
  readonly perAppHour_microUsd: bigint;
  /** Limit of all relays in an hour of the clock. */
  readonly perHour_microUsd: bigint;
  /** Maximum cost of a relay above the payment's fee. */
  readonly aboveFee_microUsd: bigint;
}

const usd = (microUsd: bigint): string => `$${formatAmount(microUsd, microUsdDecimals)}`;

/** Cost of one relay, in millionths of a dollar. */
export interface RelayPrice {
  readonly cost_microUsd: bigint;
  /** The part of the cost that comes back. */
  readonly rent_microUsd: bigint;
}

/**
 * Reason why one relay alone costs too much; undefined if it does not. The payment's fee need not pay the rent.
 * @param fee_microUsd the payment's fee
 */
export function refusalOfCost(
  { cost_microUsd, rent_microUsd }: RelayPrice,
  fee_microUsd: bigint,
  { perRelay_microUsd, aboveFee_microUsd }: RelayLimits,
): Refusal | undefined {
  if (cost_microUsd > perRelay_microUsd)
    return refuse(
      'relayTooDear',
      `gas for this payment costs up to ${usd(cost_microUsd)} now, the limit is ${usd(perRelay_microUsd)}: try again later, or pay with an ordinary transfer`,
    );
  const most = fee_microUsd + aboveFee_microUsd;
  if (cost_microUsd - rent_microUsd <= most) return undefined;
  return refuse(
    'relayTooDear',
    `gas for this payment costs up to ${usd(cost_microUsd - rent_microUsd)} now, and its fee pays ${usd(most)} of it: try again later, or pay with an ordinary transfer`,
  );
}

/** Reserves a relay's share of the hour; returns `[]` for a relay that has it. */
export function reserveRelayGas(
  state: RelayGasState,
  reserving: RelayGasReserved,
  limits: RelayLimits,
): Decision<RelayGasEvent> {
  if (state.relays.has(reserving.relay)) return [];
  const mosts = [limits.perHour_microUsd, limits.perAppHour_microUsd, limits.perPayerHour_microUsd];
  const names = ['all payments', 'payments to this merchant', 'payments of this payer'];
  const full = spendersOf(reserving).findIndex(
    (who, at) => (state.spent_microUsd.get(who) ?? 0n) + BigInt(reserving.cost_microUsd) > (mosts[at] ?? 0n),
  );
  if (full >= 0 || state.relays.size >= relaysPerHourMax)
    return {
      ...refuse(
        'rateLimited',
        `gas for ${names[Math.max(full, 0)]} is used up for this hour: try again after it, or pay with an ordinary transfer`,
      ),
      retryAfter_s: secondsLeft(reserving.reservedAt),
    };
  return [{ type: 'RelayGasReserved', data: reserving }];
}

const secondsLeft = (at: Instant): number => Math.ceil((hour_ms - (epochMs(at) % hour_ms)) / 1_000);
