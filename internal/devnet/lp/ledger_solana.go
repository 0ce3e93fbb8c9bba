package lp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/solana"
	"github.com/swapper-go/swapper/internal/devnet/solana/bank"
	"github.com/swapper-go/swapper/internal/solana/wire"
)

// solanaChain is the identifier of the chain.
const solanaChain = "SOLANA"

// solanaLedger is Solana.
type solanaLedger struct {
	*solana.Party
	stranger wire.SecretKey // signs where the LP lies
}

func newSolanaLedger(p *solana.Party) *solanaLedger {
	return &solanaLedger{p, wire.DataKey([]byte("stranger"), [32]byte{})}
}

func (g *solanaLedger) chain() string   { return solanaChain }
func (g *solanaLedger) version() string { return g.Programs.Version }
func (g *solanaLedger) address() string { return g.Address().String() }
func (g *solanaLedger) native() string  { return wire.WSOL.String() }
func (g *solanaLedger) opens() bool     { return g.Programs.LPInit() }
func (g *solanaLedger) authTime() int64 { return authTimeout }
func (g *solanaLedger) close() error    { return nil }

func (g *solanaLedger) parseAddress(text string) (string, error) {
	k, err := wire.ParseKey(text)
	if err == nil && !wire.OnCurve(k) {
		err = wire.ErrOffCurve
	}
	return k.String(), err
}

func (g *solanaLedger) parseToken(text string) (string, error) {
	k, err := wire.ParseKey(text)
	return k.String(), err
}

func (g *solanaLedger) signer(stranger bool) wire.SecretKey {
	if stranger {
		return g.stranger
	}
	return g.Account.Key
}

func (g *solanaLedger) signData(data []byte, stranger bool) (string, error) {
	hash := sha256.Sum256(data)
	sig, err := g.signer(stranger).Sign(hash[:])
	return hex.EncodeToString(sig[:]), err
}

// signedBlock is the one whose hash authorisations carry.
func (g *solanaLedger) signedBlock() (b *bank.Block) {
	g.Net.Bank().Read(bank.Finalized, 0, func(v *bank.View) { b = v.Head() })
	return b
}

func (g *solanaLedger) prefetch(context.Context) (any, error) {
	b := g.signedBlock()
	return object{{"block", object{{"blockhash", b.Hash.String()}, {"previousBlockhash", b.ParentHash.String()}, {"parentSlot", b.ParentSlot},
		{"blockHeight", b.Height}, {"blockTime", b.Time}}}, {"slot", b.Slot}, {"timestamp", time.Now().UnixMilli()}}, nil
}

func (g *solanaLedger) escrow(spec chains.Spec, lie EscrowLie) (chains.Escrow, error) {
	d, err := g.Programs.Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	if lie.Solana != nil {
		lie.Solana(d)
	}
	return d.Escrow()
}

func (g *solanaLedger) authorizeInit(_ context.Context, e chains.Escrow, feeRate string, until int64, stranger bool) (chains.Auth, error) {
	d, err := wire.ParseSwapData(e.Data)
	if err != nil {
		return chains.Auth{}, err
	}
	rate, err := wire.ParseFeeRate(feeRate)
	if err != nil {
		return chains.Auth{}, badBody("feeRate")
	}
	user := d.Claimer
	if d.PayIn {
		user = d.Offerer
	}
	tx, err := g.Programs.InitTx(d, user, uint64(until), rate)
	if err != nil {
		return chains.Auth{}, err
	}
	b := g.signedBlock()
	tx.Blockhash = b.Hash
	m, err := tx.Message()
	if err != nil {
		return chains.Auth{}, err
	}
	raw, err := m.MarshalBinary()
	if err != nil {
		return chains.Auth{}, err
	}
	sig, err := g.signer(stranger).Sign(raw)
	return wire.InitAuth{Prefix: d.InitPrefix(), Timeout: uint64(until), Slot: b.Slot, Signature: sig}.Auth(), err
}

