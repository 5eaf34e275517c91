/** Shared by the operators' tools: exit codes, and texts of decisions. */
import { userInfo } from 'node:os';
import { type Command, InvalidArgumentError } from 'commander';
import { type Chain, chains, findChain } from '../domain/chains.ts';
import { isRefusal, type Refusal } from '../domain/decider.ts';
import { allowSlowConnects } from '../src/process/system.ts';
import type { OperatorBy } from '../src/workers/treasury/operations.ts';
import { print, printFailure } from './print.ts';

/** Ends a tool of the operator: prints the error, and sets the exit code. */
export async function runProgram(work: () => Promise<unknown>): Promise<void> {
  allowSlowConnects();
  try {
    await work();
  } catch (error) {
    printFailure(error);
    process.exitCode ??= 1;
  }
}

/** Prints a decision's outcome. @throws Error with the refusal's code and text */
export function printOutcome(
  outcome: { readonly appended: number } | Refusal,
  already = 'Nothing to do: already done.',
): void {
  if (isRefusal(outcome)) throw refusalError(outcome);
  print(outcome.appended > 0 ? 'Done.' : already);
}

export const refusalError = ({ refused, message }: Refusal): Error => new Error(`${refused}: ${message}`);

/** For an option: the operator's reason, for later readers. */
export function readReason(text: string): string {
  if (text.length === 0 || text.length > 400) throw new InvalidArgumentError('Use 1 to 400 characters.');
  return text;
}

/** @param message state after Ctrl-C and what to do then. @returns signal that aborts with it at Ctrl-C */
export function untilInterrupted(message: string): AbortSignal {
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort(new Error(message)));
  return stop.signal;
}

/** By id, or by name in any letter case, or its beginning if it is unique. */
export function namedChain(stated: string): Chain | undefined {
  const text = stated.trim().toLowerCase();
  const byId = findChain(text);
  if (byId || text === '') return byId;
  const called = chains.filter(({ name }) => name.toLowerCase().startsWith(text));
  return called.find(({ name }) => name.toLowerCase() === text) ?? (called.length === 1 ? called[0] : undefined);
}

/** Id of a chain that a person names, as the service's own functions expect it; an unknown name stays as it is. */
export const chainIdOf = (stated: string): string => String(namedChain(stated)?.id ?? stated);

/** All names of chains, for a message. */
export const chainNames = (): string => chains.map(({ id, name }) => `${name} (${id})`).join(', ');

/**
 * The user of a tool, for the audit trail: the account that ran sudo, or else the account of the process. A container's account may have
 * only a number.
 */
export function operator(): OperatorBy {
  return { cause: `operator:${process.env['SUDO_USER'] || accountName()}` };
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}

// Examples in the help of commands. Specs parse each one with its command's own options.

/**
 * Adds an example to the help of each command, and sets the usage of groups of commands.
 * @param examples the rest of the command line, by the words of the command: `{ 'addresses add': 'base 0xA9… --label Cold' }`. A group with an
 *   example of its own runs without a command.
 * @throws Error for a command that the program does not have
 */
export function addExamples(program: Command, examples: Readonly<Record<string, string>>): void {
  useOneForm(program);
  for (const [words, rest] of Object.entries(examples)) {
    const command = words.split(' ').filter(Boolean).reduce(childOf, program);
    command.addHelpText('after', `\nExample: ${[program.name(), words, rest].filter(Boolean).join(' ')}`);
    if (command.commands.length > 0) command.usage('[command] [options]');
  }
}

function childOf(parent: Command, word: string): Command {
  const found = parent.commands.find((each) => each.name() === word);
  if (!found) throw new Error(`${parent.name()} has no command ${word}`);
  return found;
}

function useOneForm(command: Command): void {
  if (command.commands.length > 0) command.usage('<command> [options]');
  command.commands.forEach(useOneForm);
}
