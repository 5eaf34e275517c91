/** Credit that buyers earn and spend on a real EVM node; the service is killed on the way. */
import { cashbackSurvivesCrashes, crashPoints } from '../e2e/cashback.ts';
import { describeOnReal } from '../support/realNodes.ts';
import { gateCases } from '../support/suite.ts';

/** A payment is under way at these points. At the others, which do not use the chain, the gate dies in test/realStore/crashes.test.ts. */
const withPayments: readonly string[] = ['CreditEarned.afterAppend', 'withdrawal.afterDecided'];
const points = gateCases(crashPoints, (point) => withPayments.includes(point));

describeOnReal(['GETH'], 'cashback', () => cashbackSurvivesCrashes({ onRealNodes: true, points }));
