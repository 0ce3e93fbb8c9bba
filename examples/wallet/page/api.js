// The service's operations below /api, and what of swaps stays in this browser.
import { lost, found } from './online.js';

// call calls an operation: with a body by POST, else by GET. Errors are those of the service,
// with its code, field and bounds; the code is "away" if it cannot be reached.
export async function call(path, query, body) {
  const url = new URL(path, new URL('.', location.href.split('#')[0].split('?')[0]));
  for (const [name, value] of Object.entries(query ?? {})) if (value) url.searchParams.set(name, value);
  const headers = body ? { 'content-type': 'application/json' } : {};
  const key = path.startsWith('api/') && kept((body ?? query)?.swapId)?.key;
  if (key) headers['swap-key'] = key;
  let answer, value;
  try {
    answer = await fetch(url, body ? { method: 'POST', headers, body: JSON.stringify(body) } : { headers });
    value = await answer.json().catch(() => null);
  } catch {
    lost();
    throw Object.assign(new Error('The service cannot be reached.'), { code: 'away' });
  }
  found();
  if (!answer.ok) throw Object.assign(new Error(value?.error ?? answer.statusText), { code: value?.code ?? 'internal', ...value });
  return value;
}

// What this browser knows of its swaps, by id: the key that the service tells once, which
// proves after a reload and from another network that a swap is this user's, what was asked
// for, and whether the quote was given up.
export function kept(id) {
  try { return JSON.parse(localStorage.getItem(`swap ${id}`)); } catch { return null; }
}

export function keep(id, facts) {
  try { localStorage.setItem(`swap ${id}`, JSON.stringify({ ...kept(id), ...facts })); } catch { /* a browser that stores nothing goes on by its address */ }
}

// keptIds are the newest swaps of this browser.
export function keptIds() {
  const all = [];
  try {
    for (let i = 0; i < localStorage.length; i++) {
      const id = localStorage.key(i).startsWith('swap ') && localStorage.key(i).slice(5);
      if (id) all.push([kept(id)?.at ?? 0, id]);
    }
  } catch { /* as above */ }
  return all.sort((a, b) => b[0] - a[0]).map(([, id]) => id);
}
