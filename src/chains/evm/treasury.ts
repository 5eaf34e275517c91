import type { Reader } from '../../environment/reader.ts';
import { readTreasuryAccount, type Treasury } from '../family.ts';
import { checksummed } from './addresses.ts';
import { accountOf } from './signer/signer.ts';

/** The ten accounts of local development chains, whose keys are public. */
const developmentAccounts: ReadonlySet<string> = new Set([
  '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266',
  '0x70997970c51812dc3a010c7d01b50e0d17dc79c8',
  '0x3c44cdddb6a900fa2b585dd299e03d12fa4293bc',
  '0x90f79bf6eb2c4f870365e785982e1f101e93b906',
  '0x15d34aaf54267db7d7c367839aaf71a00a2c6a65',
  '0x9965507d1a55bcc2695c58ba16fb37d819b0a4dc',
  '0x976ea74026e726554db657fa54763abd0c3a0aa9',
  '0x14dc79964da2c08b23698b3d3cc7ca32193d9955',
  '0x23618e81e3f5cdf7f54c3d65f7fbc0abf5b21e8f',
  '0xa0ee7a142d267c1f36714e4a8f75612f20a79720',
]);

export interface EvmTreasury extends Treasury {
  /** Account that sends payers' authorizations, and pays their gas; null where no gas-free payment is offered. */
  readonly relay: Treasury | null;
}

const evmAccount = (read: Reader, name: string): string | null =>
  read.matching(name, /^0x[0-9a-fA-F]{40}$/, 'an EVM address');

/** Reads the relay account. It holds gas only, so its key cannot move the treasury's money. */
function readRelay(read: Reader, treasury: Treasury | null): Treasury | null {
  const names = { address: 'RELAY_ADDRESS', key: 'RELAY_PRIVATE_KEY' };
  const stated = evmAccount(read, names.address);
  const key = read.hex(names.key, /^0x[0-9a-f]{64}$/, '0x and 64 hex digits');
  if (stated === null && key === null) return null;
  const spelled = stated && checksummed(stated.slice(2).toLowerCase());
  const relay = readTreasuryAccount(read, names, { stated: spelled, key, accountOf });
  const own = relay === null || treasury === null || relay.address !== treasury.address;
  read.check(
    own,
    'RELAY_ADDRESS is the treasury: relays need an account of their own, or a flood of them delays payouts',
  );
  return relay;
}

/** One account on every EVM chain. */
export function readEvmTreasury(read: Reader, production: boolean): EvmTreasury | null {
  const names = { address: 'TREASURY_ADDRESS', key: 'TREASURY_PRIVATE_KEY' };
  const stated = evmAccount(read, names.address);
  const key = read.hex(names.key, /^0x[0-9a-f]{64}$/, '0x and 64 hex digits');
  const spelled = stated && checksummed(stated.slice(2).toLowerCase());
  const treasury = readTreasuryAccount(read, names, { stated: spelled, key, accountOf });
  const known = production && treasury !== null && developmentAccounts.has(treasury.address.toLowerCase());
  read.check(!known, 'the treasury is a well-known development account that anybody can spend from: use a new key');
  const relay = readRelay(read, treasury);
  return treasury && { ...treasury, relay };
}
