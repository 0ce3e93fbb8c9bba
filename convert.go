package swapper

import (
	"context"
	"encoding/json"
	"math/big"
	"strconv"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/swap"
	"github.com/swapper-go/swapper/storage"
	"github.com/swapper-go/swapper/tokens"
)

// base is what every operation shows of a swap, to its owner or to others: v is the view
// for them.
func (c *Client) base(r *swap.Record, v swap.View, owned bool) SwapOutputBase {
	return SwapOutputBase{
		SwapID:   r.ID,
		SwapType: SwapType(r.Type.String()),
		State:    SwapState{Number: r.State, Name: v.Row.Name, Description: v.Row.Description},
		Quote: SwapQuote{
			InputAmount:   AmountOf(r.Terms.Input),
			OutputAmount:  AmountOf(r.Terms.Output),
			Fees:          SwapQuoteFees{Swap: AmountOf(r.Terms.SwapFee), NetworkOutput: amountOrNone(r.Terms.NetworkFee), NetworkInput: minersOf(r)},
			Expiry:        timestampOf(r.Expiry),
			OutputAddress: r.Terms.Recipient,
		},
		CreatedAt: timestampOf(r.CreatedAt),
		Steps:     stepsOf(v.Steps),
		LNURL:     lnurlOf(r, owned),
		Flags:     flagsOf(r),
	}
}

// listed is a record as lists show it to a caller: by itself, without asking anybody.
func (c *Client) listed(ctx context.Context, r *swap.Record) ListSwapOutput {
	v := c.engine.StoredView(r)
	return withFlags(c.base(r, v, owns(ctx, "")(r)), v.Row)
}

func withFlags(base SwapOutputBase, row swap.StateRow) ListSwapOutput {
	return ListSwapOutput{SwapOutputBase: base, IsFinished: row.Finished, IsSuccess: row.Success, IsFailed: row.Failed, IsExpired: row.Expired}
}

// minersOf is what Bitcoin's miners get beside the input amount.
func minersOf(r *swap.Record) *Amount {
	if r.Bitcoin == nil || r.Bitcoin.MinerSats == 0 {
		return nil
	}
	return bitcoinAmount(r.Bitcoin.MinerSats)
}

func bitcoinAmount(sats int64) *Amount {
	a := AmountOf(tokens.NewAmount(big.NewInt(sats), tokens.BTC()))
	return &a
}

func amountOrNone(a *tokens.Amount) *Amount {
	if a == nil {
		return nil
	}
	out := AmountOf(*a)
	return &out
}

func stepsOf(steps []swap.Step) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[i] = Step{
			Type: string(s.Type), Side: sideOf(s.Type), Chain: s.Chain, Title: s.Title, Description: s.Description, Status: string(s.Status),
			SetupTxID: s.SetupTx, InitTxID: s.InitTx, SettleTxID: s.SettleTx, RefundTxID: s.RefundTx,
		}
		if n := s.Confirmations; n != nil {
			out[i].Confirmations = &Confirmations{Current: n.Current, Target: n.Target, ETA: time.Duration(n.ETASeconds) * time.Second}
		}
	}
	return out
}

func sideOf(t swap.StepType) string {
	if t := string(t); t == stepPayment || t == stepRefund {
		return sideSource
	}
	return sideDestination
}

// lnurlOf shows the link of a swap, and what the paid service says once the
// preimage is known. A success action that cannot be decoded is left out. A link that pays
// out, and what the service says to its payer, are for the swap's owner.
func lnurlOf(r *swap.Record, owned bool) *SwapOutputLNURL {
	l := r.Lightning
	if l == nil || l.Link == "" {
		return nil
	}
	if r.Type != swap.ToBTCLN {
		if !owned {
			return nil
		}
		return &SwapOutputLNURL{Withdraw: l.Link}
	}
	out := &SwapOutputLNURL{Pay: l.Link}
	if !owned || l.Preimage.IsZero() || len(l.SuccessAction) == 0 {
		return out
	}
	var action lnurl.SuccessAction
	if json.Unmarshal(l.SuccessAction, &action) != nil {
		return out
	}
	if d := action.Decode(l.Preimage[:]); d != nil {
		out.SuccessAction = &SuccessAction{Description: d.Description, Text: orEmpty(d.Text), URL: orEmpty(d.URL)}
	}
	return out
}

