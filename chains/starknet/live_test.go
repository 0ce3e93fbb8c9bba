package starknet_test

import (
	"crypto/sha256"
	"errors"
	"math/big"
	"testing"
	"time"

	"github.com/swapper-go/swapper/chains"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/chains/starknet"
	"github.com/swapper-go/swapper/fault"
	"github.com/swapper-go/swapper/internal/btc/rawtx"
	"github.com/swapper-go/swapper/internal/btc/single"
	devnet "github.com/swapper-go/swapper/internal/devnet/starknet"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

// live is the private network with a contract and a user.
type live struct {
	*localNet
	k    chains.VaultContract
	user account
	n    int64
}

func newLive(t *testing.T, o devnet.Options) *live {
	t.Helper()
	l := newNet(t, o)
	return l.scene(l.chain)
}

func (l *localNet) scene(c chains.Chain) *live {
	l.t.Helper()
	l.chain = c
	k, ok := c.Contract("")
	if !ok {
		l.t.Fatal("no contracts")
	}
	return &live{localNet: l, k: k.(chains.VaultContract), user: l.Account(l.t).(account)}
}

func (l *live) escrow(c chains.Condition, change func(*chains.Spec)) chains.Escrow {
	l.t.Helper()
	l.n++
	spec := chains.Spec{Kind: c.Kind, Condition: c, Offerer: l.user.Address(), Claimer: l.lp.Address(), Token: wire.Hex64(devnet.WBTC), Amount: big.NewInt(50_000),
		Sequence: big.NewInt(l.n), Expiry: l.Time().Add(5 * 24 * time.Hour).Unix(), PayIn: true}
	change(&spec)
	e := trial.Must(l.k.Expect(spec))(l.t)
	return e
}

func lock(n int64) chains.Condition {
	s := secret(n)
	return chains.Condition{Kind: chains.HTLC, PaymentHash: sha256.Sum256(s[:])}
}

func in(*chains.Spec) {}

func out(s *chains.Spec) {
	s.Offerer, s.Claimer, s.PayIn, s.PayOut = s.Claimer, s.Offerer, false, true
}

func (l *live) opening(by account, e chains.Escrow) chains.Plan {
	l.t.Helper()
	return chains.Plan{SwapID: "swap", Signer: by.Address(), Steps: []chains.Step{{Kind: chains.StepInit, Escrow: e, Auth: l.lp.AuthorizeInit(l.t, e, "", "", l.Time().Add(10*time.Minute))}}}
}

func (l *live) build(plan chains.Plan) chains.Unsigned {
	l.t.Helper()
	u := trial.Must(l.k.Build(l.t.Context(), plan))(l.t)
	return u
}

func (l *live) ready(by account, plan chains.Plan) []chains.Signed {
	l.t.Helper()
	plan.Signer = by.Address()
	txs := trial.Must(l.k.Check(plan, by.Sign(l.t, l.build(plan))))(l.t)
	return txs
}

// run builds, signs, checks, admits and sends a plan.
func (l *live) run(by account, plan chains.Plan) []chains.Signed {
	l.t.Helper()
	txs := l.ready(by, plan)
	plan.Signer = by.Address()
	trial.Do(l.t, l.k.Admit(l.t.Context(), plan, txs))
	for _, tx := range txs {
		trial.Do(l.t, l.chain.Send(l.t.Context(), tx))
		if s := l.status(tx); s.State != chains.TxConfirmed {
			l.t.Fatalf("%+v", s)
		}
	}
	return txs
}

func (l *live) status(tx chains.Signed) chains.TxStatus {
	l.t.Helper()
	all := trial.Must(l.chain.Status(l.t.Context(), []chains.Signed{tx}))(l.t)
	return all[0]
}

func (l *live) state(e chains.Escrow) chains.EscrowState {
	l.t.Helper()
	facts := trial.Must(l.k.Escrows(l.t.Context(), []chains.EscrowQuery{{Escrow: &e}}))(l.t)
	trial.Do(l.t, facts[0].Err)
	return facts[0].State
}

// A wallet that has never sent anything opens its first escrow: the deployment goes
// before, in the same plan.
func TestTheFirstTransactionOfAnAccount(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	fresh := account{l.localNet, l.NewAccount()}
	trial.Do(t, l.Fund(t.Context(), fresh.Account.Address, devnet.STRK(1000)))
	trial.Do(t, l.Mint(t.Context(), devnet.WBTC, fresh.Account.Address, big.NewInt(1e9)))
	e := l.escrow(lock(1), func(s *chains.Spec) { s.Offerer = fresh.Address() })
	plan := l.opening(fresh, e)
	u := l.build(plan)
	if len(u.Txs) != 2 {
		t.Fatalf("%d transactions", len(u.Txs))
	}
	bare := trial.Must(l.k.Check(plan, fresh.Sign(t, u)[1:]))(t)
	wants(t, "the opening without the deployment", l.k.Admit(t.Context(), plan, bare), "signedTxs[0]", "account's transactions from nonce 0 on are missing")
	txs := l.run(fresh, plan)
	if len(txs) != 2 || l.state(e) != chains.EscrowOpen {
		t.Errorf("%d transactions, the escrow is %s", len(txs), l.state(e))
	}
	if n := len(l.build(l.opening(fresh, l.escrow(lock(2), func(s *chains.Spec) { s.Offerer = fresh.Address() }))).Txs); n != 1 {
		t.Errorf("the second time: %d transactions", n)
	}
}

// An LP whose account is Argent's signs for itself, and its account's way to say no is
// understood.
func TestAnLPWithAnArgentAccount(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	owner := l.lp.Key
	args := []wire.Felt{{}, owner.Public(), wire.FeltOf(1)} // a Stark key, and no guardian
	deploy := wire.Deploy{ClassHash: contracts.ClassArgent, Salt: owner.Public(), ConstructorCalldata: args}
	trial.Do(t, l.Net.Chain().Place(deploy.Address(), contracts.ClassArgent, args...))
	at := wire.Hex64(deploy.Address())
	data := []byte("x")
	sign := func(by account) string {
		h := trial.Must(l.Network().DataMessage(data).Hash(deploy.Address()))(t)
		s := trial.Must(by.Key.Sign(h))(t)
		return wire.FormatSignature(s)
	}
	l.Mine(t, 1)
	trial.Do(t, l.chain.VerifyData(t.Context(), at, data, sign(l.lp)))
	for name, text := range map[string]string{"a stranger's": sign(l.user), "one felt": `["0x1"]`, "many felts": `["0x1","0x2","0x3","0x4","0x5","0x6","0x7"]`} {
		if _, ok := errors.AsType[*chains.AuthError](l.chain.VerifyData(t.Context(), at, data, text)); !ok {
			t.Errorf("%s: %v", name, l.chain.VerifyData(t.Context(), at, data, text))
		}
	}
}

// The account is asked before anything is sent: a signature by another key, or of what
// was altered afterwards, does not come as far as the nodes.
func TestASignatureThatIsNotTheAccounts(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	e := l.escrow(lock(1), in)
	plan := l.opening(l.user, e)
	u := l.build(plan)
	signed := l.user.Sign(t, u)
	tx := trial.Must(wire.ParseTransaction(signed[0]))(t)
	tx.Bounds.L2.MaxAmount++ // whatever the wallet may change, it must have signed
	altered := trial.Must(l.k.Check(plan, []string{tx.String()}))(t)
	wants(t, "what was altered after it was signed", l.k.Admit(t.Context(), plan, altered), "signedTxs[0]")
	if err := l.chain.Send(t.Context(), altered[0]); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("sent: %v", err)
	}
	l.run(l.user, plan)
}

