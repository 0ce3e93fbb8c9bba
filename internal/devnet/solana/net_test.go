package solana_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	client "github.com/gagliardetto/solana-go/rpc"

	"github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
	"github.com/swapper-go/swapper/internal/trial"
)

func start(t *testing.T, o solana.Options) *solana.Net {
	t.Helper()
	n := trial.Must(solana.Start(o))(t)
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

func TestFunds(t *testing.T) {
	n, ctx := start(t, solana.Options{}), t.Context()
	a := n.NewAccount()
	trial.Do(t, n.Fund(ctx, a.Address, solana.SOL(3)))
	for mint, amount := range map[wire.Key]uint64{solana.USDC: 5, solana.WBTC: 6, wire.WSOL: 7} {
		trial.Do(t, n.Mint(ctx, mint, a.Address, amount))
		if got := n.Tokens(mint, a.Address); got != amount {
			t.Errorf("%d of %s, want %d", got, mint, amount)
		}
	}
	if got := n.Lamports(a.Address); got != solana.SOL(3) {
		t.Errorf("%d lamports", got)
	}
	before := n.Tokens(solana.USDC, n.LP.Address)
	if _, err := n.User.Send(ctx, wire.TransferToken(wire.ATA(n.User.Address, solana.USDC), wire.ATA(n.LP.Address, solana.USDC), n.User.Address, 9)); err != nil {
		t.Fatal(err)
	}
	if got := n.Tokens(solana.USDC, n.LP.Address); got != before+9 {
		t.Errorf("the LP has %d, had %d", got, before)
	}
	_, err := a.Send(ctx, wire.Transfer(a.Address, n.LP.Address, solana.SOL(4)))
	var failed *solana.FailedError
	var number bank.Custom
	if !errors.As(err, &failed) || !errors.As(err, &number) || number != 1 {
		t.Errorf("overspending: %v", err)
	}
}

func TestDeposit(t *testing.T) {
	n, ctx := start(t, solana.Options{Manual: true}), t.Context()
	for _, p := range n.Programs() {
		for _, mint := range []wire.Key{solana.USDC, wire.WSOL} {
			if err := n.Deposit(ctx, p.Version, n.LP, mint, 1_000_000); err != nil {
				t.Fatalf("%s: %v", p.Version, err)
			}
			var vault wire.UserVault
			n.Bank().Read(bank.Processed, 0, func(v *bank.View) {
				a, _ := v.Account(p.UserVault(n.LP.Address, mint))
				var err error
				if vault, err = wire.DecodeUserVault(a.Data); err != nil {
					t.Error(err)
				}
			})
			if vault.Amount != 1_000_000 {
				t.Errorf("%s: the vault has %d", p.Version, vault.Amount)
			}
		}
	}
}

// relayed demands that the relays know Bitcoin's tip.
func relayed(t *testing.T, n *solana.Net) {
	t.Helper()
	trial.Do(t, n.SyncRelay(t.Context()))
	tip, _ := n.Bitcoin().Tip()
	for _, p := range n.Programs() {
		if height, err := n.RelayHeight(p.Version); err != nil || height != tip {
			t.Errorf("%s: the relay is at %d, Bitcoin at %d: %v", p.Version, height, tip, err)
		}
	}
	want := trial.Must(n.StoredHeader(tip))(t)
	for _, p := range n.Programs() {
		n.Bank().Read(bank.Processed, 0, func(v *bank.View) {
			a, _ := v.Account(p.RelayState())
			s, err := wire.DecodeRelayState(a.Data)
			if err != nil || s.TipCommitment != want.Commitment() {
				t.Errorf("%s: another tip: %v", p.Version, err)
			}
		})
	}
}

// TestRelayFollows brings the relays over new blocks, and over forks that take one or
// several transactions.
func TestRelayFollows(t *testing.T) {
	n := start(t, solana.Options{})
	relayed(t, n)
	for _, depth := range []int{1, 2, 7} {
		if _, err := n.Bitcoin().Mine(12); err != nil {
			t.Fatal(err)
		}
		relayed(t, n)
		trial.Do(t, n.Bitcoin().Reorg(depth))
		relayed(t, n)
	}
}

func TestTimeAndForks(t *testing.T) {
	now := time.Unix(1_760_000_000, 0)
	n := start(t, solana.Options{Now: func() time.Time { return now }, FinalizedLag: 3})
	ctx := t.Context()
	before := n.Head()
	trial.Do(t, n.Advance(time.Hour))
	if !n.Time().Equal(now.Add(time.Hour)) {
		t.Errorf("the time is %s", n.Time())
	}
	if grown := n.Head().Slot - before.Slot; grown != 9000 || n.Head().Height-before.Height != grown {
		t.Errorf("%d slots, %d blocks in an hour", grown, n.Head().Height-before.Height)
	}
	a := n.NewAccount()
	trial.Do(t, n.Fund(ctx, a.Address, solana.SOL(1)))
	trial.Do(t, n.Reorg(1))
	if n.Lamports(a.Address) != 0 {
		t.Error("the replaced block left something")
	}
	n.Mine(1)
	if n.Lamports(a.Address) != solana.SOL(1) {
		t.Error("the transaction did not come again")
	}
	trial.Do(t, n.Forget(1))
	n.Mine(1)
	if n.Lamports(a.Address) != 0 {
		t.Error("the transaction came again")
	}
	n.SetMining(false)
	n.DropPending()
}

// TestServers asks a second server for SOL and sees it through the first.
func TestServers(t *testing.T) {
	n, ctx := start(t, solana.Options{SlotTime: 5 * time.Millisecond, ConfirmedLag: 1, FinalizedLag: 2}), t.Context()
	second := trial.Must(n.Serve(""))(t)
	to := n.NewAccount().Address
	id := trial.Must(client.New(second.URL()).RequestAirdrop(ctx, to, 5, client.CommitmentConfirmed))(t)
	if tx, err := n.Wait(ctx, id); err == nil || tx.Err == nil { // five lamports are no rent
		t.Fatalf("%+v: %v", tx, err)
	}
	if _, err := client.New(second.URL()).RequestAirdrop(ctx, to, solana.SOL(5), client.CommitmentConfirmed); err != nil {
		t.Fatal(err)
	}
	for {
		balance := trial.Must(client.New(n.URL()).GetBalance(ctx, to, client.CommitmentFinalized))(t)
		if balance.Value == solana.SOL(5) {
			return
		}
	}
}

// While blocks come by the clock nobody makes others, and afterwards each transaction has its own again.
func TestPace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // after Bitcoin's first block
		network := new(loopback.Network)
		coins := trial.Must(bitcoin.Start(bitcoin.Options{Network: network}))(t)
		defer coins.Close()
		n := start(t, solana.Options{Bitcoin: coins, Network: network})
		defer n.Close()
		a, began, height := n.NewAccount(), time.Now(), n.Head().Height
		stop := n.Pace(wire.SlotTime)
		if err := n.Fund(t.Context(), a.Address, 1_000_000); err != nil || time.Since(began) != wire.SlotTime {
			t.Errorf("executed after %v: %v", time.Since(began), err)
		}
		time.Sleep(time.Minute)
		stop()
		if got := n.Head().Height - height; got != 151 {
			t.Errorf("%d blocks in 60.4 s", got)
		}
		began = time.Now()
		if err := n.Fund(t.Context(), a.Address, 1_000_000); err != nil || time.Since(began) != 0 {
			t.Errorf("executed after %v: %v", time.Since(began), err)
		}
	})
}
