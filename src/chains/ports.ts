/** What each chain family implements; commands own these ports because they decide around them. */

export * from '../../commands/chainPorts.ts';
export type { AddressBook, DepositScheme } from '../../commands/ports.ts';
