package evm

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/evm/rpc"
	"github.com/swapper-go/swapper/internal/evm/wire"
	"github.com/swapper-go/swapper/internal/settle"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/internal/vectors"
	"github.com/swapper-go/swapper/tokens"
)

func TestVectorsNetworks(t *testing.T) {
	t.Parallel()
	type token struct {
		Address         string `json:"address"`
		Decimals        int    `json:"decimals"`
		DisplayDecimals int    `json:"displayDecimals"`
	}
	type answer struct {
		Error                      bool
		EVMChainID                 int64
		EscrowManager              string
		EscrowManagerHeight        uint64
		SpvVaultManager            string
		SpvVaultManagerHeight      uint64
		BtcRelay                   string
		BtcRelayHeight             uint64
		ClaimHandlers              map[string]string
		TimelockRefundHandler      string
		MaxFeeRatePerGas           uint64 `json:",string"`
		PriorityFee                uint64 `json:",string"`
		FeeMultiplierPPM           uint64 `json:",string"`
		Tokens                     map[string]token
		Timeouts                   map[string]int
		SupportsInitWithoutClaimer bool
		MaxHeadersPerTx            int
		MaxForkHeadersPerTx        int
		Config                     struct {
			SafeBlockTag           string
			FinalizedBlockTag      string
			MaxLogsBlockRange      int
			MaxLogTopics           int
			MaxParallelLogRequests int
			MaxParallelCalls       int
			FinalityCheckStrategy  struct {
				Type    string
				DelayMs int
			}
		}
	}
	vectors.Each(t, "chain-evm", "networks", func(t *testing.T, c *vectors.Case) {
		var in struct{ Chain, BitcoinNetwork string }
		c.Input(t, &in)
		var want answer
		c.Expected(t, &want)
		n, err := wire.Preset(in.Chain, bitcoinNetwork(t, in.BitcoinNetwork))
		bare := !want.Error && err != nil // what the reference sets up without contracts
		if want.Error || bare {
			if fault.CodeOf(err) != fault.Unsupported {
				t.Fatalf("got %+v, %v; want a refusal", n, err)
			}
		}
		if want.Error {
			return
		}
		if bare {
			c.Differ(t, "evm-no-contracts")
			n, err = wire.Preset(in.Chain, bitcoin.Testnet4) // of the same chain
		}
		if err != nil {
			t.Fatal(err)
		}
		trial.Do(t, n.Validate())
		d := n.Deployments[0]
		got := answer{
			EVMChainID:    int64(n.ChainID),
			EscrowManager: d.EscrowManager.Address.Hex(), EscrowManagerHeight: d.EscrowManager.Height,
			SpvVaultManager: d.VaultManager.Address.Hex(), SpvVaultManagerHeight: d.VaultManager.Height,
			BtcRelay: d.BtcRelay.Address.Hex(), BtcRelayHeight: d.BtcRelay.Height,
			ClaimHandlers:         map[string]string{},
			TimelockRefundHandler: d.RefundHandler.Hex(),
			MaxFeeRatePerGas:      n.MaxBaseFee, PriorityFee: n.PriorityFee, FeeMultiplierPPM: n.FeePPM,
			Tokens: map[string]token{},
			Timeouts: map[string]int{
				"claimWithSecret": int(settle.SendTimeout / time.Second), "claimWithTxData": int(settle.SendTimeout / time.Second),
				"refund": int(settle.SendTimeout / time.Second), "spvClaim": int(settle.SendTimeout / time.Second),
				"claimGrace": int(chains.ClaimGrace / time.Second), "refundGrace": int(chains.RefundGrace / time.Second),
				"authGrace": int(chains.AuthGrace / time.Second),
			},
			SupportsInitWithoutClaimer: true,
			MaxHeadersPerTx:            wire.MainHeaders, MaxForkHeadersPerTx: wire.ForkHeaders,
		}
		for _, k := range []chains.Kind{chains.HTLC, chains.Onchain, chains.OnchainNonced, chains.OnchainTxID} {
			got.ClaimHandlers[k.String()] = d.ClaimHandlers[k].Hex()
		}
		for _, tok := range tokens.Known(in.Chain) {
			got.Tokens[tok.Ticker] = token{tok.Address, tok.Decimals, tok.DisplayDecimals}
		}
		got.Config.SafeBlockTag, got.Config.FinalizedBlockTag = n.SafeTag, n.FinalizedTag
		got.Config.MaxLogsBlockRange, got.Config.MaxLogTopics = rpc.LogRange, rpc.LogTopicValues
		got.Config.MaxParallelLogRequests, got.Config.MaxParallelCalls = rpc.ParallelLogReads, rpc.ParallelCalls
		got.Config.FinalityCheckStrategy = want.Config.FinalityCheckStrategy // here every look brings the final head along
		if bare {
			got.EVMChainID = map[string]int64{"ALPEN": -1, "GOAT": 2345}[in.Chain] // -1 while there is none
			got.EscrowManager, got.SpvVaultManager, got.BtcRelay, got.TimelockRefundHandler = "", "", "", ""
			got.EscrowManagerHeight, got.SpvVaultManagerHeight, got.BtcRelayHeight = 0, 0, 0
			for k := range got.ClaimHandlers {
				got.ClaimHandlers[k] = ""
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("network differs (-want +got):\n%s", diff)
		}
	})
}
