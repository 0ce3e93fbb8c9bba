package evm

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"
	"github.com/ethereum/go-ethereum/core/tracing"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/core/vm"
	"github.com/ethereum/go-ethereum/core/vm/runtime"
)

// testTokens are the constructor's arguments of the network's tokens.
var testTokens = map[string][]any{
	"WBTC": {"Wrapped BTC", "WBTC", uint8(8)},
	"USDC": {"US Dollar", "USDC", uint8(6)},
}

// place puts the tokens that stand at given addresses into the first block.
func (o Options) place(alloc types.GenesisAlloc) error {
	for ticker, at := range o.Tokens {
		args, ok := testTokens[ticker]
		if !ok {
			return fmt.Errorf("token %s: the network has WBTC and USDC", ticker)
		}
		if _, taken := alloc[at]; taken || at == Native {
			return fmt.Errorf("token %s: %s is taken", ticker, at)
		}
		a, err := loadArtifact("TestToken")
		if err != nil {
			return err
		}
		code, err := a.initCode(args...)
		if err != nil {
			return err
		}
		if alloc[at], err = constructed(at, code); err != nil {
			return fmt.Errorf("token %s: %w", ticker, err)
		}
	}
	return nil
}

// constructed runs creation code as if it were deployed at an address.
func constructed(at common.Address, code []byte) (types.Account, error) {
	db, err := state.New(types.EmptyRootHash, state.NewDatabaseForTesting())
	if err != nil {
		return types.Account{}, err
	}
	db.SetCode(at, code, tracing.CodeChangeUnspecified)
	written := map[common.Hash]bool{}
	trace := &tracing.Hooks{OnOpcode: func(_ uint64, op byte, _, _ uint64, scope tracing.OpContext, _ []byte, _ int, _ error) {
		if stack := scope.StackData(); vm.OpCode(op) == vm.SSTORE && len(stack) > 0 {
			written[stack[len(stack)-1].Bytes32()] = true
		}
	}}
	body, _, err := runtime.Call(at, nil, &runtime.Config{State: db, GasLimit: 10_000_000, Value: new(big.Int), EVMConfig: vm.Config{Tracer: trace}})
	if err != nil {
		return types.Account{}, err
	}
	if len(body) == 0 {
		return types.Account{}, errors.New("the constructor leaves no code")
	}
	account := types.Account{Code: body, Nonce: 1, Balance: new(big.Int), Storage: map[common.Hash]common.Hash{}}
	for slot := range written {
		account.Storage[slot] = db.GetState(at, slot)
	}
	return account, nil
}
