/** What the model of Postgres makes of a statement. */
import type { Row, View } from './server.ts';

// biome-ignore lint/suspicious/noExplicitAny: a statement's values are what its caller gave
export type Values = readonly any[];
export type Statement = (view: View, values: Values, text: string) => readonly Row[];
/** Words of a statement, in one line with single spaces, and what it does. */
export type Statements = readonly (readonly [words: string, Statement])[];
