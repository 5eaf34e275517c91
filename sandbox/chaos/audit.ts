/** The auditor's verifier over the chaos: it starts from the chains, and does not know the plan. */
import type { ChaosWorld } from './world.ts';

export interface Audited {
  readonly said: string;
  readonly findings: readonly string[];
}

const saidMax = 12_000;
const bar = /\[[█░]+\]/;

export async function auditOf(chaos: ChaosWorld): Promise<Audited> {
  try {
    return { said: told(await chaos.tool('audit')), findings: [] };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { readonly stdout?: string; readonly stderr?: string };
    const said = told(`${stdout}\n${stderr}`) || String(error);
    return { said, findings: [`npm run audit: ${said}`] };
  }
}

/** Without its progress bars. */
const told = (text: string): string =>
  text
    .split('\n')
    .filter((line) => line.trim() !== '' && !bar.test(line))
    .join('\n')
    .slice(0, saidMax);