func (g *solanaLedger) authorizeRefund(e chains.Escrow, until int64, stranger bool) (chains.Auth, error) {
	d, err := wire.ParseSwapData(e.Data)
	if err != nil {
		return chains.Auth{}, err
	}
	m := d.RefundMessage(uint64(until))
	sig, err := g.signer(stranger).Sign(m[:])
	return wire.RefundAuth{Timeout: uint64(until), Signature: sig}.Auth(), err
}

func (g *solanaLedger) head() chains.Block { return solana.Head(g.Net.Bank(), bank.Confirmed) }

func (g *solanaLedger) facts(_ context.Context, of []chains.Escrow, _ chains.Block) (map[string]chains.EscrowFact, error) {
	all := make([]*wire.SwapData, len(of))
	for i, e := range of {
		var err error
		if all[i], err = wire.ParseSwapData(e.Data); err != nil {
			return nil, err
		}
	}
	facts := make(map[string]chains.EscrowFact)
	for i, f := range solana.Facts(g.Net.Bank(), g.Programs, all) {
		if f.Err == nil {
			facts[factKey(of[i])] = f
		}
	}
	return facts, nil
}

func (g *solanaLedger) funds(_ context.Context, token string) (*big.Int, error) {
	mint, err := wire.ParseKey(token)
	if err != nil {
		return nil, err
	}
	amount, err := g.Funds(mint)
	return new(big.Int).SetUint64(amount), err
}

func (g *solanaLedger) gas(context.Context) (*big.Int, error) {
	return new(big.Int).SetUint64(g.Net.Lamports(g.Address())), nil
}

func (g *solanaLedger) refundCost() *big.Int {
	return wire.RawRefundFee(new(wire.SwapData), solana.FeeRate)
}

func (g *solanaLedger) deposit(ctx context.Context, token string, amount *big.Int) error {
	mint, err := wire.ParseKey(token)
	if err != nil {
		return err
	}
	if !amount.IsUint64() {
		return fmt.Errorf("%s base units are more than a balance holds", amount)
	}
	return g.Deposit(ctx, mint, amount.Uint64())
}

func (g *solanaLedger) pay(ctx context.Context, to string, amount *big.Int) (string, error) {
	k, err := wire.ParseKey(to)
	if err != nil {
		return "", err
	}
	if !amount.IsUint64() {
		return "", fmt.Errorf("%s lamports are more than there are", amount)
	}
	id, err := g.Pay(ctx, k, amount.Uint64())
	return id.String(), err
}

func (g *solanaLedger) open(_ context.Context, e chains.Escrow, until int64) error {
	d, err := wire.ParseSwapData(e.Data)
	if err != nil {
		return err
	}
	txs, err := g.Programs.OpenTxs(d, g.Address(), wire.InitAuth{Prefix: d.InitPrefix(), Timeout: uint64(until)}, solana.FeeRate, wire.SignedBlock{}, nil)
	if err != nil {
		return err
	}
	for _, tx := range txs {
		raw, err := g.Account.Sign(tx)
		if err == nil {
			_, err = g.Net.Bank().Send(raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *solanaLedger) claimSecret(ctx context.Context, e chains.Escrow, secret [32]byte) error {
	d, err := wire.ParseSwapData(e.Data)
	if err == nil {
		_, err = g.ClaimSecret(ctx, d, secret)
	}
	return err
}

func (g *solanaLedger) claimBitcoin(ctx context.Context, e chains.Escrow, id btc.Hash, vout, _ uint32) error {
	d, err := wire.ParseSwapData(e.Data)
	if err == nil {
		_, err = g.ClaimBitcoin(ctx, d, id, vout)
	}
	return err
}

func (g *solanaLedger) refund(ctx context.Context, e chains.Escrow, _ time.Time) error {
	d, err := wire.ParseSwapData(e.Data)
	if err == nil {
		_, err = g.Refund(ctx, d)
	}
	return err
}
