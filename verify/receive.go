package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/address"
	"github.com/swapper-go/swapper/internal/btc/single"
	"github.com/swapper-go/swapper/internal/lnurl"
	"github.com/swapper-go/swapper/internal/lp"
	lpverify "github.com/swapper-go/swapper/internal/lp/verify"
	"github.com/swapper-go/swapper/tokens"
)

// types are the types of swaps that are verified from a token of bitcoin to a chain; the
// chain's contracts decide.
func types(to chains.Chain, from tokens.Token) (all []swapper.SwapType) {
	if to == nil {
		return nil
	}
	for _, version := range to.Info().Versions {
		switch {
		case from == tokens.LightningBTC() && version.LPInit:
			all = append(all, swapper.SwapFromBTCLNAuto)
		case from == tokens.LightningBTC():
			all = append(all, swapper.SwapFromBTCLN)
		case from == tokens.BTC() && version.Vaults:
			all = append(all, swapper.SwapSPVVaultFromBTC)
		case from == tokens.BTC():
			all = append(all, swapper.SwapFromBTC)
		}
	}
	return all
}

// received reads what a request says of every swap to a smart chain.
func (v *verifier) received(o *opened, t *terms, in swapper.CreateSwapInput) (err error) {
	chain := o.byID[t.Dst.Chain]
	all := slices.Concat(types(chain, t.Src), v.trusted(o, *t))
	switch {
	case len(all) == 0:
		return fault.New(fault.Unsupported, "swaps from %s to %s are not verified", t.Src, t.Dst)
	case in.GasAmount != nil && in.GasAmount.Sign() != 0:
		return fault.New(fault.Unsupported, "gas that comes with a swap is not verified")
	case in.LightningPaymentHTLCTimeout != nil || in.LightningPaymentMaxHTLCTimeout != nil:
		return fault.Invalid("lightningPaymentHTLCTimeout", "applies only to swaps to Lightning")
	}
	t.Type = all[0]
	t.Recipient, err = chain.Address(address.Strip(in.DstAddress))
	return fault.At("dstAddress", err)
}

// fromBitcoin reads what a request says of a swap from Bitcoin.
func (v *verifier) fromBitcoin(o *opened, t *terms, in swapper.CreateSwapInput) error {
	for field, given := range map[string]string{"paymentHash": in.PaymentHash, "lightningInvoiceDescription": in.LightningInvoiceDescription, "lightningInvoiceDescriptionHash": in.LightningInvoiceDescriptionHash} {
		if given != "" {
			return fault.Invalid(field, "applies only to swaps from Lightning")
		}
	}
	if err := v.reachesFrom(t.Src); err != nil {
		return fault.At("srcToken", err)
	}
	if _, err := io.ReadFull(v.config.Rand, t.Seed[:]); err != nil {
		return fmt.Errorf("make a seed: %w", err)
	}
	if err := v.received(o, t, in); err != nil || t.Type != swapper.SwapFromBTC {
		return err
	}
	_, err := single.Index(v.config.Bitcoin) // the payment is found by it
	return fault.At("srcToken", err)
}

// fromLightning reads what a request says of a swap from Lightning, and makes its secret
// unless the wallet has one.
func (v *verifier) fromLightning(o *opened, t *terms, in swapper.CreateSwapInput) (err error) {
	if in.PaymentHash == "" && in.IdempotencyKey != "" {
		return fault.Invalid("idempotencyKey", "needs a paymentHash beside it: else every call makes a secret of its own")
	}
	if err := v.received(o, t, in); err != nil {
		return err
	}
	if in.SrcAddress != "" {
		if t.Link, err = readLink("srcAddress", in.SrcAddress, lnurl.TagWithdraw); err != nil {
			return err
		}
	}
	t.Description, t.DescHash = in.LightningInvoiceDescription, in.LightningInvoiceDescriptionHash
	if in.PaymentHash != "" {
		hash, err := hex.DecodeString(in.PaymentHash)
		if err != nil {
			return fault.Invalid("paymentHash", "must be 64 hexadecimal digits")
		}
		t.Hash = [32]byte(hash)
		return nil
	}
	if _, err := io.ReadFull(v.config.Rand, t.Preimage[:]); err != nil {
		return fmt.Errorf("make a secret: %w", err)
	}
	t.Hash = sha256.Sum256(t.Preimage[:])
	return nil
}

