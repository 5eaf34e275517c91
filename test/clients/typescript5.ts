/** Lets generators that build on TypeScript's JavaScript API, which 7 no longer has, find 5 beside it. Loaded with --import. */
import { registerHooks } from 'node:module';

registerHooks({
  resolve: (specifier, context, next) => next(specifier === 'typescript' ? 'typescript-5' : specifier, context),
});
