/** Options of `npm start` and `npm run dev`. */
import { Command, Option } from 'commander';
import { presetNames } from './weather/presets.ts';

export interface StartOptions {
  readonly weather?: string;
  readonly realNodes?: true;
  /** Between `npm run dev` and its service. */
  readonly awaitOrder?: true;
}

/** @param script name that the help states, such as `npm start` */
export const startCommand = (script: string): Command =>
  new Command(`${script} --`)
    .description(
      'Runs the whole product on this computer: the service, its stores, local chains, a demo merchant and a demo shop. Ctrl-C stops it, and the next start continues.',
    )
    .addOption(new Option('--weather <name>', 'Faults of the chains’ nodes').choices(presetNames))
    .option('--real-nodes', 'Real chain nodes, from the programs in GETH, SOLANA and STELLAR')
    .addOption(new Option('--await-order').hideHelp())
    .addHelpText(
      'after',
      '\nVariables: SANDBOX_CHAINS=8453,501 runs these chains only, DATA_DIR names the folder of all data.\n\nExample: npm run start -- --weather rough',
    );
