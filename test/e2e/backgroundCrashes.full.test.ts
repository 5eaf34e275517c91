/** On an embedded node. On the real EventStoreDB: test/realStore/crashes.test.ts. */
import { backgroundWorkersSurviveCrashes } from './backgroundCrashes.ts';

describe('kill -9 in the workers that no payer waits for', () => backgroundWorkersSurviveCrashes());
