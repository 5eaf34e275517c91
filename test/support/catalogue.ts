/** The catalogue with one more token, for specs of what happens when a chain serves a second one. */
import { type ChainId, chainOf, type Token } from '../../domain/chains.ts';

/** Adds a token to a chain while the specs of the describe that calls this run. */
export function withToken(chainId: ChainId, token: Token): void {
  const tokens = chainOf(chainId).tokens as Token[];
  before(() => void tokens.push(token));
  after(() => void tokens.splice(tokens.indexOf(token), 1));
}
