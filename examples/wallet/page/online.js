// Whether the service can be reached. The page says when it cannot, looks for it every two
// seconds, and goes on by itself.
import { $, hide } from './dom.js';

let away = false, timer = null;
const listeners = [];

// whenBack has something done each time the service is reached again.
export function whenBack(does) { listeners.push(does); }

export const isAway = () => away;

export function lost() {
  if (away) return;
  away = true;
  hide($('offline'), false);
  timer = setInterval(probe, 2000);
}

export function found() {
  if (!away) return;
  away = false;
  clearInterval(timer);
  hide($('offline'), true);
  for (const does of listeners) does();
}

async function probe() {
  try { if ((await fetch('site', { cache: 'no-store' })).ok) found(); } catch { /* the next one may reach it */ }
}

addEventListener('offline', lost);
addEventListener('online', probe);
