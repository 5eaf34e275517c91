import assert from 'node:assert/strict';
import { toReceipt } from '../../../src/chains/evm/reads.ts';

const receipt = {
  transactionHash: '0x01',
  status: '0x1',
  blockNumber: '0x9',
  blockHash: '0x02',
  transactionIndex: '0x3',
  logs: [],
  gasUsed: '0x5208',
  effectiveGasPrice: '0x3b9aca00',
};

describe('the cost of a transaction for its sender on an EVM chain', () => {
  it('is the gas at the paid price', () => {
    assert.equal(toReceipt(receipt).fee_wei, 21_000n * 10n ** 9n);
  });

  it('includes Ethereum’s share on chains that charge it separately', () => {
    assert.equal(toReceipt({ ...receipt, l1Fee: '0x2a' }).fee_wei, 21_000n * 10n ** 9n + 42n);
  });

  it('is unknown from a receipt without the price; the receipt counts nevertheless', () => {
    const { effectiveGasPrice: _, ...untold } = receipt;
    assert.deepEqual([toReceipt(untold).fee_wei, toReceipt(untold).succeeded], [undefined, true]);
  });
});
