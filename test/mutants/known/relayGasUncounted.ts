import type { Mutant } from '../mutant.ts';

export const mutant: Mutant = {
  bug: 'what relays cost in an hour is not counted for the payer',
  seenIn: 'gas grief: an authorization that fails after its simulation',
  file: 'domain/relay/gas.ts',
  from: "const spendersOf = ({ appId, payer }: Spender): readonly string[] => ['all', `app ${appId}`, `payer ${payer}`];",
  to: "const spendersOf = ({ appId }: Spender): readonly string[] => ['all', `app ${appId}`];",
  breaks: 'strangersBounded',
  specs: ['test/domain/relay.test.ts'],
};