// A third party brings the relay up to date while the wallet signs: what is handed out
// next needs no headers, and the claim that was signed before is as good as it was.
func TestTheRelayMovesBetweenTwoPolls(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	c := chains.Condition{Kind: chains.Onchain, Script: []byte{0, 20, 21: 9}, Sats: 120_000, Confirmations: 1}
	op := l.PayBitcoin(t, c.Script, int64(c.Sats), 0)
	e := l.escrow(c, out)
	l.run(l.user, l.opening(l.user, e))
	claim := chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: l.payment(op, c)}}}
	before := l.ready(l.user, claim)
	if len(before) != 2 {
		t.Fatalf("%d transactions with the relay behind", len(before))
	}
	l.SyncRelay(t)
	claim.Signer = l.user.Address()
	if err := l.k.Admit(t.Context(), claim, before); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("headers that are there already: %v", err)
	}
	after := l.ready(l.user, claim)
	if len(after) != 1 {
		t.Fatalf("%d transactions with the relay there", len(after))
	}
	l.run(l.user, claim)
	if l.state(e) != chains.EscrowClaimed {
		t.Errorf("the escrow is %s", l.state(e))
	}
}

func (l *live) payment(op bitcoin.OutPoint, c chains.Condition) *chains.Payment {
	l.t.Helper()
	tx := trial.Must(single.Tx(l.t.Context(), l.backend, op.Hash))(l.t)
	raw := trial.Must(rawtx.Encode(tx.Msg))(l.t)
	return &chains.Payment{Raw: raw, TxID: tx.ID, Vout: op.Index, Block: tx.BlockHash, Height: tx.Height, Confirmations: c.Confirmations, Condition: c}
}