// learn takes the secret of a wallet that keeps it.
func (t *terms) learn(secret swapper.Secret) error {
	p, err := hex.DecodeString(secret.Reveal())
	if err != nil || len(p) != len(t.Preimage) || sha256.Sum256(p) != t.Hash {
		return fault.Invalid("secret", "is not the preimage of the swap's payment hash")
	}
	t.Preimage = chains.Preimage(p)
	return nil
}

// receive completes the status of a swap from Lightning: the invoice before the payment,
// the secret once the wallet's own nodes show the escrow, and the claim if no watchtower makes it.
func (v *verifier) receive(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, fact *chains.EscrowFact, refused error) (*swapper.GetSwapStatusOutput, error) {
	open := fact != nil && fact.Err == nil && fact.State == chains.EscrowOpen
	if refused != nil && (fact == nil || fact.Err != nil) {
		return nil, refused
	}
	out := &swapper.GetSwapStatusOutput{ListSwapOutput: v.byEscrowNow(in.SwapID, t, stateTold(got, refused), fact)}
	if open && !t.Revealed.IsZero() { // the secret is out: only the claim counts
		return out, v.claim(ctx, o, in, t, got, out)
	}
	if open && fact.Final && t.Type == swapper.SwapFromBTCLN {
		return out, v.firstClaim(ctx, o, version, t, in, got, fact, out)
	}
	if refused != nil || out.IsFinished || !t.Revealed.IsZero() {
		return out, nil
	}
	if got.RequiresSecretReveal != nil && *got.RequiresSecretReveal && t.Type == swapper.SwapFromBTCLNAuto {
		return out, v.reveal(ctx, o, version, t, in, got, out)
	}
	switch a := got.CurrentAction.(type) {
	case nil:
		if got.RequiresSecretReveal != nil && *got.RequiresSecretReveal {
			out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: "the service wants the secret before the escrow is open, with which it could take the payment and keep the escrow from being opened; it does not get it"}
		}
	case *swapper.Wait:
		out.CurrentAction = wait(a)
	case *swapper.SendToAddress:
		pay, err := v.invoice(ctx, in.SwapID, version, t, a)
		if err != nil {
			return nil, err
		}
		out.CurrentAction = pay
	default:
		if _, signs := a.(*swapper.SignSmartChainTransaction); signs && t.Type == swapper.SwapFromBTCLN && !open {
			sign, err := v.userOpening(ctx, o, in.SwapID, version, t, got, fact)
			if err != nil {
				return nil, err
			}
			out.CurrentAction = sign
			break
		}
		out.ActionError = &swapper.ActionError{Code: fault.Unsupported, Error: fmt.Sprintf("the service's action %s is not verified yet, and is withheld", a.Type())}
	}
	return out, nil
}

