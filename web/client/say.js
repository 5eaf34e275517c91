// Polite announcements for screen readers.
const place = Object.assign(document.createElement('p'), { className: 'visually-hidden' });
place.setAttribute('role', 'status');
(document.querySelector('main') ?? document.body).append(place);

/** @param {string} text */
export function say(text) {
  place.textContent = '';
  requestAnimationFrame(() => {
    place.textContent = text;
  });
}
