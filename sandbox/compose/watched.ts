/** The profile `observability`: Prometheus finds both instances, and loads our rules. Grafana is not tried without its image. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Tried, tellTried } from './operator.ts';
import type { Project } from './project.ts';

const patience_ms = 90_000;
const look_ms = 2_000;

export const watched = (project: Project, step: (text: string) => void): Promise<Tried> =>
  tellTried(step, 'docker compose --profile observability up prometheus', /rules/, async () => {
    const profile = ['--profile', 'observability'];
    await project.compose(...profile, 'up', '--detach', '--no-deps', 'prometheus');
    try {
      return await seen(project, `http://${(await project.compose('port', 'prometheus', '9090')).trim()}`);
    } finally {
      await project.compose(...profile, 'rm', '--stop', '--force', 'prometheus');
    }
  });

/** @throws Error with the current state, if it is not complete in time */
async function seen({ shape }: Project, url: string): Promise<string> {
  for (const since = performance.now(); ; await sleep(look_ms)) {
    const targets = await ask<{ activeTargets: readonly { health: string }[] }>(url, 'targets');
    const up = targets?.activeTargets.filter(({ health }) => health === 'up') ?? [];
    const rules = await ask<{ groups: readonly { rules: readonly { health: string }[] }[] }>(url, 'rules');
    const all = rules?.groups.flatMap((group) => group.rules) ?? [];
    const good = all.filter(({ health }) => health === 'ok');
    const says = `${up.length} of ${shape.ours.length} targets are up, ${good.length} of ${all.length} rules are well`;
    if (up.length === shape.ours.length && all.length > 0 && good.length === all.length) return says;
    if (performance.now() - since > patience_ms) throw new Error(`${says}: ${JSON.stringify(targets).slice(0, 500)}`);
  }
}

async function ask<T>(url: string, what: string): Promise<T | null> {
  const response = await fetch(`${url}/api/v1/${what}`).catch(() => null);
  return response?.ok ? ((await response.json()) as { data: T }).data : null;
}
