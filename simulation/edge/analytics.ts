/** In place of src/postgres/analytics.ts: nobody asks the model of Postgres questions of his own. */
import type * as real from '../../src/postgres/analytics.ts';

export const analyst: typeof real.analyst = 'analyst';
export const makeAnalytics: typeof real.makeAnalytics = async () => {};
export const grantToAnalyst: typeof real.grantToAnalyst = async () => {};
export const endAnalysts: typeof real.endAnalysts = async () => {};
