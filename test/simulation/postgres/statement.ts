/** Form of a statement in the model of Postgres. */
import type { Row, View } from './server.ts';

// biome-ignore lint/suspicious/noExplicitAny: a statement's values are what its caller gave
export type Values = readonly any[];
export type Statement = (view: View, values: Values, text: string) => readonly Row[];
/** Words of a statement, on one line with single spaces, and its effect. */
export type Statements = readonly (readonly [words: string, Statement])[];
