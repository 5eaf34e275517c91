// A pending order is reloaded each second, and after a message of the frame: only the server knows the state.
import './localTime.js';
import { readAgain } from './parts.js';

const look_ms = 1000;

setInterval(() => {
  if (!document.hidden && document.querySelector('[data-waiting]')) readAgain();
}, look_ms);
document.addEventListener('payment', readAgain);
