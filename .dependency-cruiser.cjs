/** The architecture as rules: a pure domain in the middle, the world at the edge, one place that wires. docs/explain/architecture.md has the picture. */
const only = (name, from, allowed, comment, except = []) => ({
  name, comment, severity: 'error',
  from: { path: from, pathNot: except },
  to: { pathNot: allowed },
});
/** A folder of a chain family: all of src/chains but what the families share. */
const family = '^src/chains/((?!node/|money/)[^/]+)/';
/** Everything that ships. */
const product = '^(domain|commands|projections|queries|src|web|tools)/';
const { rooms, wiring } = require('./docs/generate/rooms.json');
/** A room imports itself and what docs/generate/rooms.json allows. A room inside another has a rule of its own. */
const ofRooms = rooms.map(({ path, may }) => {
  const inside = rooms.filter((other) => other.path.startsWith(`${path}/`)).map((other) => `^${other.path}/`);
  return {
    name: `room-${path.replaceAll('/', '-')}`, severity: 'error', comment: `${path} imports ${['itself', ...may].join(', ')}`,
    from: { path: `^${path}/`, pathNot: [wiring, ...inside] },
    to: { path: `${product.slice(0, -2)}|contracts)/`, pathNot: [path, ...may].map((allowed) => `^${allowed}/`) },
  };
});
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...ofRooms,
    only('domain-is-pure', '^domain/', ['^domain/', 'node_modules/(typebox|@noble/(curves|hashes)|@scure/base)/'], 'domain imports nothing but typebox, and pure functions for addresses: hash, curve and base 58'),
    only('commands-know-domain', '^commands/', ['^commands/', '^domain/', '^src/lib/', 'node_modules/typebox/', '^crypto$'], 'commands import the domain, their own ports, and small tools'),
    only('projections-know-events', '^projections/', ['^projections/', '^domain/', 'node_modules/(knex|pg)/'], 'projections import domain event types'),
    only('queries-read', '^queries/', ['^queries/', '^domain/', '^commands/(ports|chainPorts)', '^projections/(sql|payments)', 'node_modules/knex/'], 'queries take no decisions; they share with projections how Postgres is queried and how a payment becomes a row'),
    only('lib-stands-alone', '^src/lib/', ['^src/lib/', '^domain/time', '^[a-z_]+(/promises)?$'], 'src/lib imports nothing of the product but instants'),
    only('parts-show', '^web/parts/', ['^web/parts/', '^domain/', '^queries/', 'node_modules/(preact|htm|preact-render-to-string|qrcode)/'], 'parts of pages are made of what they are given: they query nothing and decide nothing', ['^web/parts/(assets|say)\\.ts']),
    only('say-knows-its-page', '^web/parts/say\\.ts', ['^web/parts/', '^async_hooks$'], 'the language of a page follows the request that builds it'),
    only('assets-read-themselves', '^web/parts/assets\\.ts', ['^[a-z_]+(/promises)?$'], 'assets are named by their content, so one part reads the files of web/ and imports nothing of the product'),
    { name: 'product-ignores-sandbox', severity: 'error', comment: 'nothing in the product knows that it is in a sandbox',
      from: { path: product }, to: { path: '^(sandbox|test|docs)/' } },
    { name: 'only-wiring-wires', severity: 'error', comment: 'only src/main.ts, src/signerProcess.ts, each room’s index and the tools wire',
      from: { path: product, pathNot: wiring }, to: { path: ['^src/(main|core|signerProcess|serves)[.]ts$', '^src/(api|readmodels|workers)/.*index[.]ts$'] } },
    { name: 'families-apart', severity: 'error', comment: 'a chain family knows no other',
      from: { path: family }, to: { path: family, pathNot: '^src/chains/$1/' } },
    { name: 'families-behind-their-shape', severity: 'error', comment: 'the service knows families by family.ts alone; deploying a contract is a family’s own matter',
      from: { path: '^(commands|queries|src|web|tools)/', pathNot: [family, '^src/chains/families\\.ts', '^tools/deploy'] },
      to: { path: family } },
    { name: 'only-signers-see-keys', severity: 'error', comment: 'a family’s signer/ holds its keys; its treasury asks which account a key has, its index opens the signer',
      from: { path: '^(src|tools|web)/', pathNot: '^src/chains/[^/]+/(signer/|treasury\\.ts|index\\.ts)' }, to: { path: '^src/chains/[^/]+/signer/' } },
    { name: 'keys-of-evm', severity: 'error', comment: 'accounts with keys are made by the signer; the deployer of the forwarder is no treasury',
      from: { path: '^(src|tools|web)/', pathNot: '^src/chains/evm/(signer/|deposits/deployForwarder\\.ts)' }, to: { path: '(^|/)viem/(_esm/)?accounts' } },
    { name: 'solana-behind-one-file', severity: 'error', comment: 'another version of the library replaces this one by one line (docs/explain/decisions/0024-solana-library.md)',
      from: { path: '^(src|tools|web|commands|domain)/', pathNot: '^src/chains/solana/web3\\.ts' }, to: { path: 'node_modules/@solana/web3\\.js/' } },
    { name: 'trial-kit-knows-no-driver', severity: 'error', comment: 'what both trials share opens no world',
      from: { path: '^sandbox/trials/[^/]+$' }, to: { path: '^sandbox/trials/[^/]+/' } },
    { name: 'trial-drivers-apart', severity: 'error', comment: 'a driver of trials knows no other',
      from: { path: '^sandbox/trials/([^/]+)/' }, to: { path: '^sandbox/trials/[^/]+/', pathNot: '^sandbox/trials/$1/' } },
    { name: 'no-dev-dependencies-in-product', severity: 'error', from: { path: product }, to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm-peer'] } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
