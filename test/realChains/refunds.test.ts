import { excessIsRefunded, type Overpaid } from '../e2e/refunds.ts';
import { describeOnReal } from '../support/realNodes.ts';

const overpaid: readonly Overpaid[] = [
  { chainId: 8453, by: 'api' },
  { chainId: 501, by: 'operator' },
  { chainId: 1500, by: 'dashboard' },
];

describeOnReal(['GETH', 'SOLANA', 'STELLAR'], 'the excess of an overpaid payment', () =>
  excessIsRefunded(overpaid, { onRealNodes: true, chains: [8453, 501, 1500] }),
);
