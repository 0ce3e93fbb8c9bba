package solana

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/solana/read"
	"github.com/swapper-go/swapper/internal/solana/rpc"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// Build takes one round trip for steps that need no Bitcoin proof, of a few requests side
// by side; those of FeeRate go on meanwhile and are spared for some seconds. An opening
// takes one more if something happened at the escrow's address before, and if the block
// that the LP signed is not known yet that is asked for meanwhile; a refund takes one
// more to try it. A proof takes one more to find its header in the relay, none if that is
// known from before, and three or more if the relay is behind: its tip and the newest
// header that it shares with Bitcoin are looked for side by side. On v2 a claim that needs
// no data account takes one more, to try it. The Bitcoin backend is asked meanwhile.
func (k *contract) Build(ctx context.Context, plan chains.Plan) (chains.Unsigned, error) {
	signer, err := address("signer", plan.Signer)
	if err != nil {
		return chains.Unsigned{}, err
	}
	b := &building{k: k, plan: plan, signer: signer, accounts: map[wire.Key]*wire.AccountReply{}}
	for _, step := range plan.Steps {
		if err := b.add(ctx, step); err != nil {
			return chains.Unsigned{}, fmt.Errorf("%s: %w", step.Kind, err)
		}
	}
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error { return b.read(inner) })
	g.Go(func() (err error) { b.rate, err = b.stepRate(inner); return err })
	if err := g.Wait(); err != nil {
		return chains.Unsigned{}, err
	}
	var txs []*wire.Tx
	for i := range b.steps {
		more, err := b.txs(ctx, &b.steps[i])
		if err != nil {
			return chains.Unsigned{}, fmt.Errorf("%s: %w", b.steps[i].Kind, err)
		}
		txs = append(txs, more...)
	}
	if err := wire.Prepare(txs, b.present.latest.Hash, b.present.latest.LastValid); err != nil {
		return chains.Unsigned{}, err
	}
	if err := b.replace(txs); err != nil {
		return chains.Unsigned{}, err
	}
	out := chains.Unsigned{Signer: signer.String()}
	for _, tx := range txs {
		text, err := tx.Text()
		if err != nil {
			return chains.Unsigned{}, err
		}
		out.Txs = append(out.Txs, text)
	}
	return out, nil
}

// building is a plan while its transactions are made.
type building struct {
	k      *contract
	plan   chains.Plan
	signer wire.Key
	steps  []buildStep

	keys     []wire.Key // accounts to read
	accounts map[wire.Key]*wire.AccountReply
	present  present
	heads    chains.Heads
	rate     wire.FeeRate // of all but openings, which have the one that was agreed on
	layout   layout       // of data accounts, if a step depends on it
}

// buildStep is one step of it.
type buildStep struct {
	chains.Step
	d     *wire.SwapData
	opens bool // an earlier step of the plan opens the escrow

	init    wire.InitAuth // StepInit
	initFee wire.FeeRate
	needed  bool // the LP has to have signed
	block   rpc.Block
	past    []wire.Occurrence // what happened to escrows of its payment hash, newest first
	refund  wire.RefundAuth   // StepRefundAuth
	proof   *proof            // StepClaimBitcoin
}

// add takes a step apart, and notes which accounts it depends on.
func (b *building) add(ctx context.Context, step chains.Step) (err error) {
	if step.Kind == chains.StepVaultClaim {
		return fault.New(fault.Unsupported, "Solana's swap programs have no vaults; a vault claim cannot be built")
	}
	s := buildStep{Step: step}
	if s.d, err = b.k.SwapDataOf(step.Escrow); err != nil {
		return err
	}
	for _, before := range b.steps {
		s.opens = s.opens || before.Kind == chains.StepInit && before.d.EscrowHash() == s.d.EscrowHash()
	}
	b.want(b.k.Escrow(s.d.PaymentHash))
	switch step.Kind {
	case chains.StepInit:
		err = b.addInit(&s)
	case chains.StepClaimSecret:
		switch {
		case s.d.Kind != chains.HTLC:
			return fault.Invalid("kind", "an escrow of kind %s is not claimed by a secret", s.d.Kind)
		case sha256.Sum256(step.Preimage[:]) != s.d.PaymentHash:
			return fault.Invalid("preimage", "is not the one of the escrow's payment hash")
		}
		err = b.wantPayout(s.d)
	case chains.StepClaimBitcoin:
		if s.proof, err = b.addProof(ctx, &s); err == nil {
			err = b.wantPayout(s.d)
		}
	case chains.StepRefund:
		b.wantRefund(s.d)
	case chains.StepRefundAuth:
		b.wantRefund(s.d)
		s.refund, err = s.d.VerifyRefund(step.Auth, b.k.chain.env.Now())
	default:
		return fault.New(fault.Unsupported, "unknown step %d", step.Kind)
	}
	b.steps = append(b.steps, s)
	return err
}

