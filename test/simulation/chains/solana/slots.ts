/** Slots, blocks and accounts' balances after each. Blocks that are not final may be undone. */

/** A token account, or a wallet (without a mint). */
export interface AccountState {
  readonly owner: string;
  /** Null: a wallet. */
  readonly mint: string | null;
  /** Amount of the token. */
  readonly amount: bigint;
  readonly lamports: bigint;
}

export interface TokenHeld {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly amount: bigint;
}

/** Effects of a transaction on its accounts. */
export interface Effect {
  readonly fee: bigint;
  readonly err: object | null;
  readonly lamportsBefore: readonly bigint[];
  readonly lamportsAfter: readonly bigint[];
  readonly tokensBefore: readonly TokenHeld[];
  readonly tokensAfter: readonly TokenHeld[];
}

export interface Landed extends Effect {
  readonly signature: string;
  readonly slot: number;
  readonly accounts: readonly string[];
}

export interface Block {
  readonly slot: number;
  readonly height: number;
  readonly hash: string;
  readonly parentSlot: number;
  readonly parentHash: string;
  readonly time_s: number;
  readonly landed: readonly Landed[];
}

export type Changes = ReadonlyMap<string, AccountState | null>;

export interface Slots {
  head(): number;
  /** Null: the slot was skipped, or is not there yet. */
  blockAt(slot: number): Block | null;
  /** The newest block at a slot or before it. */
  newestAt(slot: number): Block;
  byHash(hash: string): Block | undefined;
  add(block: Block, changes: Changes): void;
  /** A slot without a block. */
  skip(): void;
  /** Undoes everything after a slot. @returns the removed transactions */
  rollBack(to: number): readonly Landed[];
  accountAt(slot: number, address: string): AccountState | undefined;
  find(signature: string): Landed | undefined;
  /** Transactions that name an account, newest first. */
  naming(account: string): readonly Landed[];
  /** All, oldest first; another array after each change. */
  landed(): readonly Landed[];
}

interface Version {
  readonly since: number;
  readonly state: AccountState | null;
}

export function createSlots(first: Block, held: Changes): Slots {
  const blocks: (Block | null)[] = [];
  const versions = new Map<string, Version[]>();
  const hashes = new Map<string, Block>();
  const accounts = new Map<string, Landed[]>();
  let landed: readonly Landed[] = [];

  const blockAt = (slot: number): Block | null => blocks[slot - first.slot] ?? null;
  const head = (): number => first.slot + blocks.length - 1;

  function add(block: Block, changes: Changes): void {
    blocks.push(block);
    hashes.set(block.hash, block);
    for (const [address, state] of changes) {
      const known = versions.get(address) ?? [];
      known.push({ since: block.slot, state });
      versions.set(address, known);
    }
    if (block.landed.length > 0) landed = [...landed, ...block.landed];
    for (const each of block.landed)
      for (const account of new Set(each.accounts)) accounts.set(account, [each, ...(accounts.get(account) ?? [])]);
  }
  add(first, held);

  return {
    head,
    blockAt,
    newestAt(slot) {
      for (let at = Math.min(slot, head()); at > first.slot; at -= 1) {
        const block = blockAt(at);
        if (block) return block;
      }
      return first;
    },
    byHash: (hash) => hashes.get(hash),
    add,
    skip: () => void blocks.push(null),
    rollBack(to) {
      const gone = landed.filter(({ slot }) => slot > to);
      for (const block of blocks.splice(to - first.slot + 1)) if (block) hashes.delete(block.hash);
      for (const [address, known] of versions)
        versions.set(
          address,
          known.filter(({ since }) => since <= to),
        );
      for (const [account, named] of accounts)
        accounts.set(
          account,
          named.filter(({ slot }) => slot <= to),
        );
      if (gone.length > 0) landed = landed.filter(({ slot }) => slot <= to);
      return gone;
    },
    accountAt: (slot, address) => versions.get(address)?.findLast(({ since }) => since <= slot)?.state ?? undefined,
    find: (signature) => landed.find((each) => each.signature === signature),
    naming: (account) => accounts.get(account) ?? [],
    landed: () => landed,
  };
}
