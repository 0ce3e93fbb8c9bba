package devnet

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/swapper-go/swapper/chains"
	chainevm "github.com/swapper-go/swapper/chains/evm"
	chainstarknet "github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/tokens"
)

// seed is a key that everybody knows.
func seed(name string) []byte {
	h := sha256.Sum256([]byte(name))
	return h[:]
}

// Description is what a client of the network needs to know, and the keys of its
// users. They are worth nothing.
type Description struct {
	Bitcoin struct {
		Network string `json:"network"`
		REST    string `json:"rest"` // mempool.space's API
	} `json:"bitcoin"`
	EVM struct {
		Chain     string            `json:"chain"`
		ChainID   uint64            `json:"chainId"`
		RPC       string            `json:"rpc"`
		Version   string            `json:"contractVersion"`
		Contracts map[string]string `json:"contracts"`
		Tokens    map[string]string `json:"tokens"` // ticker to address

		L1Fee bool `json:"l1Fee"` // blocks have the field l1FeeRate

		// The same in the library's own types, for a client's configuration.
		Network chainevm.Network `json:"network"`
		Listed  []tokens.Token   `json:"listed"`
	} `json:"evm"`
	Solana   *SolanaDescription   `json:"solana,omitempty"`   // if the network has it
	Starknet *StarknetDescription `json:"starknet,omitempty"` // the same

	LPs    []string          `json:"lps"`
	Prices map[string]string `json:"prices"` // base URLs of the services
	Nostr  string            `json:"nostr"`  // relay that the watchtower listens to
	LNURL  struct {
		Pay      string `json:"pay"`      // link of somebody who is paid
		Withdraw string `json:"withdraw"` // link that pays once; both over http on loopback

		// The same shop over HTTPS: its Lightning address, the host to dial for its
		// domain, and the certificate to accept, PEM.
		Address string `json:"address"`
		Domain  string `json:"domain"`
		Host    string `json:"host"`
		CA      string `json:"ca"`
	} `json:"lnurl"`
	Control string `json:"control,omitempty"` // base URL of the control calls, if they are served; see package control
	Clock   string `json:"clock,omitempty"`   // and of the one that tells the time
	Users   struct {
		EVM       Key `json:"evm"`
		LP        Key `json:"lp"`
		Tower     Key `json:"watchtower"`
		Bitcoin   Key `json:"bitcoin"` // P2WPKH
		Taproot   Key `json:"taproot"`
		Lightning Key `json:"lightning"` // node id; the process pays for it
		Solana    Key `json:"solana"`    // the private key is seed and public key, 64 bytes
		Starknet  Key `json:"starknet"`  // an account of OpenZeppelin's class
	} `json:"users"`
}

// SolanaDescription is the part about Solana. Addresses and hashes are base58.
type SolanaDescription struct {
	Chain    string                      `json:"chain"`
	RPC      string                      `json:"rpc"`
	Socket   string                      `json:"websocket"`
	Genesis  string                      `json:"genesis"`
	Version  string                      `json:"programVersion"` // that the LPs use
	Programs map[string]SolanaDeployment `json:"programs"`       // by version
	Tokens   map[string]string           `json:"tokens"`         // ticker to mint
	Listed   []tokens.Token              `json:"listed"`         // the same in the library's own type
}

// SolanaDeployment is one version of the swap program with its Bitcoin relay.
type SolanaDeployment struct {
	Swap  string `json:"swapProgram"`
	Relay string `json:"btcRelay"`
}

// StarknetDescription is the part about Starknet.
type StarknetDescription struct {
	Chain   string            `json:"chain"`
	RPC     string            `json:"rpc"`
	ChainID string            `json:"chainId"` // as nodes name it
	Tokens  map[string]string `json:"tokens"`  // ticker to address

	// The same in the library's own types, for a client's configuration.
	Network chainstarknet.Network `json:"network"`
	Listed  []tokens.Token        `json:"listed"`
}

// Key is an address and its private key in hex.
type Key struct {
	Address   string `json:"address,omitempty"`
	Key       string `json:"privateKey,omitempty"`
	PublicKey string `json:"publicKey,omitempty"`
}

// Describe returns the network's description.
func (n *Net) Describe() (d Description) {
	d.Bitcoin.Network, d.Bitcoin.REST = n.Bitcoin.Network().String(), n.Bitcoin.URL()
	network, c := n.EVM.Config(), n.EVM.Contracts()
	d.EVM.Chain, d.EVM.ChainID, d.EVM.RPC, d.EVM.Version = network.Chain, network.ChainID, n.EVM.URL(), c.Version
	d.EVM.Contracts = map[string]string{
		"escrowManager": c.EscrowManager.Address.Hex(), "btcRelay": c.BtcRelay.Address.Hex(), "vaultManager": c.VaultManager.Address.Hex(),
		"execution": c.Execution.Hex(), "timelockRefundHandler": c.RefundHandler.Hex(), "wrappedNative": c.Wrapped.Hex(),
		"hashlockClaimHandler": c.ClaimHandlers[chains.HTLC].Hex(), "outputClaimHandler": c.ClaimHandlers[chains.Onchain].Hex(),
		"noncedOutputClaimHandler": c.ClaimHandlers[chains.OnchainNonced].Hex(), "txIdClaimHandler": c.ClaimHandlers[chains.OnchainTxID].Hex(),
	}
	d.EVM.Network, d.EVM.Listed = network, n.Tokens()
	d.EVM.Tokens = make(map[string]string)
	for _, t := range n.Tokens() {
		d.EVM.Tokens[t.Ticker] = t.Address
	}
	d.LPs = n.LPURLs()
	if n.Solana != nil {
		d.Solana = n.describeSolana()
		d.Users.Solana = Key{Address: n.Solana.User.Address.String(), Key: n.Solana.User.KeyHex()}
	}
	if n.Starknet != nil {
		d.Starknet = n.describeStarknet()
		k := n.Starknet.User.Key
		d.Users.Starknet = Key{wire.Hex64(k.Address()), k.Secret(), wire.Hex64(k.Public())}
	}
	d.Nostr = n.Nostr.URL()
	d.EVM.L1Fee = network.StateDiffFee
	d.LNURL.Pay, d.LNURL.Withdraw, d.LNURL.Address = n.Alice.LNURL, n.Voucher.LNURL, n.Alice.Identifier
	d.LNURL.Domain, d.LNURL.Host, d.LNURL.CA = lightning.Domain, n.LNURL.SecureHost(), string(n.LNURL.Certificate())
	d.Prices = make(map[string]string)
	for _, who := range Services() {
		d.Prices[string(who)] = n.Prices.baseURL(who)
	}
	account := func(a *evm.Account) Key { return Key{Address: a.Address.Hex(), Key: a.KeyHex()} }
	d.Users.EVM, d.Users.LP, d.Users.Tower = account(n.EVM.User), account(n.EVM.LP), account(n.EVM.Watchtower)
	d.Users.Bitcoin = Key{n.Wallet.Address.String(), hex.EncodeToString(seed("local network user " + n.Wallet.Address.Type().String())), n.Wallet.PublicKey()}
	d.Users.Taproot = Key{n.Taproot.Address.String(), hex.EncodeToString(seed("local network user " + n.Taproot.Address.Type().String())), n.Taproot.PublicKey()}
	d.Users.Lightning = Key{PublicKey: n.Payer.ID()}
	return d
}
