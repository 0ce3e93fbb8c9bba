package lp

import (
	"context"
	"math/big"
	"time"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	"github.com/swapper-go/swapper/internal/devnet/starknet/contracts"
	"github.com/swapper-go/swapper/internal/starknet/wire"
)

// starknetChain is the identifier of the chain.
const starknetChain = "STARKNET"

// starknetRefundCost is what a refund costs at most, in fri: its gas, at ten times what
// the local network asks.
var starknetRefundCost = big.NewInt(1e18)

// starknetLedger is Starknet.
type starknetLedger struct {
	*contracts.Party
	stranger contracts.Key // signs where the LP lies
}

func newStarknetLedger(p *contracts.Party) *starknetLedger {
	return &starknetLedger{p, contracts.KeyOf("stranger")}
}

func (g *starknetLedger) chain() string   { return starknetChain }
func (g *starknetLedger) version() string { return g.Deployment().Version }
func (g *starknetLedger) address() string { return wire.Hex64(g.Address()) }
func (g *starknetLedger) native() string  { return wire.Hex64(wire.STRK) }
func (g *starknetLedger) opens() bool     { return true }
func (g *starknetLedger) authTime() int64 { return starknetAuth }
func (g *starknetLedger) close() error    { return nil }

func (g *starknetLedger) parseAddress(text string) (string, error) { return wire.Address(text) }
func (g *starknetLedger) parseToken(text string) (string, error)   { return wire.Address(text) }

// sign signs typed data, which names the account that signs: a stranger signs as if he
// were the LP.
func (g *starknetLedger) sign(m wire.TypedData, stranger bool) (string, error) {
	if !stranger {
		return g.Key.SignMessage(m)
	}
	hash, err := m.Hash(g.Address())
	if err != nil {
		return "", err
	}
	signature, err := g.stranger.Sign(hash)
	return wire.FormatSignature(signature), err
}

func (g *starknetLedger) signData(data []byte, stranger bool) (string, error) {
	return g.sign(g.Net.Network().DataMessage(data), stranger)
}

func (g *starknetLedger) prefetch(context.Context) (any, error) { return nil, nil }

func (g *starknetLedger) escrow(spec chains.Spec, lie EscrowLie) (chains.Escrow, error) {
	s, err := g.Deployment().Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	s.Amount = new(big.Int).Set(s.Amount) // a lie must not change what is answered beside the escrow
	if lie.Starknet != nil {
		lie.Starknet(&s)
	}
	return g.Deployment().Escrow(s)
}

func (g *starknetLedger) authorizeInit(_ context.Context, e chains.Escrow, _ string, until int64, stranger bool) (chains.Auth, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return chains.Auth{}, err
	}
	m, err := g.Net.Network().InitMessage(s, until)
	if err != nil {
		return chains.Auth{}, err
	}
	a := chains.Auth{Prefix: initPrefix(e), Timeout: until}
	a.Signature, err = g.sign(m, stranger)
	return a, err
}

func (g *starknetLedger) authorizeRefund(e chains.Escrow, until int64, stranger bool) (chains.Auth, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return chains.Auth{}, err
	}
	hash, err := s.EscrowHash()
	if err != nil {
		return chains.Auth{}, err
	}
	m, err := g.Net.Network().RefundMessage(hash, until)
	if err != nil {
		return chains.Auth{}, err
	}
	a := chains.Auth{Prefix: "refund", Timeout: until}
	a.Signature, err = g.sign(m, stranger)
	return a, err
}

func (g *starknetLedger) head() chains.Block { return g.Net.Head() }

func (g *starknetLedger) facts(_ context.Context, of []chains.Escrow, _ chains.Block) (map[string]chains.EscrowFact, error) {
	hashes := make([]wire.Felt, len(of))
	for i, e := range of {
		var err error
		if hashes[i], err = wire.FeltOfBytes(e.Hash); err != nil {
			return nil, err
		}
	}
	read, err := g.Facts(hashes...)
	if err != nil {
		return nil, err
	}
	facts := make(map[string]chains.EscrowFact)
	for i, f := range read {
		if f.Err == nil {
			facts[factKey(of[i])] = f
		}
	}
	return facts, nil
}

func (g *starknetLedger) funds(_ context.Context, token string) (*big.Int, error) {
	at, err := wire.ParseAddress(token)
	if err != nil {
		return nil, err
	}
	return g.Funds(at)
}

func (g *starknetLedger) gas(context.Context) (*big.Int, error) {
	return g.Balance(wire.STRK, g.Address())
}

func (g *starknetLedger) refundCost() *big.Int { return new(big.Int).Set(starknetRefundCost) }

func (g *starknetLedger) deposit(ctx context.Context, token string, amount *big.Int) error {
	at, err := wire.ParseAddress(token)
	if err != nil {
		return err
	}
	return g.Deposit(ctx, at, amount)
}

func (g *starknetLedger) pay(ctx context.Context, to string, amount *big.Int) (string, error) {
	at, err := wire.ParseAddress(to)
	if err != nil {
		return "", err
	}
	id, err := g.Pay(ctx, at, amount)
	return wire.Hex(id), err
}

func (g *starknetLedger) open(_ context.Context, e chains.Escrow, until int64) error {
	s, err := wire.SwapDataOf(e)
	if err == nil {
		_, err = g.Open(s, until)
	}
	return err
}

func (g *starknetLedger) claimSecret(ctx context.Context, e chains.Escrow, secret [32]byte) error {
	s, err := wire.SwapDataOf(e)
	if err == nil {
		_, err = g.ClaimSecret(ctx, s, secret)
	}
	return err
}

func (g *starknetLedger) claimBitcoin(ctx context.Context, e chains.Escrow, id btc.Hash, vout, confirmations uint32) error {
	s, err := wire.SwapDataOf(e)
	if err == nil {
		_, err = g.ClaimBitcoin(ctx, s, id, vout, confirmations)
	}
	return err
}

func (g *starknetLedger) refund(ctx context.Context, e chains.Escrow, now time.Time) error {
	s, err := wire.SwapDataOf(e)
	if err == nil {
		_, err = g.Refund(ctx, s, now)
	}
	return err
}
