// The marks of tokens and chains, drawn here. A mark is decoration: the name stands beside it.

const disc = (fill, inner) => `<circle cx="20" cy="20" r="20" fill="${fill}"/>${inner}`;
const line = (d, width = 3, color = '#fff') => `<path d="${d}" fill="none" stroke="${color}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round"/>`;
const coin = line('M15 11v18M15 12h7a4 4 0 0 1 0 8h-7M15 20h8.5a4.4 4.4 0 0 1 0 8.8H15M18 8v3M22.5 8v3M18 29v3M22.5 29v3', 2.6);

const tokens = {
  BTC: disc('#e8791a', coin),
  WBTC: disc('#2b2a33', `<circle cx="20" cy="20" r="16.5" fill="none" stroke="#e8791a" stroke-width="2.4" stroke-dasharray="19 7"/>${coin}`),
  CBTC: disc('#c9491d', `${coin}<path d="M34 8a18 18 0 0 1 0 24" fill="none" stroke="#ffd9a8" stroke-width="2.6" stroke-linecap="round"/>`),
  USDC: disc('#2b6fd6', `${line('M24.5 16c-.6-2-2.3-3-4.5-3-2.6 0-4.5 1.3-4.5 3.4 0 4.8 9.2 2.4 9.2 7.2 0 2.2-2 3.5-4.7 3.5-2.5 0-4.3-1.2-4.8-3.2M20 10v3M20 27v3', 2.6)}`),
  SOL: disc('#1b1430', `${line('M13 13.5h11l3-2.5', 3.2, '#5ae4b0')}${line('M13 20h14', 3.2, '#8fb4ff')}${line('M27 26.5H16l-3 2.5', 3.2, '#c07cf0')}`),
  STRK: disc('#1d1f4d', `${line('M8 26c6 0 7-12 13-12 4 0 5 3 11 3', 3.4)}<circle cx="29" cy="26" r="3" fill="#f0805a"/>`),
};

const chains = {
  BITCOIN: disc('#e8791a', coin),
  LIGHTNING: disc('#6b4de0', '<path d="M22.5 7 11 22.5h7.5L17 33l12-16h-8z" fill="#ffe27a"/>'),
  CITREA: disc('#f4efe6', '<path d="M20 8v24M9.6 14l20.8 12M30.4 14 9.6 26" stroke="#e0592a" stroke-width="3.6" stroke-linecap="round"/><circle cx="20" cy="20" r="12" fill="none" stroke="#e0592a" stroke-width="3"/>'),
  SOLANA: tokens.SOL,
  STARKNET: tokens.STRK,
};

const svg = (inner, size) => `<svg viewBox="0 0 40 40" width="${size}" height="${size}" aria-hidden="true" focusable="false">${inner}</svg>`;
const letter = (name) => disc('#5f6673', `<text x="20" y="27" text-anchor="middle" font-size="20" font-weight="700" fill="#fff" font-family="system-ui, sans-serif">${name.replace(/[^a-z]/gi, '').charAt(0)}</text>`);

// mark draws a token with its chain in the corner. A coin on its own chain has no corner.
export function mark(chain, ticker, size = 36) {
  const e = document.createElement('span');
  e.className = 'mark';
  const own = chain === 'BITCOIN' || ticker === 'SOL' || ticker === 'STRK';
  e.innerHTML = svg(tokens[ticker] ?? letter(ticker), size) + (own ? '' : `<span class="corner">${svg(chains[chain] ?? letter(chain), Math.round(size * 0.5))}</span>`);
  return e;
}

// icon draws a sign of the page: what it stands for is said beside it.
export function icon(name) {
  const d = { check: 'M9 21l8 8 15-18', back: 'M13 12h12a7 7 0 0 1 0 14H10M15 6l-6 6 6 6', warn: 'M20 10v13M20 30v.5', switch: 'M9 14h20l-6-6M31 26H11l6 6', clock: 'M20 6a14 14 0 1 0 .1 0M20 12v9l6 3' }[name];
  const e = document.createElement('span');
  e.className = `icon ${name}`;
  e.innerHTML = `<svg viewBox="0 0 40 40" width="40" height="40" aria-hidden="true" focusable="false"><path d="${d}" fill="none" stroke="currentColor" stroke-width="3.4" stroke-linecap="round" stroke-linejoin="round" pathLength="1"/></svg>`;
  return e;
}