func (b *building) want(k wire.Key) {
	if _, asked := b.accounts[k]; !asked {
		b.accounts[k] = nil
		b.keys = append(b.keys, k)
	}
}

// wantPayout asks for the token account that an escrow pays to. It must be the
// claimer's own: the program does not look.
func (b *building) wantPayout(d *wire.SwapData) error {
	if !d.PayOut {
		return nil
	}
	if !d.IsClaimer(d.Claimer) {
		return fault.Invalid("claimerAta", "is not the claimer's own token account")
	}
	b.want(*d.ClaimerATA)
	return nil
}

func (b *building) wantRefund(d *wire.SwapData) {
	if d.PayIn {
		b.want(wire.ATA(d.Offerer, d.Token))
	}
}

func (b *building) addInit(s *buildStep) (err error) {
	if s.needed, err = b.k.CheckInit(s.d, b.signer, s.Auth.Prefix, s.Auth.Timeout, b.k.chain.env.Now()); s.Auth.Prefix == "" && !b.k.NeedsAuth(s.d, b.signer) {
		_, err = b.k.Counterparty(s.d, b.signer) // it needs no authorisation
	}
	if err != nil {
		return fault.New(fault.InvalidState, "%w", err)
	}
	s.init = wire.InitAuth{Timeout: uint64(s.Auth.Timeout)}
	if s.needed {
		if s.init, err = wire.ParseInitAuth(s.Auth); err != nil {
			return err
		}
		if b.plan.FeeRate == "" {
			return fault.Invalid("feeRate", "is required: it is part of what the provider has signed")
		}
	}
	if b.plan.FeeRate != "" {
		if s.initFee, err = wire.ParseFeeRate(b.plan.FeeRate); err != nil {
			return err
		}
	}
	if s.d.PayIn && s.d.Token == wire.WSOL {
		b.want(wire.ATA(s.d.Offerer, wire.WSOL))
	}
	return nil
}

