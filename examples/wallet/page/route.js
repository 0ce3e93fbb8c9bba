// What is shown, by the address: #/ the form, #/swap/<id> a swap, #/swaps the list. Back and
// Forward change it, and an address that is passed on opens the same.
let shown = () => {};

// start shows what the address says now, and from then on whenever it changes.
export function start(show) {
  shown = show;
  const asked = new URL(location.href);
  const id = asked.searchParams.get('swap') ?? (/^#[0-9a-f]{32,}$/.test(location.hash) ? location.hash.slice(1) : null);
  if (id) {
    asked.searchParams.delete('swap');
    history.replaceState(null, '', `${asked.pathname}${asked.search}#/swap/${id}`);
  }
  addEventListener('popstate', () => shown(where()));
  return shown(where());
}

export function where() {
  const [, view, id] = location.hash.split('/');
  if (view === 'swap' && id) return { view: 'swap', id: decodeURIComponent(id) };
  return { view: view === 'swaps' ? 'swaps' : 'form' };
}

// go shows something else, and keeps what was shown for Back.
export function go(hash) {
  if (location.hash !== hash) history.pushState(null, '', hash);
  return shown(where());
}

export const linkTo = (id) => `#/swap/${encodeURIComponent(id)}`;
