import assert from 'node:assert/strict';
import fc from 'fast-check';
import { concatHex, getContractAddress, type Hex, isAddress } from 'viem';
import { chainOf } from '../../../../domain/chains.ts';
import { createEvmDeposits, forwarderAddresses } from '../../../../src/chains/evm/addresses.ts';
import { treasury } from '../../../support/anvil.ts';

const deposits = createEvmDeposits({ treasury });
const { factory, implementation } = forwarderAddresses(treasury);
const token = chainOf(8453).tokens[0]!;

describe('EVM deposit addresses', () => {
  it('are the CREATE2 addresses of minimal clones, checksummed', async () => {
    const bytecode = concatHex([
      '0x3d602d80600a3d3981f3363d3d373d3d3d363d73',
      implementation,
      '0x5af43d82803e903d91602b57fd5bf3',
    ]);
    await fc.assert(
      fc.asyncProperty(fc.uuid(), async (paymentId) => {
        const { address, salt } = await deposits.assign(paymentId, token, null);
        assert.equal(address, getContractAddress({ opcode: 'CREATE2', from: factory, salt: salt as Hex, bytecode }));
        assert.ok(isAddress(address, { strict: true }));
      }),
    );
  });

  it('are the same for a payment on every chain, and never contain its id', async () => {
    const id = '0198f0aa-1111-8222-8333-444444444444';
    const [base, bnb] = [
      await deposits.assign(id, token, null),
      await deposits.assign(id, chainOf(56).tokens[0]!, null),
    ];
    assert.deepEqual(base, bnb);
    assert.doesNotMatch(JSON.stringify(base), /0198f0aa|111182228333/);
  });

  it('never change: money is on its way to published ones', async () => {
    assert.deepEqual(await deposits.assign('payment-1', token, null), {
      scheme: 'evm-forwarder-1',
      address: '0xaaB97CdDa9c54B82d9d12b37Cff3110694E8974b',
      memo: null,
      contract: null,
      contractMemo: null,
      salt: '0x4ba365350eeaf279fa4585eb549d945304237cc8e58445ece42dc19b5e3ac123',
    });
  });
});
