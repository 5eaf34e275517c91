/** Instructions in the words of JSON-RPC's `jsonParsed`, for the programs that payments use. */
import { AccountRole, type Address, getAddressDecoder, isOption, isSome } from '@solana/kit';
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

/** Undefined for an instruction that is returned undecoded. */
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

/** Accounts by position, and the name of the signer, followed by a multisignature's signers. */
interface TokenAccounts {
  readonly named: readonly string[];
  readonly authority?: string;
}

const move = { named: ['source', 'destination'], authority: 'authority' };
const freeze = { named: ['account', 'mint'], authority: 'freezeAuthority' };
const mintTo = { named: ['mint', 'account'], authority: 'mintAuthority' };
const burn = { named: ['account', 'mint'], authority: 'authority' };

/** @see https://github.com/anza-xyz/agave/blob/master/transaction-status/src/parse_token.rs */
const tokenAccounts: Partial<Record<TokenInstruction, TokenAccounts>> = {
  [TokenInstruction.InitializeMint]: { named: ['mint', 'rentSysvar'] },
  [TokenInstruction.InitializeMint2]: { named: ['mint'] },
  [TokenInstruction.InitializeAccount]: { named: ['account', 'mint', 'owner', 'rentSysvar'] },
  [TokenInstruction.InitializeAccount2]: { named: ['account', 'mint', 'rentSysvar'] },
  [TokenInstruction.InitializeAccount3]: { named: ['account', 'mint'] },
  [TokenInstruction.InitializeImmutableOwner]: { named: ['account'] },
  [TokenInstruction.GetAccountDataSize]: { named: ['mint'] },
  [TokenInstruction.SyncNative]: { named: ['account'] },
  [TokenInstruction.Transfer]: move,
  [TokenInstruction.TransferChecked]: { ...move, named: ['source', 'mint', 'destination'] },
  [TokenInstruction.Approve]: { named: ['source', 'delegate'], authority: 'owner' },
  [TokenInstruction.ApproveChecked]: { named: ['source', 'mint', 'delegate'], authority: 'owner' },
  [TokenInstruction.Revoke]: { named: ['source'], authority: 'owner' },
  [TokenInstruction.CloseAccount]: { named: ['account', 'destination'], authority: 'owner' },
  [TokenInstruction.FreezeAccount]: freeze,
  [TokenInstruction.ThawAccount]: freeze,
  [TokenInstruction.MintTo]: mintTo,
  [TokenInstruction.MintToChecked]: mintTo,
  [TokenInstruction.Burn]: burn,
  [TokenInstruction.BurnChecked]: burn,
};

function tokenInstruction(
  name: string,
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
): ParsedInstruction | undefined {
  const told = parseTokenInstruction(asInstruction(program, accounts, data));
  const places = tokenAccounts[told.instructionType];
  if (!places) return undefined;
  const type = firstLower(TokenInstruction[told.instructionType]);
  const { discriminator, amount, decimals, ...others } = told.data as Record<string, unknown>;
  const amounts =
    typeof amount === 'bigint' && typeof decimals === 'number'
      ? { tokenAmount: uiAmount(amount, decimals) }
      : { ...(amount !== undefined && { amount: String(amount) }), ...(decimals !== undefined && { decimals }) };
  const extensions = type === 'getAccountDataSize' ? { extensionTypes: extensionsIn(data) } : {};
  const info = { ...accountsByName(places, accounts), ...amounts, ...withoutOptions(others), ...extensions };
  return { program: name, parsed: { type, info } };
}

function accountsByName({ named, authority }: TokenAccounts, accounts: readonly string[]) {
  const info: Record<string, unknown> = Object.fromEntries(named.map((each, place) => [each, accounts[place]]));
  if (authority === undefined) return info;
  // Nodes treat all accounts after the authority as a multisignature's signers.
  const signers = accounts.slice(named.length + 1);
  const isMultisig = signers.length > 0;
  info[isMultisig ? `multisig${authority.charAt(0).toUpperCase()}${authority.slice(1)}` : authority] =
    accounts[named.length];
  return isMultisig ? { ...info, signers } : info;
}

/** Optional values without their wrapping; those that are none are omitted. */
const withoutOptions = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => {
      if (!isOption(value)) return [[key, value]];
      return isSome(value) ? [[key, value.value]] : [];
    }),
  );

const extensionTypes: Readonly<Record<number, string>> = { 7: 'immutableOwner' };

function extensionsIn(data: Uint8Array): readonly string[] {
  const bytes = Buffer.from(data.subarray(1));
  const types = Array.from({ length: Math.floor(bytes.length / 2) }, (_, at) => bytes.readUInt16LE(2 * at));
  return types.map((type) => extensionTypes[type] ?? `unknown${type}`);
}

/** `{ source: { address } }` → `{ source: address }` */
const addressesOf = (accounts: object): Record<string, string> =>
  Object.fromEntries(
    Object.entries(accounts as Record<string, { address: string } | undefined>).flatMap(([name, account]) =>
      account ? [[name, account.address]] : [],
    ),
  );

const firstLower = (text = '') => text.charAt(0).toLowerCase() + text.slice(1);
