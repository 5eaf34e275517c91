/** The architecture as rules; DESIGN: pure domain in the middle, the world at the edge, one place that wires. */
const only = (name, from, allowed, comment) => ({
  name, comment, severity: 'error',
  from: { path: from },
  to: { pathNot: allowed },
});
/** A folder of a chain family: all of src/chains but what the families share. */
const family = '^src/chains/((?!node/|money/)[^/]+)/';
/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no-folder-cycles', severity: 'error', comment: 'folders build on each other in one direction', scope: 'folder', from: {}, to: { circular: true } },
    only('domain-is-pure', '^domain/', ['^domain/', 'node_modules/typebox/'], 'domain imports nothing but typebox'),
    only('commands-know-domain', '^commands/', ['^commands/', '^domain/', 'node_modules/typebox/', '^crypto$'], 'commands import domain and their own ports'),
    only('projections-know-events', '^projections/', ['^projections/', '^domain/', 'node_modules/(knex|pg)/'], 'projections import domain event types'),
    only('queries-read', '^queries/', ['^queries/', '^domain/', '^commands/(ports|chainPorts)', '^projections/(sql|payments)', 'node_modules/knex/'], 'queries take no decisions; of the projections they share how Postgres is asked and how a payment is a row'),
    only('web-shows', '^web/', ['^web/', '^domain/', '^queries/', 'node_modules/(preact|htm|preact-render-to-string|qrcode)/'], 'pages are made of what they are given: templates ask nothing and decide nothing'),
    { name: 'product-ignores-sandbox', severity: 'error', comment: 'nothing in the product knows that it is in a sandbox',
      from: { path: '^(domain|commands|projections|queries|src|web)/' }, to: { path: '^(sandbox|simulation|mutants|test|bench)/' } },
    { name: 'only-main-wires', severity: 'error', comment: 'only src/main.ts with its roles and the CLI entries wire',
      from: { path: '^src/', pathNot: '^src/(main|cli/|roles/)' }, to: { path: '^src/(main|roles/)' } },
    { name: 'edge-parts-meet-in-main', severity: 'error', comment: 'http knows neither chains nor subscribers',
      from: { path: '^src/http/' }, to: { path: ['^src/(subscribers|eventstore)/', family] } },
    { name: 'pages-behind-http', severity: 'error', comment: 'only HTTP serves pages, and the monthly report is one', from: { path: '^(domain|commands|projections|queries|src)/', pathNot: '^src/(http|report)/' }, to: { path: '^web/' } },
    { name: 'families-apart', severity: 'error', comment: 'a chain family knows no other',
      from: { path: family }, to: { path: family, pathNot: '^src/chains/$1/' } },
    { name: 'families-behind-their-shape', severity: 'error', comment: 'the service knows families by family.ts alone; deploying a contract is a family’s own matter',
      from: { path: '^(commands|queries|src)/', pathNot: [family, '^src/(chains/families\\.ts|cli/deploy)'] },
      to: { path: family } },
    { name: 'only-signers-see-keys', severity: 'error', comment: 'a family’s signer/ holds its keys; its treasury asks which account a key has, its index opens the signer',
      from: { path: '^src/', pathNot: '^src/chains/[^/]+/(signer/|treasury\\.ts|index\\.ts)' }, to: { path: '^src/chains/[^/]+/signer/' } },
    { name: 'keys-of-evm', severity: 'error', comment: 'accounts with keys are made by the signer; the deployer of the forwarder is no treasury',
      from: { path: '^src/', pathNot: '^src/chains/evm/(signer/|deposits/deployForwarder\\.ts)' }, to: { path: '(^|/)viem/(_esm/)?accounts' } },
    { name: 'no-dev-dependencies-in-product', severity: 'error', from: { path: '^(domain|commands|projections|queries|src|web)/' }, to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'], exportsFields: ['exports'], conditionNames: ['import', 'require', 'node', 'default'] },
  },
};
