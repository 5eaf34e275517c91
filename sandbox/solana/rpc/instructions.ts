/** Instructions in the words of JSON-RPC's `jsonParsed`, for the programs that payments use. */
import { AccountRole, type Address, getAddressDecoder } from '@solana/kit';
import {
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  AssociatedTokenInstruction,
  parseAssociatedTokenInstruction,
  parseTokenInstruction,
  TokenInstruction,
} from '@solana-program/token';
import { systemProgram } from '../chain/account.ts';
import { memoPrograms } from '../chain/execute.ts';
import { tokenPrograms, uiAmount } from '../chain/tokens.ts';

export interface ParsedInstruction {
  readonly program: string;
  readonly parsed: unknown;
}

/** Undefined for what is told undecoded. */
export function parseInstruction(
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
): ParsedInstruction | undefined {
  if (memoPrograms.includes(program)) return { program: 'spl-memo', parsed: Buffer.from(data).toString('utf8') };
  const parser = parsers.get(program);
  try {
    return parser?.(accounts, data);
  } catch {
    return undefined;
  }
}

type Parser = (accounts: readonly string[], data: Uint8Array) => ParsedInstruction | undefined;

const parsers: ReadonlyMap<string, Parser> = new Map<string, Parser>([
  [systemProgram, systemInstruction],
  [ASSOCIATED_TOKEN_PROGRAM_ADDRESS, associatedInstruction],
  ...[...tokenPrograms].map(([program, name]): [string, Parser] => [
    program,
    (accounts, data) => tokenInstruction(name, program, accounts, data),
  ]),
]);

function systemInstruction(accounts: readonly string[], data: Uint8Array): ParsedInstruction | undefined {
  const bytes = Buffer.from(data);
  const [source, destination] = accounts;
  const kind = bytes.readUInt32LE(0);
  if (kind !== 0 && kind !== 2) return undefined;
  const lamports = bytes.readBigUInt64LE(4);
  if (kind === 2) {
    return { program: 'system', parsed: { type: 'transfer', info: { source, destination, lamports } } };
  }
  const space = bytes.readBigUInt64LE(12);
  const info = { source, newAccount: destination, lamports, space, owner: getAddressDecoder().decode(data, 20) };
  return { program: 'system', parsed: { type: 'createAccount', info } };
}

const asInstruction = (programAddress: string, accounts: readonly string[], data: Uint8Array) => ({
  programAddress: programAddress as Address,
  accounts: accounts.map((each) => ({ address: each as Address, role: AccountRole.WRITABLE })),
  data,
});

function associatedInstruction(accounts: readonly string[], data: Uint8Array): ParsedInstruction {
  // The oldest form of `create` has no data at all.
  const bytes = data.length === 0 ? new Uint8Array([0]) : data;
  const { instructionType, accounts: named } = parseAssociatedTokenInstruction(
    asInstruction(ASSOCIATED_TOKEN_PROGRAM_ADDRESS, accounts, bytes),
  );
  const types = {
    [AssociatedTokenInstruction.CreateAssociatedToken]: 'create',
    [AssociatedTokenInstruction.CreateAssociatedTokenIdempotent]: 'createIdempotent',
    [AssociatedTokenInstruction.RecoverNestedAssociatedToken]: 'recoverNested',
  };
  const { payer: source, ata: account, owner: wallet, ...others } = addressesOf(named);
  return {
    program: 'spl-associated-token-account',
    parsed: { type: types[instructionType], info: { source, account, wallet, ...others } },
  };
}

function tokenInstruction(
  name: string,
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
): ParsedInstruction | undefined {
  const told = parseTokenInstruction(asInstruction(program, accounts, data));
  if (told.instructionType === TokenInstruction.Batch) return undefined;
  const type = firstLower(TokenInstruction[told.instructionType]);
  const { discriminator, amount, decimals, ...others } = told.data as Record<string, unknown>;
  const amounts =
    typeof amount === 'bigint' && typeof decimals === 'number'
      ? { tokenAmount: uiAmount(amount, decimals) }
      : { ...(amount !== undefined && { amount: String(amount) }), ...(decimals !== undefined && { decimals }) };
  return { program: name, parsed: { type, info: { ...addressesOf(told.accounts), ...amounts, ...others } } };
}

/** `{ source: { address } }` → `{ source: address }` */
const addressesOf = (accounts: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(accounts as Record<string, { address: string } | undefined>).flatMap(([name, account]) =>
      account ? [[name, account.address]] : [],
    ),
  );

const firstLower = (text = '') => text.charAt(0).toLowerCase() + text.slice(1);
