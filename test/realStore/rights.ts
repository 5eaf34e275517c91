/** The rights that the service's user needs, on a real cluster. The specs set the rights one after the other, as an operator does. */
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { EventStoreDBClient, jsonEvent, START } from '@eventstore/db-client';
import type { Database } from '../../src/postgres/database.ts';
import type { DoctorFinding, Examined } from '../../tools/doctor/machine.ts';
import { createGuideUser, grantGuideUser, guideUser } from '../support/operationsGuide.ts';
import { runTool } from '../support/operatorTools.ts';
import { patience_ms } from '../support/patience.ts';
import { freshDatabase } from '../support/postgres.ts';
import type { RealCluster } from '../support/realCluster.ts';
import type { Sandbox } from '../support/sandbox.ts';

const guide = 'docs/operate/event-store.md';

type User = typeof guideUser;

const urlOf = ({ url }: Pick<RealCluster, 'url'>, user?: User): string =>
  url.replace(/[^/]*@/, user ? `${user.name}:${user.password}@` : '');

/** Address of the cluster for the service, as the user that the guide creates. */
export const serviceUrl = (cluster: Pick<RealCluster, 'url'>): string => urlOf(cluster, guideUser);

/** Specs of a cluster's user, around the specs of a service that works with these rights. */
export interface RightsSpecs {
  /** The cluster is new. Afterwards the user has all rights. */
  ofNewCluster(sandbox: Sandbox): void;
  /** The service has ended: it would lack rights meanwhile. */
  limitedByOperator(): void;
}

export function createRightsSpecs(cluster: () => RealCluster): RightsSpecs {
  let operator: EventStoreDBClient;
  let database: Database;
  const open = async () => {
    // With its administrator's credentials.
    operator = EventStoreDBClient.connectionString(cluster().url);
    database = await freshDatabase();
  };

  async function examine(user?: User): Promise<readonly DoctorFinding[]> {
    const env = { EVENTSTORE_URL: urlOf(cluster(), user), RPC_URLS_8453: 'http://127.0.0.1:1', OPERATIONS_PORT: '1' };
    // Node warns of certificates for IP addresses.
    const options = ['--disable-warning=DEP0123'];
    const { said } = await runTool('doctor', ['--json'], { database, env, options });
    const { areas } = JSON.parse(said) as { readonly areas: readonly Examined[] };
    return areas.find(({ area }) => area === 'Event store')?.findings ?? [];
  }

  /** Waits until doctor finds this: the store applies changed rights a moment after it has answered their append. */
  async function untilFound(user: User, expected: readonly DoctorFinding[]): Promise<void> {
    for (const until_ms = performance.now() + patience_ms; performance.now() < until_ms; )
      if (isDeepStrictEqual(await examine(user), expected)) return;
    assert.deepEqual(await examine(user), expected);
  }

  const broken = (said: string, todo: string): readonly DoctorFinding[] => [
    { verdict: 'broken', what: 'access', said, todo: `${todo}: ${guide}` },
  ];

  return {
    ofNewCluster(sandbox) {
      before(async () => {
        await open();
        await createGuideUser(cluster().url);
      });
      after(() => operator?.dispose());

      it('may not read or follow $all in a new cluster, which doctor reports', async () => {
        assert.deepEqual(
          await examine(guideUser),
          broken(
            'User payments may not read or follow $all.',
            'add "payments" to "$r" of the access control list of $all',
          ),
        );
      });

      it('does not start the service then, which names doctor', async () => {
        assert.equal(await sandbox.start(), 'ended');
        assert.match(
          sandbox.printed(),
          /EVENTSTORE_URL cannot be used: its user lacks a right in the store; run npm run doctor/,
        );
      });

      it('needs the right password, or a name at all, which doctor reports', async () => {
        assert.deepEqual(
          await examine({ ...guideUser, password: 'wrong' }),
          broken(
            'The event store refuses user payments or their password.',
            'fix the user and password in EVENTSTORE_URL, or create the user',
          ),
        );
        assert.deepEqual(
          await examine(),
          broken(
            'The event store refuses callers without a user.',
            'create a user and name the user in EVENTSTORE_URL',
          ),
        );
      });

      it('has all rights for the service after the commands of the guide, and doctor writes nothing to find out', async () => {
        const others = { acl: { readRoles: ['auditors'], metaReadRoles: ['auditors'] } };
        await operator.setStreamMetadata('$all', others);
        await grantGuideUser(cluster().url);
        const { metadata } = await operator.getStreamMetadata('$all');
        assert.deepEqual(metadata, { acl: { ...others.acl, readRoles: ['auditors', 'payments'] } });
        const before = await written();
        const fine = ['answers', 'version', 'access', 'fits Postgres'].map((what) => [what, 'fine']);
        const verdicts = async () => (await examine(guideUser)).map(({ what, verdict }) => [what, verdict]);
        while (!isDeepStrictEqual(await verdicts(), fine));
        assert.deepEqual(await written(), before);
      });
    },

    limitedByOperator() {
      before(open);
      after(() => operator?.dispose());

      it('needs the rights that the operator has limited to others, which doctor names one by one', async () => {
        const limited = async (read: string, write: string) => {
          const list = { $r: ['$admins', read], $w: ['$admins', write], $d: '$admins', $mr: '$admins', $mw: '$admins' };
          await operator.appendToStream('$settings', jsonEvent({ type: '$settings', data: { $userStreamAcl: list } }));
        };
        await limited('inventory', 'inventory');
        await untilFound(
          guideUser,
          broken(
            'User payments may not read or append to streams of payments.',
            'add "payments" to "$r" and "$w" of "$userStreamAcl" in the stream $settings',
          ),
        );
        await limited('payments', 'inventory');
        await untilFound(
          guideUser,
          broken(
            'User payments may not append to streams of payments.',
            'add "payments" to "$w" of "$userStreamAcl" in the stream $settings',
          ),
        );
        await limited('payments', 'payments');
        const access = async () => (await examine(guideUser)).find(({ what }) => what === 'access')?.verdict;
        while ((await access()) !== 'fine');
      });
    },
  };

  /** Every event of the log, by its stream and revision. */
  async function written(): Promise<readonly string[]> {
    const events: string[] = [];
    for await (const { event } of operator.readAll({ fromPosition: START, maxCount: 1_000 }))
      events.push(`${event?.revision}@${event?.streamId}`);
    return events;
  }
}
