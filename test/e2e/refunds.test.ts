import { createSandbox } from '../support/sandbox.ts';
import { gateCases } from '../support/suite.ts';
import { excessIsRefunded, type Overpaid } from './refunds.ts';

const everyChain: readonly Overpaid[] = [
  { chainId: 8453, by: 'api' },
  { chainId: 137, by: 'api' },
  { chainId: 501, by: 'api' },
  { chainId: 1, by: 'dashboard' },
  { chainId: 1500, by: 'dashboard' },
  { chainId: 56, by: 'operator' },
  { chainId: 42161, by: 'api' },
];
/** The gate tries each family, and each way to order a refund. */
const inGate = gateCases(everyChain, ({ chainId }) => chainId !== 137 && chainId !== 42161);

describe('the excess of an overpaid payment', () => {
  const sandbox = createSandbox();
  before(() => sandbox.start());
  after(() => sandbox.destroy());
  excessIsRefunded(inGate, sandbox);
});
