/** The auditor's verifier over the chaos: it starts from the chains, and knows nothing of what happened. */
import type { ChaosWorld } from './world.ts';

export interface Audited {
  readonly said: string;
  readonly findings: readonly string[];
}

const saidMax = 600;

export async function auditOf(chaos: ChaosWorld): Promise<Audited> {
  try {
    const said = (await chaos.tool('audit')).trim();
    return { said: said.slice(-saidMax), findings: [] };
  } catch (error) {
    const said = error instanceof Error ? error.message.slice(-saidMax) : String(error);
    return { said, findings: [`npm run audit: ${said}`] };
  }
}
