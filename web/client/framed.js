// In a frame on a merchant's site: notifies the site of the payment's state, and of a close request. Only an allowed origin gets answers,
// and only it can read them.

const sites = document.body.dataset.sites?.split(' ') ?? [];
let site = null;
let told = null;

window.addEventListener('message', ({ origin, source, data }) => {
  if (window.parent === window || source !== window.parent || !sites.includes(origin) || data?.payment !== 'hello') return;
  site = origin;
  told = null;
  tell();
});

/** @param {object} message */
const send = (message) => window.parent.postMessage(message, site);

function tell() {
  const standing = document.getElementById('version')?.dataset.standing ?? 'receipt';
  if (site === null || standing === told) return;
  told = standing;
  send({ payment: 'standing', standing });
}

document.addEventListener('renewed', tell);
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && site !== null && !event.defaultPrevented) send({ payment: 'close' });
});
