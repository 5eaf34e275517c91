/** Ports of a chain family; commands own them because commands use them. */

export * from '../../commands/accountHistory.ts';
export * from '../../commands/chainPorts.ts';
export type {
  AddressSpelling as AddressBook,
  CanReceive,
  DepositScheme,
  ReceiverChecks,
} from '../../commands/ports.ts';
export * from '../../commands/relayPorts.ts';
export * from '../../commands/transferPorts.ts';
