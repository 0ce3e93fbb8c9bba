// Where transactions and addresses can be looked up, by the network's name and the chain. The
// local network has no explorer.

const solana = (cluster) => ({ tx: `https://explorer.solana.com/tx/{}${cluster}`, address: `https://explorer.solana.com/address/{}${cluster}` });
const at = (base) => ({ tx: `${base}/tx/{}`, address: `${base}/address/{}` });
const voyager = (base) => ({ tx: `${base}/tx/{}`, address: `${base}/contract/{}` });

const explorers = {
  mainnet: { BITCOIN: at('https://mempool.space'), CITREA: at('https://explorer.mainnet.citrea.xyz'), SOLANA: solana(''), STARKNET: voyager('https://voyager.online') },
  testnet4: { BITCOIN: at('https://mempool.space/testnet4'), CITREA: at('https://explorer.testnet.citrea.xyz'), SOLANA: solana('?cluster=devnet'), STARKNET: voyager('https://sepolia.voyager.online') },
};

// explorer is a link to a "tx" or an "address", undefined where there is none.
export function explorer(network, chain, kind, id) {
  return explorers[network]?.[chain]?.[kind].replace('{}', encodeURIComponent(id));
}
