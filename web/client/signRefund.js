// If the browser has a wallet, requests a signature: its answer fills the form, like pasted text. The server checks it.
import { say } from './say.js';

const button = document.querySelector('button[data-sign]');

async function sign() {
  const { sign: text, account, failed } = button.dataset;
  const told = document.getElementById('sign-told');
  button.setAttribute('aria-busy', 'true');
  told.textContent = '';
  try {
    const accounts = await window.ethereum.request({ method: 'eth_requestAccounts' });
    if (!accounts.some((each) => String(each).toLowerCase() === account.toLowerCase())) throw new Error('another account');
    const bytes = [...new TextEncoder().encode(text)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
    const signature = await window.ethereum.request({ method: 'personal_sign', params: [`0x${bytes}`, account] });
    button.form.elements.signature.value = String(signature);
    button.form.requestSubmit();
  } catch {
    told.textContent = failed;
    say(failed);
  }
  button.removeAttribute('aria-busy');
}

function offer() {
  if (button && typeof window.ethereum?.request === 'function') button.hidden = false;
}

button?.addEventListener('click', sign);
// Some wallets are injected after the page.
window.addEventListener('ethereum#initialized', offer, { once: true });
offer();
