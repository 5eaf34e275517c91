/** Metrics of floats. */
import type { Clock } from '../../commands/ports.ts';
import type { PolicySettings } from '../../domain/rebalance/policy.ts';
import { rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import { type FloatDeps, readFloats } from '../../queries/floatViews.ts';
import type { FloatProgress, Telemetry } from '../process/telemetry.ts';

export interface ObserveFloatsDeps extends FloatDeps {
  readonly clock: Pick<Clock, 'now'>;
  readonly floats: PolicySettings['floats'];
  readonly observe: Telemetry['observeFloats'];
}

/** @throws Unavailable */
export async function observeFloats({ clock, floats, observe, ...deps }: ObserveFloatsDeps): Promise<void> {
  observe(floatProgress(await readFloats(deps, clock.now()), { floats }));
}

/** Whole USDC suffice for a graph. */
export function floatProgress(
  { views, open }: Awaited<ReturnType<typeof readFloats>>,
  { floats }: Pick<PolicySettings, 'floats'>,
): FloatProgress {
  const parts = views.flatMap(({ chainId, float: held, reserved, inTransit }) =>
    Object.entries({ held, reserved, inTransit, ...floats.get(chainId) }).map(([part, units]) => ({
      ...{ chainId, part },
      usdc: Number(units) / 1e6,
    })),
  );
  const moves = new Map<string, number>();
  for (const { state } of open) {
    const standing = rebalanceStanding(state);
    moves.set(standing, (moves.get(standing) ?? 0) + 1);
  }
  return { parts, moves };
}
