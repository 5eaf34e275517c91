/** Signers of texts, for addresses of any family. */
import { type AskingPlaces, askingPlaces } from '../../commands/chainPorts.ts';
import { type MessageSigners, Unavailable } from '../../commands/ports.ts';
import type { ChainId } from '../../domain/chains.ts';
import { allFamilies } from './families.ts';
import type { OpenChain } from './family.ts';

const fullRetry_s = 2;

/** @param chains on which contracts can be queried */
export function createMessageSigners(
  chains: ReadonlyMap<ChainId, Pick<OpenChain, 'acceptsMessage'>>,
  places: AskingPlaces = askingPlaces,
): MessageSigners {
  const schemes = allFamilies.flatMap(({ messages }) => messages ?? []);
  const schemeOf = (address: string) => schemes.find((scheme) => scheme.signer(address) !== null);
  const inProgress = placesFor(places);
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
      if (chainIds.length === 0) return false;
      const accepted = await inProgress(contract, () =>
        Promise.all(chainIds.map((id) => chains.get(id)?.acceptsMessage?.(contract, message))),
      );
      return accepted.every((said) => said === true);
    },
  };
}

/** @throws Unavailable while all slots are in use */
function placesFor({ perContract, perInstance }: AskingPlaces) {
  const asked: string[] = [];
  return async <T>(contract: string, ask: () => Promise<T>): Promise<T> => {
    if (asked.length >= perInstance || asked.filter((other) => other === contract).length >= perContract)
      throw new Unavailable('too many signatures of contract wallets are being checked: try again', fullRetry_s);
    asked.push(contract);
    try {
      return await ask();
    } finally {
      asked.splice(asked.indexOf(contract), 1);
    }
  };
}
