package solana_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math/big"
	"regexp"
	"strings"
	"testing"
	"time"

	btcwire "github.com/btcsuite/btcd/wire"

	"encoding/hex"

	"github.com/swapper-go/swapper/balance"
	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/solana"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
	"github.com/swapper-go/swapper/tokens"
)

func script(n byte) []byte { return append([]byte{0, 20, 19: 0}, 0, n)[:22] }

func outputs(n int) (all []*btcwire.TxOut) {
	for i := range n {
		all = append(all, btcwire.NewTxOut(1000, script(byte(50+i))))
	}
	return all
}

func (s *scene) hex(tx chains.Signed) string { return hex.EncodeToString(tx.Raw) }

func errOf[T any](_ T, err error) error { return err }

// altered signs a transaction of the user with another price.
func (s *scene) altered(tx chains.Signed) string {
	s.t.Helper()
	p := trial.Must(wire.ParseTx(tx.Raw))(s.t)
	changed := p.Tx
	changed.Signatures = nil
	changed.Instructions = append([]wire.Instruction(nil), p.Instructions...)
	for i, ix := range changed.Instructions {
		if ix.Program == wire.BudgetProgram && ix.Data[0] == 3 {
			changed.Instructions[i] = wire.SetPrice(77)
		}
	}
	auth := trial.Must(s.refundAuth(p))(s.t)
	changed.Signers = []wire.SecretKey{wire.GuardKey(chains.Seed{7}, auth)}
	raw := trial.Must(s.user.Account.Sign(&changed))(s.t)
	return hex.EncodeToString(raw)
}

// refundAuth reads the authorisation out of a refund.
func (s *scene) refundAuth(p *wire.Parsed) (a wire.RefundAuth, err error) {
	copy(a.Signature[:], p.Instructions[0].Data[48:112])
	return a, nil
}

// Whoever has seen the key of a data account, or its address, can make it useless. The
// claim goes on with another one (§21.5, §21.13).
func TestSpoiltDataAccounts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		s := newPlayed(t, p)
		c := chains.Condition{Kind: chains.Onchain, Script: script(1), Sats: 120_000, Confirmations: 1}
		op := s.PayBitcoin(t, c.Script, int64(c.Sats), 0)
		e := s.out(s.user, c, devnet.WBTC)
		s.run(s.user, s.opening(s.user, e))
		plan := s.plan(s.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: s.payment(op, c)})
		before := s.check(s.user, plan, s.build(plan))
		key := func(n int) wire.SecretKey { return wire.ClaimDataKey(plan.Seed, op.Hash, s.user.Account.Address, n) }
		trial.Do(t, s.Fund(t.Context(), key(0).PublicKey(), devnet.SOL(1)))
		// The second is a stranger's, with the right size.
		stranger := s.poor()
		tx := trial.Must(single.Tx(t.Context(), s.backend, op.Hash))(s.t)
		stripped := trial.Must(rawtx.Strip(tx.Msg))(t)
		payload := trial.Must(wire.Payload(op.Index, stripped))(t)
		txs := trial.Must(s.program.DataTxs(stranger.Account.Address, key(1), p.data, payload, nil, wire.FeeRate{Price: 1}))(t)
		_, err := stranger.SendAll(t.Context(), txs)
		trial.Do(t, err)
		after := s.check(s.user, plan, s.build(plan))
		if after[len(after)-1].ID == before[len(before)-1].ID {
			t.Error("the claim uses a data account that somebody has spoilt")
		}
		s.send(after...)
		s.want(e, chains.EscrowClaimed)
		if s.Lamports(key(1).PublicKey()) == 0 || s.Lamports(key(2).PublicKey()) != 0 {
			t.Error("the claim is not by the first account that nobody has spoilt")
		}
	})
}