// invoice verifies the payment that the service asks for. A swap has one invoice.
func (v *verifier) invoice(ctx context.Context, id string, version uint64, t terms, said *swapper.SendToAddress) (*swapper.SendToAddress, error) {
	const field = "currentAction.txs"
	if len(said.Txs) != 1 || said.Chain != tokens.Lightning || said.Txs[0].Type != "BOLT11_PAYMENT_REQUEST" {
		return nil, &RefusedError{Reason: reasonAction, Field: field, Said: fmt.Sprintf("%d payments on %s", len(said.Txs), said.Chain), True: "the payment of one invoice"}
	}
	text := said.Txs[0].Address
	if t.Invoice != "" {
		if err := same(reasonAgreed, field+"[0].address", text, t.Invoice); err != nil {
			return nil, err
		}
	}
	_, err := lpverify.InvoiceTold(lpverify.Agreed{Now: v.config.Now()},
		lpverify.InvoiceExpected{Network: v.config.Network, PaymentHash: t.Hash, Description: t.Description, DescriptionHash: t.DescHash}, text, t.Input)
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return nil, &RefusedError{Reason: reasonAction, Field: field + "[0].address", Said: text, True: bad.Public(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	if t.Invoice == "" {
		t.Invoice = text
		if err := v.keep(ctx, id, version, t); err != nil {
			return nil, err
		}
	}
	amount := tokens.NewAmount(t.Input, t.Src)
	return &swapper.SendToAddress{Name: "Deposit on Lightning", Chain: tokens.Lightning,
		Description: fmt.Sprintf("Pays %s over Lightning. The payment is held until the wallet's own nodes show %s for %s in the swap contract, and comes back if they do not.",
			amount, tokens.NewAmount(t.Output, t.Dst), t.Recipient),
		Txs: swapper.List[swapper.SendToAddressTx]{{Type: "BOLT11_PAYMENT_REQUEST", Address: text, Hyperlink: "lightning:" + text, Amount: swapper.AmountOf(amount)}}}, nil
}

// reveal tells the service the secret, if the wallet's own nodes show the agreed escrow
// open, final, and with time left. That it may be known from then on is stored before.
func (v *verifier) reveal(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, out *swapper.GetSwapStatusOutput) error {
	if t.Preimage.IsZero() {
		ask := true
		out.RequiresSecretReveal = &ask
		return nil
	}
	e, err := v.delivered(ctx, o, t, got.Escrow)
	if err != nil {
		return err
	}
	if e == nil { // not final yet, or not to be seen yet
		out.CurrentAction = &swapper.Wait{Name: "Awaiting LP payout", Description: "The wallet's own nodes do not show the escrow open and final yet.", ExpectedTime: -time.Second, PollTime: 5 * time.Second}
		return nil
	}
	t.Escrow, t.Revealed = e, v.now()
	if err := v.keep(ctx, in.SwapID, version, t); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	in.Secret = swapper.Secret(hex.EncodeToString(t.Preimage[:]))
	_, err = v.service.GetSwapStatus(ctx, in)
	if err == nil {
		out.CurrentAction = &swapper.Wait{Name: "Automatic settlement", Description: "The secret was told to the service, which can now settle the swap.", ExpectedTime: -time.Second, PollTime: 5 * time.Second}
	} else { // whether it heard of it is not known: the next status claims
		out.ActionError = &swapper.ActionError{Code: fault.CodeOf(err), Error: err.Error()}
	}
	return nil
}

// delivered looks for the swap's escrow on the wallet's own nodes; nil if they do not show
// it open and final. The service's word is used only for where to look: who offers it.
func (v *verifier) delivered(ctx context.Context, o *opened, t terms, told *swapper.EscrowInfo) (*chains.Escrow, error) {
	offerer := offererOf(told)
	if offerer == "" {
		return nil, fault.New(fault.Unsupported, "the service does not say who offers the escrow, so that it cannot be found")
	}
	chain := o.byID[t.Dst.Chain]
	var k chains.Contract
	var fact *chains.EscrowFact
	for _, version := range chain.Info().Versions {
		contract, ok := chain.Contract(version.Name)
		if !ok || !version.LPInit {
			continue
		}
		found, err := escrowFor(ctx, contract, t, told.Data, offerer)
		if err != nil {
			return nil, err
		}
		if found.Escrow != nil {
			k, fact = contract, found
			break
		}
	}
	if fact == nil || fact.State != chains.EscrowOpen || !fact.Final {
		return nil, nil
	}
	err := lpverify.DeliveredTold(lpverify.Agreed{User: t.Recipient, Token: t.Dst, Native: chain.Info().Native, Contract: k}, t.Hash, t.Output, *fact.Escrow)
	if bad, ok := errors.AsType[*lp.LPError](err); ok {
		return nil, &RefusedError{Reason: reasonChain, Field: "requiresSecretReveal", Said: "true", True: "false: " + bad.Public(), Err: err}
	}
	if err != nil {
		return nil, err
	}
	if lp.DutyClaim.TooLate(fact.Escrow.Expiry, fact.Head, v.config.Now()) {
		return nil, &RefusedError{Reason: reasonChain, Field: "requiresSecretReveal", Said: "true", True: fmt.Sprintf("false: the escrow ends at %s, too soon to claim it safely", time.Unix(fact.Escrow.Expiry, 0).UTC().Format(time.RFC3339))}
	}
	return fact.Escrow, nil
}

// escrowFor is what the wallet's own nodes say of the escrow for the payment's hash; without an
// Escrow if they show none. They are asked about the one that the service shows, by its hash,
// which takes one trip. If that was not opened, they search those of the offerer.
func escrowFor(ctx context.Context, k chains.Contract, t terms, told json.RawMessage, offerer string) (*chains.EscrowFact, error) {
	hash, err := k.ClaimHash(chains.Condition{Kind: chains.HTLC, PaymentHash: t.Hash})
	if err != nil {
		return nil, err
	}
	ask := func(q chains.EscrowQuery) (*chains.EscrowFact, error) {
		q.From, q.Settled = t.From, true
		facts, err := k.Escrows(ctx, []chains.EscrowQuery{q})
		if err == nil {
			err = facts[0].Err
		}
		if err != nil {
			return nil, err
		}
		return &facts[0], nil
	}
	if r, ok := k.(chains.PublicReader); ok {
		if shown, err := r.ReadPublic(told); err == nil && bytes.Equal(shown.ClaimHash, hash) && shown.Claimer == t.Recipient {
			fact, err := ask(chains.EscrowQuery{Escrow: &shown})
			if err != nil {
				return nil, err
			}
			if fact.State != chains.EscrowNone {
				fact.Escrow = &shown
				return fact, nil
			}
		}
	}
	return ask(chains.EscrowQuery{ClaimHash: hash, Offerer: offerer, Claimer: t.Recipient})
}

// offererOf finds who offers an escrow in the chain's own form of it.
func offererOf(told *swapper.EscrowInfo) string {
	if told == nil {
		return ""
	}
	var of struct {
		Offerer  string `json:"offerer"`
		Accounts struct {
			Offerer string `json:"offerer"`
		} `json:"accounts"`
	}
	if json.Unmarshal(told.Data, &of) != nil || len(of.Offerer)+len(of.Accounts.Offerer) > 256 {
		return ""
	}
	return of.Offerer + of.Accounts.Offerer
}

// settles is how long a watchtower has to claim before the wallet is asked to.
const settles = 2 * time.Minute

// firstClaim is the claim of an escrow that the user has opened, and which the wallet's own
// nodes show open and final. The secret never goes to the service: the claim reveals it, which
// is stored before.
func (v *verifier) firstClaim(ctx context.Context, o *opened, version uint64, t terms, in swapper.GetSwapStatusInput, got *swapper.GetSwapStatusOutput, fact *chains.EscrowFact, out *swapper.GetSwapStatusOutput) error {
	switch {
	case t.Preimage.IsZero():
		ask := true
		out.RequiresSecretReveal = &ask
		return nil
	case lp.DutyClaim.TooLate(t.Escrow.Expiry, fact.Head, v.config.Now()):
		out.ActionError = &swapper.ActionError{Code: fault.InvalidState, Error: fmt.Sprintf("the escrow ends at %s, too soon to claim it safely; the payment is returned to the payer", time.Unix(t.Escrow.Expiry, 0).UTC().Format(time.RFC3339))}
		return nil
	}
	t.Revealed = v.now()
	if err := v.keep(ctx, in.SwapID, version, t); err != nil {
		return err
	}
	return v.claim(ctx, o, in, t, got, out)
}

// claim is the action while the escrow is open whose secret is out: to wait for a
// watchtower, and then to claim, with transactions that are made here.
func (v *verifier) claim(ctx context.Context, o *opened, in swapper.GetSwapStatusInput, t terms, got *swapper.GetSwapStatusOutput, out *swapper.GetSwapStatusOutput) error {
	if t.Type != swapper.SwapFromBTCLN && v.leavesToOthers(t.Revealed, got, out) {
		return nil
	}
	chain := o.byID[t.Dst.Chain]
	k, plan, err := v.claimPlan(chain, t, in.SwapID, in.Signer)
	if err != nil {
		return err
	}
	u, err := k.Build(ctx, plan)
	if err != nil {
		return overtaken(err, out)
	}
	out.CurrentAction = t.settle(u)
	return nil
}

// claimPlan claims the swap's escrow with its secret. signer "" is the recipient.
func (v *verifier) claimPlan(chain chains.Chain, t terms, id, signer string) (chains.Contract, chains.Plan, error) {
	signer, err := signerOf(chain, signer, t.Recipient)
	if err != nil {
		return nil, chains.Plan{}, err
	}
	k, ok := chain.Contract(t.Escrow.Version)
	if !ok {
		return nil, chains.Plan{}, fault.New(fault.Unsupported, "the contracts %s of %s are not known", t.Escrow.Version, t.Dst.Chain)
	}
	return k, chains.Plan{SwapID: id, Signer: signer, Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: *t.Escrow, Preimage: t.Preimage, Public: true}}}, nil
}

// submitClaim sends a claim through the wallet's own nodes.
func (v *verifier) submitClaim(ctx context.Context, o *opened, t terms, in swapper.SubmitTransactionInput) (*swapper.SubmitTransactionOutput, error) {
	if t.Escrow == nil || t.Revealed.IsZero() || t.Preimage.IsZero() {
		return nil, fault.New(fault.InvalidState, "there is nothing to sign: the swap's secret must not be revealed yet")
	}
	chain := o.byID[t.Dst.Chain]
	k, plan, err := v.claimPlan(chain, t, in.SwapID, "")
	if err != nil {
		return nil, err
	}
	plan.Signer = "" // whoever signs, the recipient is paid
	return v.send(ctx, chain, k, plan, in)
}
