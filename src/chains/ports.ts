/** What each chain family implements; commands own these ports because they decide around them. */

export * from '../../commands/chainPorts.ts';
export * from '../../commands/payoutPorts.ts';
export type { AddressBook, CanReceive, DepositScheme, ReceiverChecks } from '../../commands/ports.ts';
