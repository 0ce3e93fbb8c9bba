package lp

import (
	"context"
	"errors"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"

	"github.com/swapper-go/swapper/chains"
	btc "github.com/swapper-go/swapper/chains/bitcoin"
	devnet "github.com/swapper-go/swapper/internal/devnet/evm"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// refundGas is what a refund takes at most.
const refundGas = 150_000

// evmLedger is an EVM chain.
type evmLedger struct {
	net      *devnet.Net
	account  *devnet.Account
	stranger *devnet.Account // signs where the LP lies
	reader   *chainReader
}

func newEVMLedger(n *devnet.Net, account *devnet.Account) (*evmLedger, error) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("stranger")))
	if err != nil {
		return nil, err
	}
	r, err := newChainReader(n)
	if err != nil {
		return nil, err
	}
	return &evmLedger{n, account, &devnet.Account{Key: key}, r}, nil
}

func (g *evmLedger) chain() string   { return g.net.Network().Chain }
func (g *evmLedger) version() string { return g.net.Deployment().Version }
func (g *evmLedger) address() string { return g.account.Address.Hex() }
func (g *evmLedger) native() string  { return devnet.Native.Hex() }
func (g *evmLedger) opens() bool     { return true }
func (g *evmLedger) authTime() int64 { return authTimeout }
func (g *evmLedger) close() error    { return g.reader.close() }

func (g *evmLedger) parseAddress(text string) (string, error) {
	if !common.IsHexAddress(text) {
		return "", errors.New("not an EVM address")
	}
	return common.HexToAddress(text).Hex(), nil
}

func (g *evmLedger) parseToken(text string) (string, error) { return g.parseAddress(text) }

func (g *evmLedger) signer(stranger bool) *devnet.Account {
	if stranger {
		return g.stranger
	}
	return g.account
}

func (g *evmLedger) signData(data []byte, stranger bool) (string, error) {
	return g.signer(stranger).SignDigest(g.net.Network().DataDigest(data))
}

func (g *evmLedger) prefetch(context.Context) (any, error) { return nil, nil }

func (g *evmLedger) escrow(spec chains.Spec, lie EscrowLie) (chains.Escrow, error) {
	s, err := g.net.Deployment().Expect(spec)
	if err != nil {
		return chains.Escrow{}, err
	}
	s.Amount = new(big.Int).Set(s.Amount) // a lie must not change what is answered beside the escrow
	if lie.EVM != nil {
		lie.EVM(&s)
	}
	return g.net.Deployment().Escrow(s)
}

func (g *evmLedger) authorizeInit(_ context.Context, e chains.Escrow, _ string, until int64, stranger bool) (chains.Auth, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return chains.Auth{}, err
	}
	digest, err := g.net.Network().InitDigest(g.net.Deployment(), s, until)
	if err != nil {
		return chains.Auth{}, err
	}
	a := chains.Auth{Prefix: initPrefix(e), Timeout: until}
	a.Signature, err = g.signer(stranger).SignDigest(digest)
	return a, err
}

func (g *evmLedger) authorizeRefund(e chains.Escrow, until int64, stranger bool) (chains.Auth, error) {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return chains.Auth{}, err
	}
	digest, err := g.net.Network().RefundDigest(g.net.Deployment(), s, until)
	if err != nil {
		return chains.Auth{}, err
	}
	a := chains.Auth{Prefix: "refund", Timeout: until}
	a.Signature, err = g.signer(stranger).SignDigest(digest)
	return a, err
}

func (g *evmLedger) head() chains.Block { return g.reader.head() }

func (g *evmLedger) facts(ctx context.Context, of []chains.Escrow, at chains.Block) (map[string]chains.EscrowFact, error) {
	hashes := make([]common.Hash, len(of))
	for i, e := range of {
		hashes[i] = common.BytesToHash(e.Hash)
	}
	return g.reader.escrows(ctx, hashes, at)
}

func (g *evmLedger) funds(ctx context.Context, token string) (*big.Int, error) {
	return g.reader.funds(ctx, g.account.Address, common.HexToAddress(token))
}

func (g *evmLedger) gas(ctx context.Context) (*big.Int, error) {
	var have hexutil.Big
	err := g.reader.client.CallContext(ctx, &have, "eth_getBalance", g.account.Address, "latest")
	return (*big.Int)(&have), err
}

func (g *evmLedger) refundCost() *big.Int {
	price := new(big.Int).SetUint64(g.net.Network().PriorityFee)
	return price.Add(price, g.net.Head().BaseFee).Mul(price, big.NewInt(refundGas))
}

func (g *evmLedger) deposit(ctx context.Context, token string, amount *big.Int) error {
	return g.net.Deposit(ctx, g.account, common.HexToAddress(token), amount)
}

func (g *evmLedger) pay(ctx context.Context, to string, amount *big.Int) (string, error) {
	call, err := devnet.Transfer(devnet.Native, common.HexToAddress(to), amount)
	if err != nil {
		return "", err
	}
	receipt, err := g.account.Send(ctx, call)
	if err != nil {
		return "", err
	}
	return receipt.TxHash.Hex(), nil
}

func (g *evmLedger) open(ctx context.Context, e chains.Escrow, until int64) error {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return err
	}
	calls, err := g.net.Deployment().Init(s, g.account.Address, chains.Auth{Prefix: initPrefix(e), Timeout: until})
	if err != nil {
		return err
	}
	for _, c := range calls {
		if _, err := g.account.Submit(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

func (g *evmLedger) claimSecret(ctx context.Context, e chains.Escrow, secret [32]byte) error {
	return g.send(ctx, e, func(s wire.SwapData) (wire.Call, error) {
		return g.net.Deployment().ClaimBySecret(s, secret)
	})
}

func (g *evmLedger) claimBitcoin(ctx context.Context, e chains.Escrow, id btc.Hash, vout, confirmations uint32) error {
	if err := g.net.SyncRelay(ctx); err != nil {
		return err
	}
	proof, err := g.net.Proof(id, vout, confirmations)
	if err != nil {
		return err
	}
	return g.send(ctx, e, func(s wire.SwapData) (wire.Call, error) {
		return g.net.Deployment().ClaimByBitcoin(s, proof)
	})
}

func (g *evmLedger) refund(ctx context.Context, e chains.Escrow, now time.Time) error {
	return g.send(ctx, e, func(s wire.SwapData) (wire.Call, error) {
		return g.net.Deployment().Refund(s, now)
	})
}

// send sends one call about an escrow, and waits for it.
func (g *evmLedger) send(ctx context.Context, e chains.Escrow, of func(wire.SwapData) (wire.Call, error)) error {
	s, err := wire.SwapDataOf(e)
	if err != nil {
		return err
	}
	call, err := of(s)
	if err != nil {
		return err
	}
	_, err = g.account.Send(ctx, call)
	return err
}
