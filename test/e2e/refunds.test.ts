import type { ChainId } from '../../domain/chains.ts';
import { createSandbox } from '../support/sandbox.ts';
import { gateCases, isFull } from '../support/suite.ts';
import { excessIsRefunded, type Overpaid } from './refunds.ts';

const everyChain: readonly Overpaid[] = [
  { chainId: 8453, by: 'operator' },
  { chainId: 137, by: 'api' },
  { chainId: 501, by: 'api' },
  { chainId: 1, by: 'dashboard' },
  { chainId: 1500, by: 'dashboard' },
  { chainId: 56, by: 'api' },
  { chainId: 42161, by: 'api' },
];
/** The gate tries each family, and each way to order a refund. */
const gateChains: readonly ChainId[] = [8453, 501, 1500];
const inGate = gateCases(everyChain, ({ chainId }) => gateChains.includes(chainId));

describe('the excess of an overpaid payment', () => {
  const sandbox = createSandbox(isFull ? {} : { chains: gateChains });
  before(() => sandbox.start());
  after(() => sandbox.destroy());
  excessIsRefunded(inGate, sandbox);
});
