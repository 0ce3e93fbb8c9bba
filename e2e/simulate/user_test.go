package simulate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/swapper-go/swapper"
	"github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/fault"
	devbitcoin "github.com/swapper-go/swapper/internal/devnet/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/control"
	"github.com/swapper-go/swapper/internal/devnet/lightning"
	invoice "github.com/swapper-go/swapper/internal/lightning"
)

// What each user begins with.
const (
	startTokens int64 = 1_000_000 // base units of WBTC
	startSats   int64 = 1_000_000 // on Bitcoin and over Lightning each
)

// user wants one swap, and does what it asks for.
type user struct {
	control.Wallet
	w     *world
	land  land
	order order
	n     int
	r     *rand.Rand

	shop     *lightning.Node
	payee    *devbitcoin.Wallet
	service  *lightning.LNURLServer
	link     string // LNURL-withdraw, to be handed in
	preimage [32]byte
	own      bool // the payment hash is the user's
	revealed bool

	mu     sync.Mutex
	in     swapper.CreateSwapInput
	id     string
	quote  swapper.SwapQuote
	last   *swapper.GetSwapStatusOutput
	states []string
	paid   bool
	acted  bool      // did something that may cost money
	hash   [32]byte  // of the user's Lightning payment
	odd    time.Time // since when there is neither an action nor a wait
	gone   bool      // no swap could be made
	gift   int64     // msat with which a stranger has paid the shop
	coins  *big.Int  // for gas, at first
}

func (w *world) newUser(ctx context.Context, i int) (*user, error) {
	u := &user{w: w, order: w.plan.orders[i], n: i, r: rand.New(rand.NewPCG(w.plan.seed, uint64(1000+i)))}
	n := w.net
	u.land = w.lands[slices.Index(w.plan.lands, u.order.land)]
	err := u.land.equip(ctx, &u.Wallet)
	if err != nil {
		return nil, err
	}
	if u.coins, err = u.land.native(u.land.address(&u.Wallet)); err != nil {
		return nil, err
	}
	if u.Lightning, err = n.Lightning.NewNode(fmt.Sprint("user ", i), startSats); err != nil {
		return nil, err
	}
	if u.shop, err = n.Lightning.NewNode(fmt.Sprint("shop ", i), 0); err != nil {
		return nil, err
	}
	if u.Bitcoin, err = n.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	if u.payee, err = n.Bitcoin.NewWallet(bitcoin.P2WPKH); err != nil {
		return nil, err
	}
	_, err = n.Bitcoin.Fund(u.Bitcoin.Address, startSats)
	u.Secret = func(string) swapper.Secret {
		if !u.own || !u.revealed {
			return ""
		}
		return swapper.Secret(hex.EncodeToString(u.preimage[:]))
	}
	return u, err
}

func (u *user) close() {
	if u.service != nil {
		_ = u.service.Close()
	}
}

func (u *user) serve(node *lightning.Node) (err error) {
	u.service, err = lightning.StartLNURL(lightning.LNURLOptions{Node: node, Now: u.w.net.Clock.Now, Network: u.w.network})
	return err
}

// request makes the request for the swap.
func (u *user) request() error {
	token := u.land.chain() + "-WBTC"
	o := u.order
	in := swapper.CreateSwapInput{Amount: big.NewInt(o.amount), AmountType: swapper.ExactIn, IdempotencyKey: fmt.Sprint("user ", u.n)}
	if strings.HasPrefix(o.kind, "TO_") {
		in.SrcToken, in.SrcAddress = token, u.land.address(&u.Wallet)
	} else {
		in.DstToken, in.DstAddress = token, u.land.address(&u.Wallet)
	}
	switch {
	case o.kind == "TO_BTC":
		in.DstToken, in.AmountType, in.DstAddress = "BITCOIN-BTC", swapper.ExactOut, u.payee.Address.String()
	case o.kind == "TO_BTCLN link":
		if err := u.serve(u.shop); err != nil {
			return err
		}
		links, err := u.service.AddPay(lightning.Pay{Name: "shop", MinMsat: 1000, MaxMsat: 1_000_000_000})
		if err != nil {
			return err
		}
		in.DstToken, in.DstAddress = "LIGHTNING-BTC", links.LNURL
	case o.kind == "TO_BTCLN":
		preimage, _ := lightning.Preimage(fmt.Sprint("shop ", u.n))
		invoice, err := u.shop.NewInvoice(lightning.InvoiceOptions{Preimage: preimage, AmountMsat: o.amount * 1000, Expiry: 12 * time.Hour})
		if err != nil {
			return err
		}
		in.DstToken, in.AmountType, in.DstAddress = "LIGHTNING-BTC", swapper.ExactOut, invoice
	case strings.HasPrefix(o.kind, "FROM_BTCLN"):
		in.SrcToken = "LIGHTNING-BTC"
		if strings.HasSuffix(o.kind, "voucher") {
			if err := u.serve(u.Lightning); err != nil {
				return err
			}
			links, err := u.service.AddWithdraw(lightning.Withdraw{Name: "voucher", MinMsat: 1000, MaxMsat: 1_000_000_000})
			if err != nil {
				return err
			}
			u.link = links.LNURL
			if u.r.IntN(2) == 0 {
				in.SrcAddress, u.link = u.link, ""
			}
		}
	case o.kind == "SPV_VAULT_FROM_BTC", o.kind == "FROM_BTC":
		in.SrcToken, in.Amount = "BITCOIN-BTC", big.NewInt(o.amount+100_000)
	}
	u.in = in
	if strings.HasSuffix(o.kind, "own hash") {
		u.ownHash()
	}
	return nil
}

