/** Floats for operators: metrics, and the page on the operations port. */
import type { PolicySettings } from '../../domain/rebalance/policy.ts';
import { rebalanceStanding } from '../../domain/rebalance/rebalance.ts';
import { readFloatTable } from '../../queries/floatTable.ts';
import { readFloats } from '../../queries/floatViews.ts';
import { failedWork } from '../../queries/operations.ts';
import type { FloatsModel } from '../../web/operations/floats.ts';
import type { Mode } from '../../web/parts/frame.ts';
import type { Core } from '../core.ts';
import type { FloatProgress } from '../process/telemetry.ts';

const failedMax = 50;
const errorCharacters = 300;

type Needs = Pick<Core, 'config' | 'clock' | 'reads' | 'handle' | 'telemetry'>;

/** Reads nothing unless rebalances are in use. @throws Unavailable */
export async function observeFloats({ config, clock, reads, handle, telemetry }: Needs): Promise<void> {
  const { floatPolicy, attestationsUrl } = config;
  if (floatPolicy.floats.size === 0 && attestationsUrl === null) return;
  const floats = await readFloats({ sql: reads, handle }, clock.now());
  telemetry.observeFloats(floatProgress(floats, floatPolicy));
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

/** @throws Unavailable */
export async function floatsModelOf(core: Needs, mode: Mode): Promise<FloatsModel> {
  const { config, clock, reads, handle, telemetry } = core;
  const [{ lines, open }, failed] = await Promise.all([
    readFloatTable({ database: reads, handle, clock }),
    failedWork(reads, { max: failedMax, errorCharacters }),
  ]);
  const { mode: policy, floats: limits } = config.floatPolicy;
  return { ...{ mode, policy, lines, limits, open, failed }, alarms: telemetry.raisedAlarms() };
}
