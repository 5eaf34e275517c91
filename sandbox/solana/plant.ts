/** Play money: mints and balances without transactions. */
import { type Address, address, getAddressEncoder, getProgramDerivedAddress, none, some } from '@solana/kit';
import {
  AccountState,
  ASSOCIATED_TOKEN_PROGRAM_ADDRESS,
  getMintEncoder,
  getMintSize,
  getTokenEncoder,
  getTokenSize,
} from '@solana-program/token';
import { burnTokenOn, solanaCctp } from '../../domain/rebalance/cctp.ts';
import { cctpAccounts } from '../../src/chains/solana/cctp.ts';
import { type Account, wallet } from './chain/account.ts';
import { cctpAccountsAt, feeOwner } from './chain/cctp.ts';
import type { Chain } from './chain/chain.ts';
import { mintOf, tokenAccountOf, tokenProgram } from './chain/tokens.ts';
import { faucetAddress } from './faucet.ts';

/** A mint whose authority is the faucet. Planting it again changes nothing. */
export function plantMint(chain: Chain, mint: Address, decimals: number, program: Address = tokenProgram): void {
  if (chain.accounts.get(mint)) return;
  chain.plant(() => [[mint, mintAccount(chain, decimals, 0n, program)]]);
}

/** Adds lamports to an address's balance. */
export function plantLamports(chain: Chain, address: Address, lamports: bigint): void {
  chain.plant(({ get }) => {
    const account = get(address) ?? wallet(0n);
    return [[address, { ...account, lamports: account.lamports + lamports }]];
  });
}

/**
 * Adds tokens to a wallet's associated token account, creating it if needed.
 * @returns that account's address
 * @throws Error if the mint does not exist
 */
export async function plantTokens(chain: Chain, owner: Address, mint: Address, amount: bigint): Promise<Address> {
  const program = chain.accounts.get(mint)?.owner ?? tokenProgram;
  const account = await associatedAccount(owner, mint, program);
  chain.plant(({ get }) => {
    const known = mintOf(get(mint));
    if (!known) throw new Error(`no mint: ${mint}`);
    const has = tokenAccountOf(get(account))?.amount ?? 0n;
    return [
      [mint, mintAccount(chain, known.decimals, known.supply + amount, program)],
      [account, tokenAccount(chain, { owner, mint, amount: has + amount }, program)],
    ];
  });
  return account;
}

/** 10 billion USDC. */
const custody_units = 10_000_000_000_000_000n;

/**
 * Puts the programs of CCTP onto the chain, where USDC must be. Planting them again changes nothing.
 * @param attesters 20 bytes each, ascending
 */
export async function plantCctpPrograms(chain: Chain, attesters: readonly Buffer[]): Promise<void> {
  if (chain.accounts.get(address(solanaCctp.messenger))) return;
  const mint = address(burnTokenOn(501) ?? '');
  const custody = { owner: address(cctpAccounts().tokenMinter), mint, amount: custody_units };
  await plantTokens(chain, feeOwner, mint, 0n);
  chain.plant(() => [
    ...cctpAccountsAt(attesters, chain.machine.rentExempt),
    [address(cctpAccounts().custody), tokenAccount(chain, custody, tokenProgram)],
  ]);
}

export async function associatedAccount(owner: Address, mint: Address, program: Address): Promise<Address> {
  const seeds = [owner, program, mint].map((each) => getAddressEncoder().encode(each));
  const [account] = await getProgramDerivedAddress({ programAddress: ASSOCIATED_TOKEN_PROGRAM_ADDRESS, seeds });
  return account;
}

function mintAccount({ machine, genesis }: Chain, decimals: number, supply: bigint, owner: Address): Account {
  const data = getMintEncoder().encode({
    mintAuthority: some(faucetAddress(genesis)),
    supply,
    decimals,
    isInitialized: true,
    freezeAuthority: none(),
  });
  return { lamports: machine.rentExempt(getMintSize()), owner, executable: false, data: new Uint8Array(data) };
}

function tokenAccount(
  { machine }: Chain,
  holding: { readonly owner: Address; readonly mint: Address; readonly amount: bigint },
  owner: Address,
): Account {
  const data = getTokenEncoder().encode({
    ...holding,
    delegate: none(),
    state: AccountState.Initialized,
    isNative: none(),
    delegatedAmount: 0n,
    closeAuthority: none(),
  });
  return { lamports: machine.rentExempt(getTokenSize()), owner, executable: false, data: new Uint8Array(data) };
}
