package evm

import (
	"context"
	"crypto/ecdsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"time"

	"github.com/ethereum/go-ethereum"
	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethclient"

	"github.com/swapper-go/swapper/internal/devnet/loopback"
	"github.com/swapper-go/swapper/internal/evm/wire"
)

// Account is a key of the network. It is safe for concurrent use: transactions
// get one nonce after the other, also beside others that somebody else sent for
// the same key.
type Account struct {
	Address common.Address
	Key     *ecdsa.PrivateKey
	net     *Net
	mu      loopback.Mutex
}

// NewAccount makes an account without funds. The n-th account of a network has
// the same key in every run.
func (n *Net) NewAccount() (*Account, error) {
	n.mu.Lock()
	n.accounts++
	name := fmt.Sprintf("account %d", n.accounts)
	n.mu.Unlock()
	return n.account(name)
}

func (n *Net) account(name string) (*Account, error) {
	key, err := crypto.ToECDSA(crypto.Keccak256([]byte("local evm network: " + name)))
	if err != nil {
		return nil, err
	}
	return n.AccountOf(key), nil
}

// AccountOf is the account of a key on this network.
func (n *Net) AccountOf(key *ecdsa.PrivateKey) *Account {
	return &Account{Address: crypto.PubkeyToAddress(key.PublicKey), Key: key, net: n}
}

// KeyHex returns the private key as wallets take it: 64 hex digits.
func (a *Account) KeyHex() string { return hex.EncodeToString(crypto.FromECDSA(a.Key)) }

// revertError says that a contract refused a transaction, which was mined all the same.
type revertError struct {
	Reason  string // the contract's text, or what kind of error it was
	Receipt *types.Receipt
}

func (e *revertError) Error() string { return "reverted: " + e.Reason }

const (
	defaultGas  = 16_000_000
	receiptTime = 60 * time.Second
)

// Send signs a call, sends it and waits until it is mined; with mining on demand
// it mines. A call without a gas limit gets a generous one. A refusal by the
// contract is a *revertError.
func (a *Account) Send(ctx context.Context, call wire.Call) (*types.Receipt, error) {
	tx, err := a.Submit(ctx, call)
	if err != nil {
		return nil, err
	}
	return a.net.Wait(ctx, tx.Hash())
}

// SendAll sends calls one after the other, as a wallet does with what an action
// asks for. It returns the receipt of the last.
func (a *Account) SendAll(ctx context.Context, calls []wire.Call) (r *types.Receipt, err error) {
	for _, c := range calls {
		if r, err = a.Send(ctx, c); err != nil {
			return r, err
		}
	}
	return r, nil
}

// Submit signs a call and puts it into the pool.
func (a *Account) Submit(ctx context.Context, call wire.Call) (*types.Transaction, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	tx, err := a.sign(&call.To, call)
	if err != nil {
		return nil, err
	}
	return tx, a.net.put(tx)
}

// Sign signs a call with the account's next nonce and does not send it.
func (a *Account) Sign(call wire.Call) (*types.Transaction, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.sign(&call.To, call)
}

func (a *Account) sign(to *common.Address, call wire.Call) (*types.Transaction, error) {
	n := a.net
	value := call.Value
	if value == nil {
		value = new(big.Int)
	}
	gas := call.Gas
	if gas == 0 {
		gas = defaultGas
	}
	tip := new(big.Int).SetUint64(n.Network().PriorityFee)
	feeCap := new(big.Int).Mul(n.Head().BaseFee, big.NewInt(4)) // blocks to come may be dearer
	signer := types.LatestSignerForChainID(new(big.Int).SetUint64(n.options.ChainID))
	return types.SignNewTx(a.Key, signer, &types.DynamicFeeTx{
		ChainID: signer.ChainID(), Nonce: n.node.eth.TxPool().PoolNonce(a.Address),
		GasTipCap: tip, GasFeeCap: feeCap.Add(feeCap, tip), Gas: gas, To: to, Value: value, Data: call.Data,
	})
}

func (n *Net) put(tx *types.Transaction) error {
	return errors.Join(n.node.eth.TxPool().Add([]*types.Transaction{tx}, true)...)
}

// Wait waits until a transaction is mined, mining itself if that is on demand.
func (n *Net) Wait(ctx context.Context, id common.Hash) (*types.Receipt, error) {
	client := ethclient.NewClient(n.node.client)
	var receipt *types.Receipt
	var last error
	err := waitFor(ctx, receiptTime, func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		if receipt, last = client.TransactionReceipt(ctx, id); last != nil && n.manual && n.paced == 0 {
			last = errors.Join(last, n.mine())
		}
		return last == nil
	})
	if err != nil {
		return nil, fmt.Errorf("transaction %s: %w", id, errors.Join(err, last))
	}
	if receipt.Status != types.ReceiptStatusSuccessful {
		return receipt, &revertError{n.reason(ctx, id), receipt}
	}
	return receipt, nil
}

// reason runs a mined transaction again to hear why it failed.
func (n *Net) reason(ctx context.Context, id common.Hash) string {
	var frame struct {
		Error, RevertReason string
		Output              hexutil.Bytes
	}
	err := n.node.client.CallContext(ctx, &frame, "debug_traceTransaction", id, map[string]any{"tracer": "callTracer"})
	switch text, unpackErr := abi.UnpackRevert(frame.Output); {
	case err != nil:
		return err.Error()
	case unpackErr == nil:
		return text
	case len(frame.Output) > 0:
		return frame.Error + " " + frame.Output.String()
	}
	return frame.Error
}

// Read asks a contract without sending anything, at the newest block. A refusal
// is a *revertError without receipt.
func (n *Net) Read(ctx context.Context, from common.Address, call wire.Call) ([]byte, error) {
	msg := ethereum.CallMsg{From: from, To: &call.To, Value: call.Value, Data: call.Data, Gas: call.Gas}
	answer, err := ethclient.NewClient(n.node.client).CallContract(ctx, msg, nil)
	if data, ok := ethclient.RevertErrorData(err); ok {
		text, unpackErr := abi.UnpackRevert(data)
		if unpackErr != nil {
			text = hexutil.Encode(data)
		}
		return nil, &revertError{Reason: text}
	}
	return answer, err
}

// Balance returns what an account has of a token, [Native] included, at the newest
// block.
func (n *Net) Balance(ctx context.Context, token, owner common.Address) (*big.Int, error) {
	if token == Native {
		return ethclient.NewClient(n.node.client).BalanceAt(ctx, owner, nil)
	}
	data, err := wire.BalanceCall(owner)
	if err != nil {
		return nil, err
	}
	answer, err := n.Read(ctx, owner, wire.Call{To: token, Data: data})
	return new(big.Int).SetBytes(answer), err
}

// SignDigest returns the account's signature of a hash as the contracts take it:
// 0x hex of r, s and v, which is 27 or 28.
func (a *Account) SignDigest(digest common.Hash) (string, error) {
	sig, err := crypto.Sign(digest[:], a.Key)
	if err != nil {
		return "", err
	}
	sig[64] += 27
	return hexutil.Encode(sig), nil
}