func (u *user) ownHash() {
	u.own = true
	u.preimage = sha256.Sum256(fmt.Appendf(nil, "own %d %d %d", u.w.plan.seed, u.n, u.r.Uint64()))
	hash := sha256.Sum256(u.preimage[:])
	u.in.PaymentHash, u.in.IdempotencyKey = hex.EncodeToString(hash[:]), fmt.Sprint("user ", u.n, " ", u.r.Uint64())
}

func (u *user) gas() bool { return strings.HasPrefix(u.order.kind, "TRUSTED") }

func (u *user) create(ctx context.Context, p *process) (*swapper.CreateSwapOutput, error) {
	if !u.gas() {
		return p.client.CreateSwap(ctx, u.in)
	}
	amount, _ := u.land.drop()
	source := map[string]string{"TRUSTED_FROM_BTC": "BITCOIN-BTC", "TRUSTED_FROM_BTCLN": "LIGHTNING-BTC"}[u.order.kind]
	return p.client.CreateGasSwap(ctx, swapper.CreateGasSwapInput{SrcToken: source, ChainID: u.land.chain(), Amount: amount, DstAddress: u.land.address(&u.Wallet),
		RefundAddress: map[bool]string{true: u.Bitcoin.Address.String()}[source == "BITCOIN-BTC"], LP: u.w.net.LPURLs()[0], IdempotencyKey: u.in.IdempotencyKey})
}

// live is the user's time.
func (u *user) live(ctx context.Context) {
	sleep(ctx, u.order.at-u.w.at())
	if err := u.request(); err != nil {
		u.w.broken("user %d: %v", u.n, err)
		return
	}
	for tries := 0; u.id == "" && ctx.Err() == nil; tries++ {
		if tries == 80 {
			u.w.note("user %d gives up", u.n)
			u.gone = true
			return
		}
		p, err := u.w.any(u.n + tries)
		if err == nil {
			var s *swapper.CreateSwapOutput
			within, cancel := context.WithTimeout(ctx, 2*time.Minute)
			if s, err = u.create(within, p); err == nil {
				u.mu.Lock()
				u.id, u.quote = s.SwapID, s.Quote
				u.mu.Unlock()
				u.w.note("user %d has swap %.8s: %s of %s for %s", u.n, s.SwapID, s.SwapType, s.Quote.InputAmount.RawAmount, s.Quote.OutputAmount.RawAmount)
			} else if u.own && u.r.IntN(3) == 0 {
				u.ownHash()
			}
			cancel()
		}
		if err != nil {
			u.trouble("createSwap", err)
			sleep(ctx, time.Duration(10+u.r.IntN(60))*time.Second)
		}
	}
	for step := 0; ctx.Err() == nil; {
		did := u.step(ctx)
		pause := time.Duration(5+u.r.IntN(25)) * time.Second
		if did && step < len(u.order.pauses) && !u.order.stays {
			pause = u.order.pauses[step]
			step++
		}
		if u.last != nil && u.last.IsFinished {
			pause = 3 * time.Minute
		}
		sleep(ctx, pause)
	}
}

// trouble looks at an error of an operation.
func (u *user) trouble(what string, err error) {
	u.w.note("user %d: %s: %v", u.n, what, err)
	u.w.hears(u, err.Error())
	if strings.Contains(err.Error(), "panic") {
		u.w.broken("user %d: %s: %v", u.n, what, err)
	}
}

