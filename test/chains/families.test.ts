import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { type ChainFamily, chains } from '../../domain/chains.ts';
import { allFamilies, families, familyFor } from '../../src/chains/families.ts';
import type { Family, OpenChain, OpenFamily } from '../../src/chains/family.ts';
import { freeCoin } from '../support/payoutCosts.ts';
import { draft } from './draft/index.ts';

/** Required members of a type, without optional ones. */
type Required<T> = { [K in keyof T]-?: object extends Pick<T, K> ? never : K }[keyof T];
type Without<T> = { readonly [K in Required<T>]: T };

function without<T, K extends keyof T>(whole: T, room: K): Omit<T, K> {
  const { [room]: _, ...rest } = whole;
  return rest;
}

const opened = draft.open(
  [{ chainId: 1500, rpcUrls: [], agree: { usual: 1, large: 1 }, coin: freeCoin(9) }],
  draft.readTreasury(),
);
const chain = opened.chains[0] as NonNullable<(typeof opened.chains)[0]>;

describe('a chain family', () => {
  /** The type checker covers specs: it reports a directive without an error, and a room that this list omits. */
  it('is accepted with every room, and by the type checker with none omitted', () => {
    const complete: readonly [Family, OpenFamily, OpenChain] = [draft, opened, chain];

    const drafts: Without<Family> = {
      // @ts-expect-error
      name: without(draft, 'name'),
      // @ts-expect-error
      coinDecimals: without(draft, 'coinDecimals'),
      // @ts-expect-error
      choosesDepth: without(draft, 'choosesDepth'),
      // @ts-expect-error
      canonicalAddress: without(draft, 'canonicalAddress'),
      // @ts-expect-error
      canonicalTxHash: without(draft, 'canonicalTxHash'),
      // @ts-expect-error
      readTreasury: without(draft, 'readTreasury'),
      // @ts-expect-error
      open: without(draft, 'open'),
      // @ts-expect-error
      openSigner: without(draft, 'openSigner'),
    };
    const openedDrafts: Without<OpenFamily> = {
      // @ts-expect-error
      family: without(opened, 'family'),
      // @ts-expect-error
      chains: without(opened, 'chains'),
      // @ts-expect-error
      deposits: without(opened, 'deposits'),
      // @ts-expect-error
      canReceive: without(opened, 'canReceive'),
      // @ts-expect-error
      misfit: without(opened, 'misfit'),
    };
    const openChains: Without<OpenChain> = {
      // @ts-expect-error
      ingester: without(chain, 'ingester'),
      // @ts-expect-error
      rail: without(chain, 'rail'),
      // @ts-expect-error
      history: without(chain, 'history'),
      // @ts-expect-error
      health: without(chain, 'health'),
      // @ts-expect-error
      poll_ms: without(chain, 'poll_ms'),
    };
    for (const [at, incomplete] of [drafts, openedDrafts, openChains].entries()) {
      for (const [room, lacking] of Object.entries(incomplete)) {
        assert.ok(room in complete[at as 0 | 1 | 2] && !(room in lacking), room);
      }
    }
  });

  it('is listed once for each that the domain names, and serves the catalogue’s chains', () => {
    const { evm, solana } = families;
    // @ts-expect-error stellar is missing
    const short: Readonly<Record<ChainFamily, Family>> = { evm, solana };
    assert.equal(Object.keys(short).length, allFamilies.length - 1);
    for (const [name, family] of Object.entries(families)) assert.equal(family.name, name);
    for (const chain of chains) assert.equal(familyFor(chain).name, chain.family);
  });

  it('has the rooms of all others, under the same names', () => {
    const files = ['addresses.ts', 'config.ts', 'health.ts', 'index.ts', 'reads.ts', 'rpc.ts', 'treasury.ts'];
    const folders = ['deposits', 'payins', 'payouts', 'signer'];
    const root = new URL('../../src/chains/', import.meta.url);
    for (const name of Object.keys(families)) {
      const entries = readdirSync(new URL(`${name}/`, root), { withFileTypes: true });
      const names = entries.map((entry) => entry.name);
      for (const file of files) assert.ok(names.includes(file), `${name} has no ${file}`);
      assert.deepEqual(
        entries
          .filter((entry) => entry.isDirectory())
          .map((entry) => entry.name)
          .sort(),
        folders,
        name,
      );
    }
  });
});