// The rent of a data account that was not needed in the end comes back with the next
// claim of its owner (§21.5).
func TestRentOfDataAccountsComesBack(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, p played) {
		s := newPlayed(t, p)
		c := chains.Condition{Kind: chains.Onchain, Script: script(1), Sats: 120_000, Confirmations: 1}
		open := func(n byte) (chains.Escrow, chains.Plan) {
			c.Script = script(n)
			op := s.PayBitcoin(t, c.Script, int64(c.Sats), 0, outputs(20)...)
			s.SyncRelay(t)
			e := s.out(s.user, c, devnet.WBTC)
			s.run(s.user, s.opening(s.user, e))
			return e, s.plan(s.user, chains.Step{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: s.payment(op, c)})
		}
		e, plan := open(1)
		txs := s.check(s.user, plan, s.build(plan))
		s.send(txs[0]) // the payment is written
		tower := s.Account(t).(account)
		theirs := s.plan(tower, plan.Steps...)
		s.run(tower, theirs) // and somebody else claims
		s.want(e, chains.EscrowClaimed)
		left := wire.ClaimDataKey(plan.Seed, plan.Steps[0].Payment.TxID, s.user.Account.Address, 0).PublicKey()
		if s.Lamports(left) == 0 {
			t.Fatal("nothing is left")
		}
		s.Advance(t, 2*time.Hour) // it is of no claim that is under way
		other, plan := open(2)
		plan.Seed = chains.Seed{8}
		s.build(plan) // which nobody signs
		txs = s.run(s.user, plan)
		s.want(other, chains.EscrowClaimed)
		if s.Lamports(left) != 0 {
			t.Error("the rent is still there")
		}
		// Whose they are not they do not get.
		bad := s.plan(tower, plan.Steps...)
		if _, err := s.k.Check(bad, []string{s.hex(txs[len(txs)-1])}); err == nil {
			t.Error("the closing alone passes for a claim")
		}
	})
}

// A token account that exists as an address with lamports alone is created; opening and
// claiming go out together where both would create it (§21.7).
func TestTokenAccountsThatAreNone(t *testing.T) {
	t.Parallel()
	for _, version := range []string{wire.V1, wire.V2} {
		s := newScene(t, version)
		user := s.poor()
		trial.Do(t, s.Fund(t.Context(), wire.ATA(user.Account.Address, devnet.WBTC), devnet.SOL(1)))
		e := s.out(user, lock(5), devnet.WBTC)
		plan := s.opening(user, e)
		plan.Steps = append(plan.Steps, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(5)})
		txs := s.run(user, plan)
		if len(txs) != 2 || txs[0].Reveals || !txs[1].Reveals || txs[0].Step != 0 || txs[1].Step != 1 {
			t.Errorf("%s: %+v", version, txs)
		}
		s.want(e, chains.EscrowClaimed)
		if got := s.Tokens(devnet.WBTC, user.Account.Address); got != 50_000_000 {
			t.Errorf("%s: the user has %d", version, got)
		}
	}
}

// Opening with SOL wraps what is missing, in a transaction before the one that the LP
// has signed. Without it the opening is refused by name, not by the program.
func TestWrapThatIsLeftOut(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	user := s.poor()
	e := s.in(user, lock(6), wire.WSOL)
	plan := s.opening(user, e)
	u := s.build(plan)
	txs := s.check(user, plan, u)
	if len(txs) != 2 {
		t.Fatalf("%d transactions", len(txs))
	}
	err := s.k.Admit(t.Context(), plan, txs[1:])
	refusedWith(t, "the opening alone", err, "which is missing")
	if fault.CodeOf(err) != fault.InvalidInput {
		t.Errorf("code %s", fault.CodeOf(err))
	}
	trial.Do(t, s.k.Admit(t.Context(), plan, txs))
	s.send(txs...)
	s.want(e, chains.EscrowOpen)
	balanceBefore := s.Lamports(user.Account.Address)
	refund := s.plan(user, chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: s.lp.AuthorizeRefund(t, e, s.Time().Add(time.Hour))})
	s.run(user, refund)
	if got := s.Lamports(user.Account.Address); got < balanceBefore+50_000_000 {
		t.Errorf("the SOL did not come back: %d after %d", got, balanceBefore)
	}
}

