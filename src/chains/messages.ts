/** Who signed a text, whatever family his address is of. */
import type { MessageSigners } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { allFamilies } from './families.ts';
import type { OpenChain } from './family.ts';

/** @param chains where contracts can be asked */
export function createMessageSigners(chains: ReadonlyMap<ChainId, Pick<OpenChain, 'acceptsMessage'>>): MessageSigners {
  const schemes = allFamilies.flatMap(({ messages }) => messages ?? []);
  const schemeOf = (address: string) => schemes.find((scheme) => scheme.signer(address) !== null);
  return {
    canonical(text) {
      for (const scheme of schemes) {
        const address = scheme.signer(text);
        if (address !== null) return address;
      }
      return null;
    },

    isSignedBy: async (address, message) => (await schemeOf(address)?.isSignedBy(address, message)) ?? false,

    async isAcceptedBy(contract, message, chainIds) {
      const accepted = await Promise.all(chainIds.map((id) => chains.get(id)?.acceptsMessage?.(contract, message)));
      return accepted.length > 0 && accepted.every((said) => said === true);
    },
  };
}