// A reorganisation of Bitcoin that is longer than what one transaction carries becomes a
// fork of the relay over several, with a number of its own.
func TestALongForkOfTheRelay(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	l.MineBitcoin(t, 45)
	l.SyncRelay(t)
	l.ReorgBitcoin(t, 45)
	c := chains.Condition{Kind: chains.Onchain, Script: []byte{0, 20, 21: 9}, Sats: 120_000, Confirmations: 1}
	op := l.PayBitcoin(t, c.Script, int64(c.Sats), 0)
	e := l.escrow(c, out)
	l.run(l.user, l.opening(l.user, e))
	plan := chains.Plan{SwapID: "fork", Steps: []chains.Step{{Kind: chains.StepClaimBitcoin, Escrow: e, Payment: l.payment(op, c)}}}
	txs := l.run(l.user, plan)
	if len(txs) < 3 || l.state(e) != chains.EscrowClaimed {
		t.Errorf("%d transactions, the escrow is %s", len(txs), l.state(e))
	}
	fork := trial.Must(wire.ParseTransaction(string(txs[0].Raw)))(t)
	calls := trial.Must(wire.ParseExecuteCalldata(fork.Calldata))(t)
	if len(calls) != 1 || calls[0].Calldata[0].IsZero() {
		t.Error("the fork has no number")
	}
}

// More withdrawals than one transaction takes are claimed in several, in their order.
func TestManyWithdrawals(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	id := l.OpenVault(t, [2]uint64{1_000_000, 0}, 1)
	var last bitcoin.Hash
	for i := range wire.MaxVaultClaims + 2 {
		data := trial.Must(l.k.WithdrawalData(l.user.Address(), [2]uint64{uint64(1000 + i), 0}))(t)
		last = l.Withdraw(t, id, data, bitcoin.FeeShares{})
	}
	l.MineBitcoin(t, 1)
	l.SyncRelay(t)
	plan := chains.Plan{SwapID: "many", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: last}}}}
	txs := l.run(l.user, plan)
	if len(txs) != 4 {
		t.Errorf("%d transactions", len(txs))
	}
	for i, s := range txs {
		tx := trial.Must(wire.ParseTransaction(string(s.Raw)))(t)
		if tx.Bounds.L2.MaxAmount > 1_210_000_000 { // what public sequencers refuse
			t.Errorf("transaction %d asks for %d L2 gas", i, tx.Bounds.L2.MaxAmount)
		}
	}
	facts := trial.Must(l.k.Vaults(t.Context(), []chains.VaultID{id}))(t)
	if facts[0].Vault.Withdrawals != wire.MaxVaultClaims+2 || facts[0].Vault.UTXO.Hash != last {
		t.Errorf("%+v", facts[0].Vault)
	}
}

// What is in the block that is being made has not happened: it can vanish without a
// trace.
func TestAPreConfirmedTransactionVanishes(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	e := l.escrow(lock(1), in)
	plan := l.opening(l.user, e)
	txs := l.ready(l.user, plan)
	l.SetMining(false)
	trial.Do(t, l.chain.Send(t.Context(), txs[0]))
	if s := l.status(txs[0]); s.State != chains.TxPending || s.Final || s.Block.Height != 0 {
		t.Errorf("pre-confirmed: %+v", s)
	}
	if l.state(e) != chains.EscrowNone {
		t.Error("an escrow is open before its block is there")
	}
	if n := l.build(l.opening(l.user, l.escrow(lock(2), in))); len(n.Txs) != 1 {
		t.Errorf("%d transactions", len(n.Txs))
	}
	l.DropPreConfirmed()
	if s := l.status(txs[0]); s.State != chains.TxUnknown {
		t.Errorf("after it vanished: %+v", s)
	}
	l.SetMining(true)
	trial.Do(t, l.chain.Send(t.Context(), txs[0])) // the same one again
	if l.status(txs[0]).State != chains.TxConfirmed || l.state(e) != chains.EscrowOpen {
		t.Error("it is not there")
	}
}