// read asks for everything that the steps depend on, at the newest confirmed state.
func (b *building) read(ctx context.Context) error {
	c := b.k.chain
	accounts, gather := rpc.AccountsRequests(b.keys, rpc.Confirmed)
	trial, err := b.tryLayout()
	if err != nil {
		return err
	}
	g, inner := errgroup.WithContext(ctx)
	g.Go(func() error {
		needed := append(b.present.requests(), accounts...)
		requests := append(needed, trial.requests...)
		if err := c.node.Batch(inner, requests); err != nil {
			return err
		}
		trial.requests = requests[len(needed):] // with what came of them
		for _, r := range requests[:len(needed)] {
			if r.Err != nil {
				return fmt.Errorf("%s: %w", r.Method, r.Err)
			}
		}
		return nil
	})
	g.Go(func() (err error) { b.heads, err = c.Heads(inner); return err })
	for i := range b.steps {
		s := &b.steps[i]
		if s.Kind == chains.StepClaimBitcoin {
			g.Go(func() error { return s.proof.look(inner, b.k) })
		}
		if s.Kind != chains.StepInit {
			continue
		}
		g.Go(func() (err error) { s.past, err = b.k.reader.Happened(inner, s.d.PaymentHash); return err })
		if !s.needed {
			continue
		}
		g.Go(func() (err error) { s.block, _, err = c.signedBlock(inner, s.init.Slot); return err })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	c.noteHashes(&b.present)
	b.layout = trial.read()
	for i, a := range gather().All {
		b.accounts[b.keys[i]] = a
	}
	return nil
}

// stepRate is the plan's own fee rate, or the current one; the higher of both prices, or
// the transaction might not be executed any more.
func (b *building) stepRate(ctx context.Context) (wire.FeeRate, error) {
	var agreed wire.FeeRate
	if b.plan.FeeRate != "" {
		var err error
		if agreed, err = wire.ParseFeeRate(b.plan.FeeRate); err != nil {
			return wire.FeeRate{}, err
		}
		if len(b.steps) == 1 && b.steps[0].Kind == chains.StepInit {
			return agreed, nil
		}
	}
	price, err := b.k.chain.ledger.Price(ctx, b.k.chain.pricePolicy(), b.written())
	return wire.FeeRate{Price: max(agreed.Price, price), Static: agreed.Static}, err
}

// written are the accounts that claims and refunds of the plan write to, as the
// network's clients name them: what others pay for these decides the price.
func (b *building) written() (all []wire.Key) {
	for i := range b.steps {
		s := &b.steps[i] // what is read of it is being filled in meanwhile
		switch s.Kind {
		case chains.StepClaimSecret, chains.StepClaimBitcoin:
			all = append(all, b.k.ClaimAccounts(b.signer, s.d)...)
		case chains.StepRefund, chains.StepRefundAuth:
			all = append(all, b.k.RefundAccounts(s.d)...)
		}
	}
	if len(all) == 0 {
		return b.k.chain.vaults()
	}
	return all
}

// now is the later of the clock and the cluster's time.
func (b *building) now() time.Time {
	now := b.k.chain.env.Now()
	if cluster := time.Unix(b.heads.Latest.Time, 0); cluster.After(now) {
		return cluster
	}
	return now
}

// open demands that the escrow is open, or that the plan opens it.
func (b *building) open(s *buildStep) error {
	account := b.accounts[b.k.Escrow(s.d.PaymentHash)]
	if account == nil || len(account.Data) == 0 {
		if s.opens {
			return nil
		}
		return fault.New(fault.InvalidState, "the escrow is not open")
	}
	state, err := b.k.DecodeEscrow(account.Data)
	if err != nil {
		return fault.New(fault.Upstream, "%w", err)
	}
	if account.Owner != b.k.Swap {
		return fault.New(fault.Upstream, "the escrow's account belongs to the program %s", account.Owner)
	}
	if err := b.k.Match(state, s.d); err != nil {
		return fault.New(fault.InvalidState, "%w", err)
	}
	return nil
}

// tokens returns what a token account holds, nil if it does not exist.
func (b *building) tokens(account wire.Key) (*uint64, error) {
	t, err := read.TokenAccount(b.accounts[account])
	switch {
	case errors.Is(err, wire.ErrAbsent):
		return nil, nil
	case err != nil:
		return nil, fault.New(fault.Upstream, "token account %s: %w", account, err)
	}
	return &t.Amount, nil
}

// payee is what is known of a token account that is paid to. It is created if it is
// missing, in the form that does no harm if it is there by then.
func (b *building) payee(account wire.Key) (wire.ToATA, error) {
	amount, err := b.tokens(account)
	return wire.ToATA{Missing: amount == nil, Create: true}, err
}

// txs makes the transactions of a step.
func (b *building) txs(ctx context.Context, s *buildStep) ([]*wire.Tx, error) {
	if s.Kind == chains.StepInit {
		return b.openTxs(s)
	}
	if err := b.open(s); err != nil {
		return nil, err
	}
	one := func(tx *wire.Tx, err error) ([]*wire.Tx, error) { return []*wire.Tx{tx}, err }
	switch s.Kind {
	case chains.StepClaimSecret:
		if !s.Public && s.d.Expired(s.d.Claimer, b.now(), false) {
			return nil, fault.New(fault.InvalidState, "it is too late to claim safely with the preimage")
		}
		var to wire.ToATA
		if s.d.PayOut {
			var err error
			if to, err = b.payee(*s.d.ClaimerATA); err != nil {
				return nil, err
			}
		}
		return one(b.k.ClaimTx(s.d, b.signer, s.Preimage, b.rate, to))
	case chains.StepClaimBitcoin:
		return b.proofTxs(ctx, s)
	}
	return one(b.refundTx(ctx, s))
}

func (b *building) refundTx(ctx context.Context, s *buildStep) (*wire.Tx, error) {
	var auth *wire.RefundAuth
	var guard wire.SecretKey
	if s.Kind == chains.StepRefundAuth {
		auth, guard = &s.refund, wire.GuardKey(b.plan.Seed, s.refund)
	} else if expiry, err := s.d.ExpiryTime(); err != nil || expiry >= min(b.k.chain.env.Now().Unix(), b.heads.Latest.Time) {
		return nil, fault.New(fault.InvalidState, "the escrow has not expired yet")
	}
	var to wire.ToATA
	if s.d.PayIn {
		var err error
		if to, err = b.payee(wire.ATA(s.d.Offerer, s.d.Token)); err != nil {
			return nil, err
		}
	}
	tx, err := b.k.RefundTx(s.d, b.signer, auth, guard, b.rate, to)
	if err != nil {
		return nil, err
	}
	return tx, b.fitLimit(ctx, tx)
}

// fitLimit tries a transaction, and raises its limit of compute units if it would not
// do: that of refunds into an LP's balance is tight (protocol: chain-solana.md §21.15).
// A node that cannot try it, or says that it fails for another reason, changes nothing.
func (b *building) fitLimit(ctx context.Context, tx *wire.Tx) error {
	s, err := b.try(ctx, tx.Unlimited())
	if err != nil || s == nil || s.Err != nil || s.Units == 0 {
		return err
	}
	tx.RaiseLimit(uint32(min(s.Units+s.Units/4, wire.MaxUnits)))
	return nil
}

// try asks a node what a transaction would do, nil if it does not say. The error is that
// of ctx.
func (b *building) try(ctx context.Context, tx *wire.Tx) (*rpc.Simulation, error) {
	trial := *tx
	trial.Blockhash = b.present.latest.Hash
	if trial.Payer.IsZero() {
		trial.Payer = b.signer
	}
	raw, err := trial.Bytes()
	if err != nil {
		return nil, err
	}
	var s rpc.Simulation
	requests := []rpc.Request{rpc.SimulateRequest(raw, false, true, rpc.Confirmed, &s)}
	if err := b.k.chain.node.Batch(ctx, requests); err != nil || requests[0].Err != nil {
		return nil, ctx.Err()
	}
	return &s, nil
}

// openTxs makes the transactions that open an escrow. The escrow must be new, and there
// is one account for each payment hash. Money that is paid in for a hash whose secret is
// known already is lost.
func (b *building) openTxs(s *buildStep) ([]*wire.Tx, error) {
	if s.dependsOnLayout(b.signer) && b.layout.err != nil {
		return nil, fmt.Errorf("an escrow whose claim cannot be made must not be opened: %w", b.layout.err)
	}
	if a := b.accounts[b.k.Escrow(s.d.PaymentHash)]; a != nil && len(a.Data) > 0 {
		return nil, fault.New(fault.InvalidState, "an escrow with this payment hash is open already")
	}
	for _, o := range s.past {
		switch {
		case o.Kind == wire.Claimed && s.d.PayIn:
			return nil, fault.New(fault.InvalidState, "an escrow with this payment hash was claimed already: what is paid in for it can be taken by all who have seen its secret")
		case o.Kind != wire.Initialized && o.Sequence == s.d.Sequence:
			return nil, fault.New(fault.InvalidState, "this escrow was opened already, and has ended")
		}
	}
	if s.needed {
		if err := s.init.CheckSlot(b.heads.Latest.Height); err != nil {
			return nil, fault.New(fault.InvalidState, "%w", err)
		}
		if err := b.k.Programs.VerifyInit(s.d, b.signer, s.init, s.initFee, s.block.Hash); err != nil {
			return nil, fault.New(fault.InvalidState, "%w", err)
		}
	}
	var wsol *uint64
	if s.d.PayIn && s.d.Token == wire.WSOL {
		var err error
		if wsol, err = b.tokens(wire.ATA(s.d.Offerer, wire.WSOL)); err != nil {
			return nil, err
		}
	}
	rate := s.initFee
	if !s.needed && b.plan.FeeRate == "" {
		rate = b.rate
	}
	block := wire.SignedBlock{Hash: s.block.Hash}
	if s.block.Height != nil {
		block.Height = *s.block.Height
	}
	return b.k.OpenTxs(s.d, b.signer, s.init, rate, block, wsol)
}

// replace demands that pending transactions of the signer which the new ones replace
// cannot be executed any more, unless it is the very same ones that are handed out
// again, as an LP's signature demands. Programs execute none of them twice, but two
// that wrap SOL.
func (b *building) replace(txs []*wire.Tx) error {
	for _, old := range b.plan.Replaces {
		if old.From != b.signer.String() {
			continue
		}
		p, err := wire.ParseTx(old.Raw)
		if err != nil {
			continue
		}
		b.k.chain.hashes.meet(p.Blockhash)
		if b.k.chain.hashes.over(p.Blockhash, heightOf(b.present.final)) {
			continue
		}
		same := false
		for _, tx := range txs {
			m, err := tx.Message()
			if err != nil {
				return err
			}
			same = same || wire.SameMessage(m, p.Message)
		}
		if !same {
			return fault.New(fault.InvalidState, "the pending transaction %s can still be executed; it expires within about two minutes", old.ID)
		}
	}
	return nil
}
