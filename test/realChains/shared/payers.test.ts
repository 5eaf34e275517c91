/**
 * Payers on real nodes of all families, at the same time, each with an own account: a wallet in the browser, programs that sign for a relay,
 * and a second sandbox on the same nodes. Each mostly waits for blocks.
 */
import { itAtOnce } from '../../support/concurrentSpecs.ts';
import { describeOnReal } from '../../support/realNodes.ts';
import { createSandbox } from '../../support/sandbox.ts';
import { sharedRealSandbox, startSharedRealSandbox } from '../../support/sharedSandbox.ts';
import { payByBrowserWallet } from '../payers/browserWallet.ts';
import { ownNodeChainIds, payOnOwnNodes } from '../payers/ownNodes.ts';
import { payBySolanaRelay } from '../payers/solanaRelay.ts';
import { payByStellarRelay } from '../payers/stellarRelay.ts';

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'payers', () => {
  const shared = sharedRealSandbox();
  const second = createSandbox({ chains: ownNodeChainIds });
  before(startSharedRealSandbox);
  after(() => second.destroy());

  itAtOnce({
    'on Solana without SOL pay once by a transaction for a relay; others are refused before they cost anything': () =>
      payBySolanaRelay(shared),
    'on Stellar pay once by an authorization entry without a fee; others are refused before they cost one': () =>
      payByStellarRelay(shared),
    'with a wallet in the browser switch to the payment’s chain and pay by one press': () => payByBrowserWallet(shared),
    'pay from each chain to each in a sandbox whose RPC_URLS are set, which starts no chain and funds its accounts':
      () => payOnOwnNodes(shared, second),
  });
});
