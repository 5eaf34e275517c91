/** What each chain family implements; commands own these ports because they decide around them. */

export * from '../../commands/accountHistory.ts';
export * from '../../commands/chainPorts.ts';
export type { AddressBook, CanReceive, DepositScheme, ReceiverChecks } from '../../commands/ports.ts';
export * from '../../commands/relayPorts.ts';
export * from '../../commands/transferPorts.ts';