// With a deposit and an amount in one token the opening goes through: they are approved
// together.
func TestDepositAndAmountInOneTokenOnTheNetwork(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	e := l.escrow(lock(1), func(s *chains.Spec) {
		s.Token, s.Amount, s.SecurityDeposit, s.ClaimerBounty = wire.Hex64(wire.STRK), big.NewInt(1_000_000), big.NewInt(70_000), big.NewInt(90_000)
	})
	l.run(l.user, l.opening(l.user, e))
	if l.state(e) != chains.EscrowOpen {
		t.Errorf("the escrow is %s", l.state(e))
	}
}

// A wallet spends all of its STRK but the reserve, and its transaction is taken: bounds
// that exceed the balance would be refused.
func TestAWalletSpendsAllButTheReserve(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	for _, deployed := range []bool{true, false} {
		poor := account{l.localNet, l.NewAccount()}
		trial.Do(t, l.Fund(t.Context(), poor.Account.Address, devnet.STRK(100)))
		if deployed {
			trial.Do(t, poor.Deploy(t.Context()))
		}
		strk := wire.Hex64(wire.STRK)
		balance := trial.Must(l.chain.Balance(t.Context(), poor.Address(), strk))(t)
		reserve := trial.Must(l.k.Estimate(t.Context(), chains.Cost{Kind: chains.StepInit, Token: strk, Payer: poor.Address()}, ""))(t)
		e := l.escrow(lock(1), func(s *chains.Spec) {
			s.Offerer, s.Token, s.Amount = poor.Address(), strk, new(big.Int).Sub(balance, reserve)
		})
		l.run(poor, l.opening(poor, e))
		if l.state(e) != chains.EscrowOpen {
			t.Errorf("deployed %v: the escrow is %s", deployed, l.state(e))
		}
	}
}

// A node of an old version that cannot tell the price of L2 gas does not stop a chain
// that has another one; alone it says why nothing is built.
func TestNodesOfSeveralVersions(t *testing.T) {
	t.Parallel()
	for _, version := range []devnet.NodeVersion{devnet.V8, devnet.V10} {
		l := newLive(t, devnet.Options{Version: version})
		e := l.escrow(lock(1), in)
		l.run(l.user, l.opening(l.user, e))
		l.run(l.lp, chains.Plan{SwapID: "claim", Steps: []chains.Step{{Kind: chains.StepClaimSecret, Escrow: e, Preimage: secret(1)}}})
		if l.state(e) != chains.EscrowClaimed {
			t.Errorf("%s: the escrow is %s", version, l.state(e))
		}
	}
	l := newNet(t, devnet.Options{})
	old := l.nodes[1].URL() + "/rpc/v0_7"
	mixed := l.scene(l.open(t, nil, old, l.nodes[0].URL()))
	e := mixed.escrow(lock(1), in)
	mixed.run(mixed.user, mixed.opening(mixed.user, e))
	if mixed.state(e) != chains.EscrowOpen {
		t.Errorf("the escrow is %s", mixed.state(e))
	}
	alone := l.open(t, nil, old)
	if _, err := alone.Heads(t.Context()); err != nil {
		t.Error(err)
	}
	starknet.AskOnce(alone)
	_, err := alone.FeeRate(t.Context())
	wants(t, "a fee rate without the price of L2 gas", err, "prices of all kinds of gas")
}

// A pool keeps a waiting transaction unless another one with its nonce offers a tenth
// more; what is built as its replacement does.
func TestOutbiddingAWaitingTransaction(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	e := l.escrow(lock(1), in)
	plan := l.opening(l.user, e)
	first := l.ready(l.user, plan)
	l.Hold(t, true)
	trial.Do(t, l.chain.Send(t.Context(), first[0]))
	tx := trial.Must(wire.ParseTransaction(l.build(plan).Txs[0]))(t)
	old := trial.Must(wire.ParseTransaction(string(first[0].Raw)))(t)
	tx.Bounds.L2.MaxPrice = new(big.Int).Add(old.Bounds.L2.MaxPrice, big.NewInt(1))
	low := trial.Must(l.k.Check(plan, l.user.Sign(t, chains.Unsigned{Txs: []string{tx.String()}})))(t)
	if err := l.chain.Send(t.Context(), low[0]); fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("a little more: %v", err)
	}
	plan.Replaces = first
	second := l.ready(l.user, plan)
	trial.Do(t, l.chain.Send(t.Context(), second[0]))
	l.Hold(t, false)
	l.Mine(t, 1)
	if s := l.status(second[0]); s.State != chains.TxConfirmed {
		t.Errorf("the second: %+v", s)
	}
	if s := l.status(first[0]); s.State != chains.TxReplaced {
		t.Errorf("the first: %+v", s)
	}
}