// Nobody pays in for a hash whose secret others know.
func TestHashesThatAreKnown(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.out(s.user, lock(7), devnet.WBTC)
	s.run(s.user, s.opening(s.user, e))
	busy := s.in(s.user, lock(7), devnet.WBTC)
	refusedWith(t, "beside an open one", errOf(s.k.Build(t.Context(), s.opening(s.user, busy))), "is open already")
	s.run(s.user, s.plan(s.user, chains.Step{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(7)}))
	refusedWith(t, "after the claim", errOf(s.k.Build(t.Context(), s.opening(s.user, busy))), "was claimed already")
	refusedWith(t, "the very same", errOf(s.k.Build(t.Context(), s.opening(s.user, e))), "has ended")
	// What the LP pays in is its own affair.
	if _, err := s.k.Build(t.Context(), s.opening(s.user, s.out(s.user, lock(7), devnet.WBTC))); err != nil {
		t.Error(err)
	}
}

// Escrow data of an LP that would pay out to a token account of its own is refused, and
// so is a payment that the program would not take.
func TestForeignPayees(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.out(s.user, lock(8), devnet.WBTC)
	var members map[string]any
	trial.Do(t, json.Unmarshal(e.Data, &members))
	members["claimerAta"] = wire.ATA(s.LP().(account).Account.Address, devnet.WBTC).String()
	text := trial.Must(json.Marshal(members))(s.t)
	stolen := trial.Must(s.k.Decode(text))(t)
	if err := s.k.Diff(e, stolen, chains.Tolerance{}); err == nil || !strings.Contains(err.Error(), "claimerAta") {
		t.Errorf("not found: %v", err)
	}
	_, err := s.k.Build(t.Context(), s.plan(s.user, chains.Step{Kind: chains.StepClaimSecret, Escrow: stolen, Preimage: secret(8)}))
	refusedWith(t, "a claim to another's account", err, "not the claimer's own")
}

// One node that lies about a block does not make an LP a liar.
func TestBlockThatANodeMakesUp(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.in(s.user, lock(9), devnet.WBTC)
	plan := s.opening(s.user, e)
	s.nodes[0].Misbehave(devnet.NodeFault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method != "getBlock" {
			return result
		}
		var block map[string]any
		if json.Unmarshal(result, &block) == nil && block != nil {
			block["blockhash"] = wire.Key{8}.String()
			result, _ = json.Marshal(block)
		}
		return result
	}})
	until, err := s.k.VerifyInit(t.Context(), e, plan.Steps[0].Auth, someRate, s.user.Address())
	if err != nil || !until.After(s.Time()) {
		t.Fatalf("until %s: %v", until, err)
	}
	s.run(s.user, plan) // with the block that the signature proves
	s.want(e, chains.EscrowOpen)
	// The fee rate is part of what is signed (§13).
	other := s.in(s.user, lock(10), devnet.WBTC)
	auth := s.opening(s.user, other).Steps[0].Auth
	for _, rate := range []string{"9001;0", "9000;1", "9000;0#1;0"} {
		_, err := s.k.VerifyInit(t.Context(), other, auth, rate, s.user.Address())
		if err == nil && rate != "9000;0#1;0" {
			t.Errorf("good for the rate %s", rate)
		}
		if e, ok := errors.AsType[*chains.AuthError](err); ok && e.Proven { // a node named the block
			t.Errorf("the LP is blamed on a node's word: %v", err)
		}
	}
	for slot, says := range map[string]string{"99999999": "yet to come", "0": "no block"} {
		_, sig, _ := strings.Cut(auth.Signature, ";")
		far := auth
		far.Signature = slot + ";" + sig
		_, err := s.k.VerifyInit(t.Context(), other, far, someRate, s.user.Address())
		if err == nil {
			t.Errorf("slot %s (%s) passes", slot, says)
		}
		if e, ok := errors.AsType[*chains.AuthError](err); ok && e.Proven {
			t.Errorf("slot %s: the LP is blamed on a node's word: %v", slot, err)
		}
	}
}