func flagsOf(r *swap.Record) *SwapOutputFlags {
	if r.Type != swap.ToBTCLN {
		return nil
	}
	f := &SwapOutputFlags{LightningPaymentWithLongHTLCExpiration: r.Terms.LongHTLC}
	if r.Lightning == nil {
		return f
	}
	f.LightningRecipientIsNonCustodialWallet = r.Lightning.NonCustodial
	f.LightningPaymentWillLikelyFail = r.Lightning.LikelyFails
	return f
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// actionOf is an action with everything a wallet needs.
func actionOf(t swap.BuiltAction) Action {
	switch a := t.Action.(type) {
	case *swap.Pay:
		kind := "BITCOIN_ADDRESS"
		if a.Invoice {
			kind = "BOLT11_PAYMENT_REQUEST"
		}
		return &SendToAddress{Name: a.Name, Description: a.Description, Chain: a.Chain,
			Txs: []SendToAddressTx{{Type: kind, Address: a.To, Hyperlink: a.Link, Amount: AmountOf(a.Amount)}}}
	case *swap.Wait:
		return &Wait{Name: a.Name, Description: a.Description, ExpectedTime: time.Duration(a.ExpectedSeconds) * time.Second, PollTime: time.Duration(a.PollSeconds) * time.Second}
	case *swap.Sign:
		return &SignSmartChainTransaction{Name: a.Name, Description: a.Description,
			Chain: a.Chain, Txs: t.Txs, RequiredSigner: t.Signer}
	case *swap.Fund:
		sign := &SignPSBT{Name: a.Name, Description: a.Description, Chain: tokens.Bitcoin}
		if t.Raw != nil {
			sign.Raw = []RawPSBT{{PSBTHex: t.Raw.PSBT.Hex(), PSBTBase64: t.Raw.PSBT.Base64(), In1Sequence: t.Raw.Sequence, FeeRate: t.Raw.FeeRate, MaxNetworkFee: bitcoinAmount(t.Raw.MaxFee)}}
		}
		if t.Funded != nil {
			sign.Funded = []FundedPSBT{{PSBTHex: t.Funded.PSBT.Hex(), PSBTBase64: t.Funded.PSBT.Base64(), SignInputs: t.Funded.SignInputs, FeeRate: t.Funded.FeeRate, NetworkFee: bitcoinAmount(t.Funded.Fee)}}
		}
		return sign
	}
	return nil
}

// vaultOf names the vault of a swap through one.
func vaultOf(r *swap.Record) *VaultInfo {
	if r.Vault == nil || r.Vault.VaultID == nil {
		return nil
	}
	return &VaultInfo{Owner: r.Vault.Owner, VaultID: r.Vault.VaultID.String()}
}

// escrowOf shows the escrow of a swap once there is real data of it.
func (c *Client) escrowOf(r *swap.Record) *EscrowInfo {
	if r.Escrow == nil || r.Escrow.Real == nil {
		return nil
	}
	ch, ok := c.byID[r.Chain]
	if !ok {
		return nil
	}
	k, ok := ch.Contract(r.Contract)
	if !ok {
		return nil
	}
	data, err := k.Public(*r.Escrow.Real)
	if err != nil {
		c.config.Logger.Warn("encoding the escrow for display failed", "swap", storage.Label(r.ID), "err", err)
		return nil
	}
	info := &EscrowInfo{Data: data, InitTxID: r.Escrow.InitTx}
	switch b := r.Bitcoin; {
	case b == nil:
	case r.Escrow.Real.Kind == chains.OnchainNonced:
		info.Nonce, info.Confirmations = strconv.FormatUint(b.Nonce, 10), int(b.Confirmations)
	case r.Escrow.Real.Kind == chains.Onchain:
		info.Address, info.Confirmations = b.Address, int(b.Confirmations)
	}
	return info
}