// Before the withdrawal that is to be claimed stands one of somebody else who wants a
// contract called with the payout, and one that was advanced: both are claimed on the way.
func TestAWithdrawalBehindOneWithACall(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	id := l.OpenVault(t, [2]uint64{1_000_000, 500_000}, 1)
	other := l.Account(t).(account)
	hash := wire.Poseidon(wire.FeltOf(1))
	call := trial.Must(wire.WithdrawalData(other.Address(), [2]uint64{20_000, 0}, &hash))(t)
	first := l.Withdraw(t, id, call, bitcoin.FeeShares{Execution: 100})
	advanced := trial.Must(l.k.WithdrawalData(other.Address(), [2]uint64{30_000, 0}))(t)
	second := l.Withdraw(t, id, advanced, bitcoin.FeeShares{Fronting: 50})
	l.Front(t, id, second)
	own, err := l.k.WithdrawalData(l.user.Address(), [2]uint64{40_000, 1000}) // with a gas drop
	trial.Do(t, err)
	third := l.Withdraw(t, id, own, bitcoin.FeeShares{Caller: 100})
	l.MineBitcoin(t, 1)
	l.run(l.user, chains.Plan{SwapID: "call", Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: third}}}})
	facts := trial.Must(l.k.Withdrawals(t.Context(), []chains.WithdrawalQuery{{Vault: id, Recipient: other.Address(), TxID: first}, {Vault: id, Recipient: other.Address(), TxID: second},
		{Vault: id, Recipient: l.user.Address(), TxID: third}}))(t)
	for i, f := range facts {
		if f.Err != nil || f.State != chains.WithdrawalClaimed || (f.FrontTx != "") != (i == 1) {
			t.Errorf("withdrawal %d: %+v", i, f)
		}
	}
}

// A withdrawal that the contract cannot read closes the vault when it is claimed, and all
// that is behind it is lost: nobody is asked to sign that.
func TestAWithdrawalThatWouldCloseTheVault(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	id := l.OpenVault(t, [2]uint64{1_000_000, 0}, 1)
	l.Withdraw(t, id, []byte("no withdrawal"), bitcoin.FeeShares{})
	own := trial.Must(l.k.WithdrawalData(l.user.Address(), [2]uint64{40_000, 0}))(l.t)
	tx := l.Withdraw(t, id, own, bitcoin.FeeShares{})
	l.MineBitcoin(t, 1)
	_, err := l.k.Build(t.Context(), chains.Plan{SwapID: "close", Signer: l.user.Address(),
		Steps: []chains.Step{{Kind: chains.StepVaultClaim, Vault: &chains.VaultPayment{Owner: id.Owner, ID: id.ID, TxID: tx}}}})
	if fault.CodeOf(err) != fault.InvalidState {
		t.Errorf("the claim is built, or refused for another reason: %v", err)
	}
}

// A wallet that lowers the bounds below what it takes would pay for nothing.
func TestBoundsThatAreTooLow(t *testing.T) {
	t.Parallel()
	l := newLive(t, devnet.Options{})
	plan := l.opening(l.user, l.escrow(lock(1), in))
	u := l.build(plan)
	for what, lower := range map[string]func(*wire.Bounds){
		"some L2 gas":   func(b *wire.Bounds) { b.L2.MaxAmount = 1_300_000 },
		"no L2 gas":     func(b *wire.Bounds) { b.L2.MaxAmount = 1000 },
		"some data gas": func(b *wire.Bounds) { b.L1Data.MaxAmount = 200 },
	} {
		tx := trial.Must(wire.ParseTransaction(u.Txs[0]))(l.t)
		lower(&tx.Bounds)
		txs := trial.Must(l.k.Check(plan, l.user.Sign(t, chains.Unsigned{Txs: []string{tx.String()}})))(t)
		err := l.k.Admit(t.Context(), plan, txs)
		wants(t, what, err, "signedTxs[0]")
		if fault.CodeOf(err) != fault.InvalidInput {
			t.Errorf("%s: %v", what, err)
		}
	}
}