// That an LP has not signed a block's hash is proven by two nodes that have the block, and
// never by one, nor while another has a different block.
func TestOneNodeDoesNotProveAForgery(t *testing.T) {
	t.Parallel()
	invents := devnet.NodeFault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
		if method != "getBlock" {
			return result
		}
		var block map[string]any
		if json.Unmarshal(result, &block) == nil && block != nil {
			block["blockhash"] = wire.Key{8}.String()
			result, _ = json.Marshal(block)
		}
		return result
	}}
	for name, c := range map[string]struct {
		fault  devnet.NodeFault // of the second node
		proven bool
	}{
		"both have it":    {devnet.NodeFault{}, true},
		"one is down":     {devnet.NodeFault{Down: true}, false},
		"one has another": {invents, false},
		"one has none":    {devnet.NodeFault{Fail: []string{"getBlock"}}, false},
	} {
		s := newScene(t, wire.V1)
		e := s.in(s.user, lock(9), devnet.WBTC)
		auth := s.opening(s.user, e).Steps[0].Auth
		s.nodes[1].Misbehave(c.fault)
		_, err := s.k.VerifyInit(t.Context(), e, auth, "9001;0", s.user.Address()) // the rate is part of what is signed (§13)
		if bad, ok := errors.AsType[*chains.AuthError](err); !ok || bad.Proven != c.proven {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Where a refund takes more than the table says, the limit is raised; a node that
// cannot try it changes nothing (§21.15).
func TestRefundThatTakesMore(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	e := s.in(s.user, lock(11), devnet.WBTC)
	s.run(s.user, s.opening(s.user, e))
	plan := s.plan(s.user, chains.Step{Kind: chains.StepRefundAuth, Escrow: e, Auth: s.lp.AuthorizeRefund(t, e, s.Time().Add(time.Hour))})
	limit := func() uint32 {
		t.Helper()
		tx, _ := unsigned(t, s.build(plan).Txs[0])
		for _, ix := range tx.Message.Instructions {
			if d := ix.Data; len(d) == 5 && d[0] == 2 && tx.Message.AccountKeys[ix.ProgramIDIndex] == wire.BudgetProgram {
				return uint32(d[1]) | uint32(d[2])<<8 | uint32(d[3])<<16 | uint32(d[4])<<24
			}
		}
		t.Fatal("no limit")
		return 0
	}
	if got := limit(); got != 50_000 {
		t.Errorf("a limit of %d", got)
	}
	for _, node := range s.nodes {
		node.Misbehave(devnet.NodeFault{Rewrite: func(method string, _ []json.RawMessage, result json.RawMessage) json.RawMessage {
			if method != "simulateTransaction" {
				return result
			}
			return json.RawMessage(`{"context":{"slot":50},"value":{"err":null,"logs":[],"unitsConsumed":60000}}`)
		}})
	}
	if got := limit(); got != 75_000 {
		t.Errorf("a limit of %d for what takes 60000", got)
	}
	for _, node := range s.nodes {
		node.Misbehave(devnet.NodeFault{Refuse: []string{"simulateTransaction"}})
	}
	if got := limit(); got != 50_000 {
		t.Errorf("a limit of %d of nodes that try nothing", got)
	}
	s.run(s.user, plan)
	s.want(e, chains.EscrowRefunded)
}

// What a wallet keeps back of its SOL covers the wrapping, whoever chose the fee rate
// (§12, §21.3).
func TestSpendableBalance(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][2]int64{wire.V1: {4710000, 2669920}, wire.V2: {4716960, 2676880}} {
		s := newScene(t, version)
		for i, user := range []account{s.poor(), s.user} {
			cost := chains.Cost{Kind: chains.StepInit, Token: wire.WSOL.String(), Payer: user.Address()}
			for _, rate := range []string{"20000", "20000;0"} {
				got, err := s.k.Estimate(t.Context(), cost, rate)
				if err != nil || got.Cmp(big.NewInt(want[i])) != 0 {
					t.Errorf("%s, wallet %d, rate %s: %s, %v; want %d", version, i, rate, got, err, want[i])
				}
			}
		}
		held := trial.Must(s.chain.Balance(t.Context(), s.user.Address(), wire.WSOL.String()))(t)
		e := balance.Estimator{Chain: func(string) (chains.Chain, bool) { return s.chain, true }}
		token := tokens.Token{Chain: solana.ChainID, Ticker: "SOL", Decimals: 9, Address: wire.WSOL.String()}
		got := trial.Must(e.Estimate(t.Context(), balance.Query{Token: token, Wallet: s.user.Address(), FeeRate: "20000"}))(t)
		if left := new(big.Int).Sub(held, big.NewInt(want[1])); got.Amount.Raw.Cmp(left) != 0 {
			t.Errorf("%s: %s can be spent of %s, want %s", version, got.Amount.Raw, held, left)
		}
		for _, bad := range []string{"-5", "0x10", "1,2", "5;;", "5#1;0"} {
			if err := s.chain.CheckFeeRate(bad); fault.CodeOf(err) != fault.InvalidInput {
				t.Errorf("fee rate %q: %v", bad, err)
			}
		}
	}
}

// Clocks that are far apart are worth a word in the log, once (§21.12), which says by how much.
func TestClocksThatDiffer(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	var log bytes.Buffer
	s.log = slog.New(slog.NewJSONHandler(&log, nil))
	c := s.open(t, wire.V1, nil, s.nodes[0].URL())
	s.skew = -20 * time.Minute
	for range 3 {
		_, err := c.Heads(t.Context())
		trial.Do(t, err)
	}
	if n := strings.Count(log.String(), "far apart"); n != 1 {
		t.Errorf("said %d times:\n%s", n, log.String())
	}
	if want := regexp.MustCompile(`"ahead":"-(19m5\d|20m\d)s"`); !want.Match(log.Bytes()) { // the chain's clock has whole seconds
		t.Errorf("got the log %s, want %s", &log, want)
	}
	s.skew = 0
	_, err := c.Heads(t.Context())
	trial.Do(t, err)
	trial.Do(t, c.(interface{ Close() error }).Close())
}

// Transactions that failed, and what calls the program with nonsense, do not end the
// reading of events (§21.9).
func TestNonsenseDoesNotEndTheHints(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	for _, data := range [][]byte{nil, {1, 2, 3}, bytes.Repeat([]byte{9}, 40)} {
		_, _ = s.user.Send(t.Context(), wire.Instruction{Program: s.program.Swap, Data: data})
	}
	e := s.in(s.user, lock(12), devnet.WBTC)
	seen := make(chan chains.Hint, 100)
	done := make(chan error, 1)
	ready := make(chan struct{}, 1)
	ctx := t.Context()
	go func() {
		done <- s.chain.Hints(ctx, chains.Cursor(`{}`), func(hints []chains.Hint, _ chains.Cursor) error {
			select {
			case ready <- struct{}{}:
			default:
			}
			for _, h := range hints {
				seen <- h
			}
			return nil
		})
	}()
	<-ready
	open := s.run(s.user, s.opening(s.user, e))
	_, _ = s.user.Send(t.Context(), wire.Instruction{Program: s.program.Swap, Data: []byte{4}})
	for {
		select {
		case h := <-seen:
			if h.TxID == open[0].ID && bytes.Equal(h.EscrowHash, e.Hash) && bytes.Equal(h.ClaimHash, e.ClaimHash) {
				return
			}
		case err := <-done:
			t.Fatal(err)
		case <-time.After(20 * time.Second):
			t.Fatal("no hint")
		}
	}
}

// What a transaction pays to an address is what it transfers.
func TestPaid(t *testing.T) {
	t.Parallel()
	s := newScene(t, wire.V1)
	to := s.poor()
	tx := trial.Must(s.user.Send(t.Context(), wire.Transfer(s.user.Account.Address, to.Account.Address, 7), wire.Transfer(s.user.Account.Address, to.Account.Address, 8),
		wire.Transfer(s.user.Account.Address, s.lp.Account.Address, 100)))(t)
	payouts := s.chain.(chains.Payouts)
	for who, want := range map[string]int64{to.Address(): 15, s.lp.Address(): 100, s.user.Address(): 0} {
		if got, err := payouts.Paid(t.Context(), tx.ID.String(), who); err != nil || got.Amount.Int64() != want || got.Witnesses != 2 {
			t.Errorf("%s got %s by %d nodes, %v; want %d", who, got.Amount, got.Witnesses, err, want)
		}
	}
	if got, err := payouts.Paid(t.Context(), wire.Signature{1}.String(), to.Address()); err != nil || got.Amount.Sign() != 0 || got.Witnesses != 0 {
		t.Errorf("an unknown transaction paid %s, %v", got.Amount, err)
	}
}
