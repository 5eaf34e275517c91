/** Examples in the help of commands. Specs parse each one with its command's own options. */
import type { Command } from 'commander';

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
