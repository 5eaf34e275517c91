/** Metrics of floats. */
import type { Clock } from '../../commands/ports.ts';
import type { PolicySettings } from '../../domain/rebalance/policy.ts';
import type { FloatSymbol } from '../../domain/rebalance/protocols.ts';
import { rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import { type FloatDeps, readFloats } from '../../queries/floatViews.ts';
import type { FloatProgress, Telemetry } from '../process/telemetry.ts';

/** Limits of each token's floats. */
type LimitsOf = Readonly<Record<FloatSymbol, PolicySettings['floats']>>;

export interface ObserveFloatsDeps extends FloatDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly limits: LimitsOf;
  readonly observe: Telemetry['observeFloats'];
}

/** @throws Unavailable */
export async function observeFloats({ clock, limits, observe, ...deps }: ObserveFloatsDeps): Promise<void> {
  observe(floatProgress(await readFloats(deps, clock.now()), limits));
}

/** Whole tokens suffice for a graph. */
export function floatProgress(
  { views, open }: Awaited<ReturnType<typeof readFloats>>,
  limits: LimitsOf,
): FloatProgress {
  const parts = views.flatMap(({ symbol, chainId, float: held, reserved, inTransit }) =>
    Object.entries({ held, reserved, inTransit, ...limits[symbol].get(chainId) }).map(([part, units]) => ({
      ...{ symbol, chainId, part },
      tokens: Number(units) / 1e6,
    })),
  );
  const moves = new Map<string, number>();
  for (const { state } of open) {
    const standing = rebalanceStanding(state);
    moves.set(standing, (moves.get(standing) ?? 0) + 1);
  }
  return { parts, moves };
}