// step looks at the swap and does what it asks for; it reports whether something was.
func (u *user) step(ctx context.Context) bool {
	p, err := u.w.any(u.r.IntN(2))
	if err != nil {
		return false
	}
	u.Swaps = p.client
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	s, err := u.Look(ctx, u.id)
	if err != nil {
		if fault.CodeOf(err) == fault.NotFound && !u.forgotten() {
			u.w.broken("user %d: the swap %.8s, last %s, is not found", u.n, u.id, u.state())
		}
		u.trouble("getSwapStatus", err)
		return false
	}
	u.saw(s)
	problem := ""
	if s.ActionError != nil {
		problem = s.ActionError.Error
	}
	u.w.hears(u, problem)
	if s.RequiresSecretReveal != nil && *s.RequiresSecretReveal {
		u.revealed = true
	}
	a := s.CurrentAction
	_, waits := a.(*swapper.Wait)
	if a == nil || waits || u.order.forgets && !u.acted {
		return false
	}
	u.acts(a)
	u.w.promises.pays(u, a)
	switch _, pays := a.(*swapper.SendToAddress); {
	case pays && strings.HasSuffix(u.order.kind, "voucher"):
		link := u.link
		if s.LNURL != nil && s.LNURL.Withdraw != "" {
			link = ""
		}
		u.w.promises.wants(u.service.Host())
		_, err = p.client.SettleWithLnurl(ctx, swapper.SettleWithLnurlInput{SwapID: u.id, LnurlWithdraw: link})
	case pays && !u.paid:
		if err = u.Do(ctx, u.id, a); err == nil {
			u.mu.Lock()
			u.paid = true
			u.mu.Unlock()
		}
	case pays:
		return false
	default:
		err = u.sign(ctx, p, a)
	}
	u.w.note("user %d: %s: %v", u.n, a.Type(), err)
	return err == nil
}

// acts notes that the user is about to do something.
func (u *user) acts(a swapper.Action) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.acted = true
	if pay, ok := a.(*swapper.SendToAddress); ok {
		for _, tx := range pay.Txs {
			if inv, err := invoice.Decode(tx.Address); err == nil {
				u.hash = inv.PaymentHash
			}
		}
	}
}

func (u *user) sign(ctx context.Context, p *process, a swapper.Action) error {
	signed, err := u.SignAction(a)
	if err != nil {
		return err
	}
	in := swapper.SubmitTransactionInput{SwapID: u.id, SignedTxs: signed}
	if u.order.hasty { // twice at once, at whoever runs
		if other, err := u.w.any(1); err == nil {
			u.w.busy.Go(func() { _, _ = other.client.SubmitTransaction(ctx, in) })
		}
	}
	_, err = p.client.SubmitTransaction(ctx, in)
	return err
}

// told reports whether a status says what goes on: what to do, what is waited for, what is wrong,
// that it is too late, or by its steps that the user has been paid or something may still come.
func told(s *swapper.GetSwapStatusOutput) bool {
	return s.IsFinished || s.IsFailed || s.CurrentAction != nil || s.ActionError != nil ||
		slices.ContainsFunc(s.Steps, func(x swapper.Step) bool { return x.Status == "soft_settled" || x.Status == "soft_expired" })
}

// saw checks what a status says.
func (u *user) saw(s *swapper.GetSwapStatusOutput) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.last == nil || u.last.State != s.State {
		u.w.note("user %d is in state %s", u.n, s.State.Name)
		u.states = append(u.states, s.State.Name)
		if s.IsFinished {
			u.w.promises.finished(u, s)
		}
	}
	u.last = s
	switch {
	case told(s):
		u.odd = time.Time{}
	case u.odd.IsZero():
		u.odd = time.Now()
	case time.Since(u.odd) > 30*time.Minute:
		u.w.broken("user %d: %s in state %s says neither what to do nor what is waited for", u.n, s.SwapType, s.State.Name)
	}
}

func (u *user) state() string {
	if u.last == nil {
		return "none"
	}
	return u.last.State.Name
}

// forgotten reports whether the record may have been deleted: it expired unused.
func (u *user) forgotten() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.last == nil || u.last.IsFinished && !u.last.IsSuccess || strings.Contains(u.last.State.Name, "EXPIRED")
}

// over reports whether nothing is left to do.
func (u *user) over() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.gone || u.last == nil {
		return u.gone
	}
	if u.pending() {
		return false
	}
	return u.last.IsFinished || u.idle()
}

// idle reports whether nothing has left the user for a quote that has expired: it is followed for
// a day or so, and shows no action.
func (u *user) idle() bool {
	return u.untouched() && strings.Contains(u.last.State.Name, "SOFT_EXPIRED")
}

// untouched reports whether nothing has left the user for the swap.
func (u *user) untouched() bool {
	if strings.Contains(u.order.kind, "FROM_BTCLN") {
		return u.Lightning.BalanceMsat() == startSats*1000
	}
	return !u.acted
}

// takeBack spends the coins that a provider neither uses nor gives up, as somebody does who has
// waited for a day.
func (u *user) takeBack() {
	u.mu.Lock()
	bound := u.order.kind == "SPV_VAULT_FROM_BTC" && u.last != nil && u.last.State.Name == "QUOTE_SOFT_EXPIRED"
	u.mu.Unlock()
	if !bound {
		return
	}
	var coins []bitcoin.OutPoint
	for _, c := range u.Bitcoin.Coins() {
		coins = append(coins, c.OutPoint)
	}
	tx, err := u.Bitcoin.Spend(20, coins)
	if err == nil {
		_, err = u.w.net.Bitcoin.Send(tx)
	}
	u.w.note("user %d takes the coins back: %v", u.n, err)
}

// pending reports whether the user's Lightning payment is on its way.
func (u *user) pending() bool {
	p, ok := u.Lightning.Payment(u.hash)
	return ok && p.State == lightning.Pending
}
