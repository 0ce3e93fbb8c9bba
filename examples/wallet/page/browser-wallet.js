// A wallet of the browser (EIP-1193), for transactions of EVM chains. Such wallets do not
// hand out signed transactions: they send them, and the service sees them on the chain.

// connect asks for the account, and which chain the wallet is on; changed is told of another
// account, or undefined if it is gone, and moved of another chain. The chains are what the
// wallet is told of a chain that it does not know (EIP-3085).
export async function connect(chains, changed, moved) {
  const provider = window.ethereum;
  if (!provider) throw new Error('This browser has no wallet. The test wallet pays instead.');
  const [address] = await provider.request({ method: 'eth_requestAccounts' });
  const wallet = { provider, address, chains: Object.values(chains) };
  provider.on?.('accountsChanged', ([next]) => changed(next));
  provider.on?.('chainChanged', (id) => moved(id));
  return { ...wallet, chainId: await chainOf(wallet) };
}

// chainOf asks which chain the wallet is on, now.
const chainOf = ({ provider }) => provider.request({ method: 'eth_chainId' });

// same reports whether two numbers of chains are the same one, however they are written.
export const same = (a, b) => BigInt(a) === BigInt(b);

// switchTo asks the wallet to change to a chain, and tells it of the chain if it does not know
// it (EIP-3326: 4902). It returns the chain that the wallet is on then.
export async function switchTo(wallet, chainId) {
  const { provider, chains } = wallet;
  const change = () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  try {
    await change();
  } catch (e) {
    const chain = (e.code === 4902 || e.data?.originalError?.code === 4902) && chains.find((c) => same(c.chainId, chainId));
    if (!chain) throw e;
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] });
    await change();
  }
  return chainOf(wallet);
}

// here fails, with the code "elsewhere", unless the wallet is on a chain.
async function here(wallet, chainId) {
  const is = await chainOf(wallet);
  if (!same(is, chainId)) throw Object.assign(new Error('The wallet is on another network.'), { code: 'elsewhere', chainId: is });
}

// send has the wallet send transactions, each after the one before it is in a block. sent is
// told of each that the wallet has sent. It stops, with the code "elsewhere", when the wallet is
// on another chain than the transaction, which names its chain, so that no other takes it.
export async function send(wallet, transactions, sent) {
  const { provider, address } = wallet;
  for (const [i, text] of transactions.entries()) {
    const { chainId, ...tx } = fields(text);
    await here(wallet, chainId);
    let hash;
    try {
      hash = await provider.request({ method: 'eth_sendTransaction', params: [{ from: address, chainId, ...tx }] });
    } catch (e) {
      await here(wallet, chainId);
      throw e;
    }
    sent(hash);
    let receipt = null;
    for (let tries = 0; !receipt && tries < 120; tries++) {
      receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] });
      if (receipt) break;
      try { await here(wallet, chainId); } catch (e) {
        if (i === transactions.length - 1) return; // the service sees it
        throw e;
      }
      await new Promise((done) => setTimeout(done, 1000));
    }
    if (receipt?.status !== '0x1') throw new Error(`The transaction ${hash} was not executed.`);
  }
}

// fields reads an unsigned EIP-1559 transaction: 0x02 and a list of RLP.
export function fields(text) {
  const bytes = Uint8Array.from(text.replace(/^0x/, '').match(/../g), (b) => parseInt(b, 16));
  if (bytes[0] !== 2) throw new Error('Only transactions of type 2 are known.');
  const [list] = item(bytes, 1);
  const hex = (b) => '0x' + Array.from(b, (x) => x.toString(16).padStart(2, '0')).join('');
  const number = (b) => '0x' + (hex(b).slice(2).replace(/^0+/, '') || '0');
  const [chainId, nonce, priority, cap, gas, to, value, data] = list;
  return { chainId: number(chainId), nonce: number(nonce), maxPriorityFeePerGas: number(priority), maxFeePerGas: number(cap), gas: number(gas), to: hex(to), value: number(value), data: hex(data) };
}

// item reads what begins at a byte: bytes, or a list, and where the next one begins.
function item(bytes, at) {
  const head = bytes[at];
  if (head < 0x80) return [bytes.slice(at, at + 1), at + 1];
  const list = head >= 0xc0, short = list ? 0xc0 : 0x80;
  let length = head - short, from = at + 1;
  if (length > 55) {
    const size = length - 55;
    length = 0;
    for (let i = 0; i < size; i++) length = length * 256 + bytes[from + i];
    from += size;
  }
  const end = from + length;
  if (end > bytes.length) throw new Error('The transaction is cut off.');
  if (!list) return [bytes.slice(from, end), end];
  const items = [];
  while (from < end) {
    const [value, next] = item(bytes, from);
    items.push(value);
    from = next;
  }
  return [items, end];
}
