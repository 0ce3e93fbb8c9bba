package wire

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestVectorsConstants(t *testing.T) {
	vectors.Each(t, "chain-starknet", "constants", func(t *testing.T, c *vectors.Case) {
		var in struct {
			BitcoinNetwork string
			Names          []string
		}
		c.Input(t, &in)
		switch {
		case c.Name == "deployment REGTEST fails":
			if _, ok := NetworkFor(bitcoin.Regtest); ok {
				t.Error("there is a preset for regtest")
			}
		case in.BitcoinNetwork != "":
			n, d := networkOf(t, in.BitcoinNetwork), deploymentOf(t, in.BitcoinNetwork)
			if err := n.Validate(); err != nil {
				t.Error(err)
			}
			handlers := map[string]string{}
			for k, at := range d.ClaimHandlers {
				handlers[chains.Kind(k).String()] = Hex64(at)
			}
			grace := func(seconds float64) int { return int(seconds) }
			vectors.SameJSON(t, c.Want(t), map[string]any{
				"starknetChainId": Hex(n.ChainIDFelt()), "starknetChainIdText": n.ChainID,
				"escrowManager": Hex64(d.EscrowManager.Address), "escrowManagerDeploymentHeight": d.EscrowManager.Height,
				"spvVaultManager": Hex64(d.VaultManager.Address), "spvVaultManagerDeploymentHeight": d.VaultManager.Height,
				"btcRelay": Hex64(d.BtcRelay.Address), "btcRelayDeploymentHeight": d.BtcRelay.Height,
				"claimHandlers": handlers, "timelockRefundHandler": Hex64(d.RefundHandler), "nativeToken": Hex64(STRK),
				"timeouts": map[string]any{"claimWithSecret": actionTimeout, "claimWithTxData": actionTimeout, "refund": actionTimeout, "spvClaim": actionTimeout,
					"claimGracePeriod": grace(chains.ClaimGrace.Seconds()), "refundGracePeriod": grace(chains.RefundGrace.Seconds()), "authGracePeriod": grace(chains.AuthGrace.Seconds())},
				"limits":                     map[string]int{"maxClaimsPerTx": MaxVaultClaims, "maxHeadersPerTx": MainHeaders, "maxForkHeadersPerTx": ForkHeaders, "maxShortForkHeadersPerTx": MainHeaders},
				"supportsInitWithoutClaimer": true, // what [SwapData.WithClaimer] is for
			})
		case c.Name == "tokens":
			var want map[string]struct {
				Address                   string
				Decimals, DisplayDecimals int
			}
			c.Expected(t, &want)
			known := tokens.Known("STARKNET")
			native, ok := tokens.Native("STARKNET")
			if !ok || len(known) != len(want) || native.Address != Hex64(STRK) {
				t.Fatalf("%d tokens, %d wanted; native is %s", len(known), len(want), native.Address)
			}
			for _, token := range known {
				w := want[token.Ticker]
				if w.DisplayDecimals == 0 {
					w.DisplayDecimals = w.Decimals
				}
				if token.Address != w.Address || token.Decimals != w.Decimals || token.DisplayDecimals != w.DisplayDecimals {
					t.Errorf("%+v, want %+v", token, w)
				}
			}
		case in.Names != nil:
			got := map[string]string{}
			for _, name := range in.Names {
				got[name] = Hex(Selector(name))
			}
			vectors.SameJSON(t, c.Want(t), got)
		case c.Name == "gas limits":
			type row = map[string]uint64
			of := func(g Gas) row { return row{"l1Gas": g.L1, "l2Gas": g.L2, "l1DataGas": g.L1Data} }
			var want map[string]json.RawMessage
			c.Expected(t, &want)
			delete(want, "lpVault") // what providers send
			want["spvVault"], _ = json.Marshal(vectors.Without(t, want["spvVault"], "DEPOSIT", "OPEN", "FRONT"))
			vectors.SameJSON(t, vectors.JSON(t, want), map[string]any{
				"init":     map[string]row{"INIT": of(gasInit), "INIT_PAY_IN": of(gasInitPayIn)},
				"claim":    map[string]row{"CLAIM": of(gasClaim), "CLAIM_PAY_OUT": of(gasClaimPayOut)},
				"refund":   map[string]row{"REFUND": of(gasRefund), "REFUND_PAY_OUT": of(gasRefundPayIn)},
				"tokens":   map[string]row{"TRANSFER": of(gasTransfer), "APPROVE": of(gasApprove)},
				"spvVault": map[string]row{"CLAIM": of(gasVaultClaim), "CLAIM_OPTIMISTIC_ESTIMATE": of(gasVaultGuess)},
				"handlers": map[string]row{"HTLC": of(handlerGas(chains.HTLC)), "CHAIN": of(handlerGas(chains.Onchain)), "CHAIN_NONCED": of(handlerGas(chains.OnchainNonced)),
					"CHAIN_TXID": of(handlerGas(chains.OnchainTxID)), "timelockRefund": of(gasTimelock)},
			})
		default:
			t.Fatalf("unknown case %s", c.Name)
		}
	})
}

// A network with a hole in it would send money to the zero address.
func TestNetworkValidate(t *testing.T) {
	good := func() Network { return networkOf(t, "MAINNET") }
	for name, break_ := range map[string]func(n *Network){
		"no chain id":                func(n *Network) { n.ChainID = "" },
		"a long chain id":            func(n *Network) { n.ChainID = strings.Repeat("A", 32) },
		"a chain id with a blank":    func(n *Network) { n.ChainID = "SN MAIN" },
		"no Bitcoin":                 func(n *Network) { n.Bitcoin = -1 },
		"no deployment":              func(n *Network) { n.Deployments = nil },
		"no version":                 func(n *Network) { n.Deployments[0].Version = "" },
		"a version twice":            func(n *Network) { n.Deployments = append(n.Deployments, n.Deployments[0]) },
		"no escrow manager":          func(n *Network) { n.Deployments[0].EscrowManager.Address = Felt{} },
		"no vault manager":           func(n *Network) { n.Deployments[0].VaultManager.Address = Felt{} },
		"no relay":                   func(n *Network) { n.Deployments[0].BtcRelay.Address = Felt{} },
		"no refund handler":          func(n *Network) { n.Deployments[0].RefundHandler = Felt{} },
		"no claim handler":           func(n *Network) { n.Deployments[0].ClaimHandlers[2] = Felt{} },
		"a handler for two kinds":    func(n *Network) { n.Deployments[0].ClaimHandlers[2] = n.Deployments[0].ClaimHandlers[0] },
		"a relay beyond addresses":   func(n *Network) { n.Deployments[0].BtcRelay.Address = firstBeyond },
		"a handler beyond addresses": func(n *Network) { n.Deployments[0].ClaimHandlers[1] = firstBeyond },
	} {
		n := good()
		if break_(&n); n.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, id := range []string{strings.Repeat("A", 31), "!", "~"} {
		n := good()
		if n.ChainID = id; n.Validate() != nil {
			t.Errorf("%s: %v", id, n.Validate())
		}
	}
	n := good()
	for id, own := range map[string]bool{Mainnet: true, Sepolia: false, "SN_OTHER": false} {
		if err := n.CheckChainID(ShortString(id)); (err == nil) != own {
			t.Errorf("%s: %v", id, err)
		}
	}
	if all := n.Contracts(); len(all) != 8 {
		t.Errorf("%d contracts", len(all))
	}
	if _, ok := n.Deployments[0].KindOf(STRK); ok {
		t.Error("STRK is a claim handler")
	}
}
