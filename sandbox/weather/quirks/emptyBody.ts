/**
 * An empty answer: no byte at all, or `{}`, with 200. geth answers so during its shutdown
 * (github.com/mana-ethereum/ethereumex/issues/58), gateways when a back end is lost ("missing response",
 * github.com/ethers-io/ethers.js/issues/841).
 */
import { jsonHeaders } from '../call.ts';
import { everywhere, onReplies, type Quirk } from '../quirk.ts';

export interface EmptyBodySettings {
  readonly body: '' | '{}';
}

export const emptyBody: Quirk<EmptyBodySettings> = {
  families: everywhere,
  says: 'an empty body, or `{}`',
  begin: ({ body }) => onReplies(async () => ({ status: 200, headers: jsonHeaders, body })),
};
