// Small helpers for the document.

export const $ = (id) => document.getElementById(id);

// make builds an element: properties and attributes first, then what is in it.
export function make(tag, attributes = {}, ...content) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'class') e.className = value;
    else if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...content.filter((c) => c !== null && c !== undefined && c !== ''));
  return e;
}

// text sets a text only if it differs, so that screen readers do not repeat what they have said.
export function text(e, value) {
  if (e.textContent !== value) e.textContent = value;
}

export function hide(e, hidden) {
  if (e.hidden !== hidden) e.hidden = hidden;
}

// announce tells a screen reader what has changed.
export function announce(sentence) { text($('announce'), sentence); }

// short keeps the ends of an address or an id, by which people know it.
export const short = (long) => long.length > 20 ? `${long.slice(0, 8)}…${long.slice(-6)}` : long;

// copyable is a shortened text that a click copies whole, with a link to an explorer if there is one.
export function copyable(what, value, link) {
  const shown = make('span', { class: 'shown' }, short(value));
  const button = make('button', { type: 'button', class: 'copy', title: value, 'aria-label': `Copy ${what} ${short(value)}` }, shown);
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(value).then(() => { shown.textContent = 'Copied'; announce(`Copied the ${what}.`); }, () => announce('This browser does not let the page copy.'));
    setTimeout(() => { shown.textContent = short(value); }, 1500);
  });
  if (!link) return button;
  const out = make('a', { class: 'out', href: link, target: '_blank', rel: 'noopener noreferrer', 'aria-label': `Show ${what} in an explorer` }, '↗');
  return make('span', { class: 'copies' }, button, out);
}

// unfold is what only some readers want to know, behind a word that unfolds it.
export const unfold = (word, detail) => make('details', {}, make('summary', {}, word), make('p', {}, detail));

// busy runs what a button does, lets nobody press it twice, and hands on what went wrong.
export function busy(button, does, failed) {
  return async (event) => {
    event?.preventDefault();
    if (button.getAttribute('aria-busy') === 'true') return;
    button.setAttribute('aria-busy', 'true');
    try { await does(); } catch (e) { failed(e); } finally { button.removeAttribute('aria-busy'); }
  };
}
