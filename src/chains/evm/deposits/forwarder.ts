/** The deposit forwarder's place on the chains, computed without asking any of them. */
import { type Address, concatHex, encodeDeployData, getContractAddress, type Hex, keccak256 } from 'viem';
import { forwarderFactory } from '../../../../contracts/evm/artifacts/ForwarderFactory.ts';

/** The deterministic deployer that stands at this address on every EVM chain (github.com/Arachnid/deterministic-deployment-proxy). */
export const deployer: Address = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** Part of every deposit address: never change it. */
const deploySalt: Hex = `0x${'00'.repeat(32)}`;

const creationCode = (treasury: Address): Hex =>
  encodeDeployData({ abi: forwarderFactory.abi, bytecode: forwarderFactory.bytecode, args: [treasury] });

export interface ForwarderAddresses {
  readonly factory: Address;
  readonly implementation: Address;
}

/**
 * Where one treasury's factory and forwarder implementation stand (or will stand): the same on every chain.
 * @param treasury receiver of every flush, fixed in the deployed code
 */
export function forwarderAddresses(treasury: Address): ForwarderAddresses {
  const factory = getContractAddress({
    opcode: 'CREATE2',
    from: deployer,
    salt: deploySalt,
    bytecodeHash: keccak256(creationCode(treasury)),
  });
  // The factory's constructor creates the implementation; a contract's first nonce is 1 (EIP-161).
  return { factory, implementation: getContractAddress({ opcode: 'CREATE', from: factory, nonce: 1n }) };
}

/** The transaction that deploys the factory; anybody may send it, the result is the same. */
export const forwarderDeployment = (treasury: Address): { readonly to: Address; readonly data: Hex } => ({
  to: deployer,
  data: concatHex([deploySalt, creationCode(treasury)]),
});
