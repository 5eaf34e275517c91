/**
 * Calls `--help` of every command of every program in one process, and prints what each said. A program is imported as far as its options are
 * parsed: nothing of its work begins.
 */
import { join } from 'node:path';
import { Command, CommanderError } from 'commander';
import { programs, root } from './programs.ts';

export interface Helped {
  readonly name: string;
  /** The command and its parents, without the program. */
  readonly words: readonly string[];
  readonly said: string;
  readonly description: string;
  readonly isGroup: boolean;
  /** Descriptions of its own options and arguments. */
  readonly about: readonly string[];
  readonly flags: readonly { readonly long: string; readonly takesValue: boolean; readonly isRequired: boolean }[];
  readonly args: { readonly least: number; readonly most: number };
}

class Parsed extends Error {
  readonly command: Command;
  constructor(command: Command) {
    super('the options would be parsed now');
    this.command = command;
  }
}

const { parseAsync } = Command.prototype;

/** The program's command as it is when its options would be parsed. Its module ends there. */
async function commandIn(file: string): Promise<Command> {
  let found: Command | undefined;
  const stop = function (this: Command): never {
    found = this;
    throw new Parsed(this);
  };
  Command.prototype.parse = stop;
  Command.prototype.parseAsync = stop;
  const { error } = console;
  const { write } = process.stderr;
  process.stderr.write = () => true;
  console.error = () => {};
  try {
    await import(join(root, file));
  } catch (thrown) {
    if (!(thrown instanceof Parsed)) throw thrown;
  } finally {
    process.stderr.write = write;
    console.error = error;
    process.exitCode = 0;
  }
  if (!found) throw new Error(`${file} parses no options`);
  return found;
}

const commandsOf = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(commandsOf)];

async function helpOf(program: Command, words: readonly string[]): Promise<string> {
  const said: string[] = [];
  for (const command of commandsOf(program))
    command.exitOverride().configureOutput({ writeOut: (text) => void said.push(text), writeErr: () => {} });
  try {
    await parseAsync.call(program, [...words, '--help'], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.code !== 'commander.helpDisplayed') throw error;
  }
  return said.join('');
}

const commandAt = (program: Command, words: readonly string[]): Command =>
  words.reduce((command, word) => command.commands.find((each) => each.name() === word) ?? command, program);

function factsOf(command: Command): Omit<Helped, 'name' | 'words' | 'said'> {
  const args = command.registeredArguments;
  return {
    description: command.description(),
    isGroup: command.commands.length > 0,
    about: [...command.options, ...args].map(({ description }) => description).filter(Boolean),
    flags: command.options.map(({ long, required, optional, mandatory }) => ({
      long: long ?? '',
      takesValue: required || optional,
      isRequired: mandatory,
    })),
    args: {
      least: args.filter(({ required }) => required).length,
      most: args.some(({ variadic }) => variadic) ? 100 : args.length,
    },
  };
}

function pathsIn(command: Command, path: readonly string[] = []): readonly (readonly string[])[] {
  return [path, ...command.commands.flatMap((each) => pathsIn(each, [...path, each.name()]))];
}

const all: Helped[] = [];
const seen = new Set<string>();
// The simulation puts its own parts in place of modules that are loaded after it.
const isSimulation = ({ file }: { readonly file: string }) => Number(file.startsWith('test/simulation/'));
for (const { name, file } of programs.toSorted((a, b) => isSimulation(a) - isSimulation(b))) {
  if (seen.has(file)) continue;
  seen.add(file);
  const program = await commandIn(file);
  for (const words of pathsIn(program))
    all.push({ name, words, said: await helpOf(program, words), ...factsOf(commandAt(program, words)) });
}
process.stdout.write(JSON.stringify(all), () => process.exit(0));
