// An order that waits is looked at again each second, and when the frame says that something happened: the server alone knows what.
import './localTime.js';
import { readAgain } from './parts.js';

const look_ms = 1000;

setInterval(() => {
  if (!document.hidden && document.querySelector('[data-waiting]')) readAgain();
}, look_ms);
document.addEventListener('payment', readAgain);
