/**
 * Folders build on each other in one direction. What wires them is left out: the process's own files, each room's index, and the
 * programs of operators know every room, and .dependency-cruiser.cjs says who may import them.
 */
const { options } = require('./.dependency-cruiser.cjs');
const { wiring } = require('./docs/rooms.json');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [{ name: 'no-folder-cycles', severity: 'error', scope: 'folder', from: {}, to: { circular: true } }],
  options: { ...options, exclude: { path: [wiring, '^test/support/', '[.]test[.]ts$'] } },
};
