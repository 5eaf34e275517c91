import assert from 'node:assert/strict';
import { sharedAnvil } from '../support/anvil.ts';
import { runTool } from '../support/operatorTools.ts';
import { freshDatabase } from '../support/postgres.ts';

describe('npm run sweep', () => {
  const sweep = async (...args: string[]) => {
    const [database, { rpcUrl }] = [await freshDatabase(), await sharedAnvil(8453)];
    return runTool('sweep', args, { database, env: { RPC_URLS_8453: rpcUrl } });
  };

  for (const [args, says] of [
    [['base', '--min', 'five'], /--min <usd>.*Use dollars, such as 5 or 0\.50/],
    [['--gas-price-max', '0,1', 'base'], /--gas-price-max <gwei>.*Use gwei, such as 20 or 0\.05/],
    [['atlantis'], /atlantis is not a configured chain or family of chains/],
  ] as const)
    it(`refuses ${JSON.stringify(args.join(' '))} in a sentence, before anything is done`, async () => {
      const { code, said } = await sweep(...args);
      assert.equal(code, 1);
      assert.match(said, says);
    });

  it('finds nothing where nothing was paid, and the deployed forwarder', async () => {
    const { code, said } = await sweep('all');
    assert.match(said, /Base: 0 deposits were looked at, none holds anything/);
    assert.equal(code, 0);
    assert.match((await sweep('deploy', 'base')).said, /Base: the forwarder is already deployed/);
  });
});
