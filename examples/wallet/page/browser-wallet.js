// A wallet of the browser (EIP-1193), for transactions of EVM chains. Such wallets do not
// hand out signed transactions: they send them, and the service sees them on the chain.

// connect asks for the account; changed is told of another one, or undefined if it is gone.
// The chains are what the wallet is told of a chain that it does not know (EIP-3085).
export async function connect(chains, changed) {
  const provider = window.ethereum;
  if (!provider) throw new Error('This browser has no wallet. The test wallet pays instead.');
  const [address] = await provider.request({ method: 'eth_requestAccounts' });
  provider.on?.('accountsChanged', ([next]) => changed(next));
  return { provider, address, chains: Object.values(chains) };
}

// onChain brings the wallet to a chain, and tells it of the chain if it does not know it
// (EIP-3326: 4902).
async function onChain({ provider, chains }, chainId) {
  const change = () => provider.request({ method: 'wallet_switchEthereumChain', params: [{ chainId }] });
  try {
    await change();
  } catch (e) {
    const chain = (e.code ?? e.data?.originalError?.code) === 4902 && chains.find((c) => c.chainId === chainId);
    if (!chain) throw e;
    await provider.request({ method: 'wallet_addEthereumChain', params: [chain] });
    await change();
  }
}

// send has the wallet send transactions, each after the one before it is in a block. sent is
// told of each that the wallet has sent.
export async function send(wallet, transactions, sent) {
  const { provider, address } = wallet;
  for (const text of transactions) {
    const { chainId, ...tx } = fields(text);
    await onChain(wallet, chainId);
    const hash = await provider.request({ method: 'eth_sendTransaction', params: [{ from: address, ...tx }] });
    sent(hash);
    let receipt = null;
    for (let tries = 0; !receipt && tries < 120; tries++) {
      receipt = await provider.request({ method: 'eth_getTransactionReceipt', params: [hash] });
      if (!receipt) await new Promise((done) => setTimeout(done, 1000));
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
