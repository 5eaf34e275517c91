/** The configured chains for who asks nodes alone: nothing is taken out of the service's own memory. */
import { createLines } from '../src/chains/node/lines.ts';
import { type Chains, openChains } from '../src/chains/open.ts';
import type { Config } from '../src/config.ts';

export function chainsAlone(config: Config): Chains['chains'] {
  const nobody = async () => [];
  const needs = { lines: createLines(), takeOwners: nobody, watch: () => ({ open: nobody, late: nobody }) };
  return openChains(config, needs).chains;
}
